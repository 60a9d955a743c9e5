// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
// Callers need this module to create the transport and its URL.
@_exported public import ReceiptHTTP
public import ReceiptSigning
public import ReceiptVerification

/// The elements of a paged answer of the App Store; an iteration fails with ``AppStoreServerError``.
public typealias AppStoreServerPages<Element: Sendable> = RemotePages<Element, AppStoreServerError>

/// Calls the App Store Server API and verifies the signed parts of its responses.
///
/// A signed part that is not genuine, or that belongs to another app or environment than the request, is an error and
/// never a value.
///
/// ```swift
/// let client = AppStoreServerClient(transport: transport, signer: signer)
/// let transaction = try await client.send(.transaction("2000000001"))
/// for try await transaction in client.pages(.transactionHistory(of: "2000000001")) {
///   print(transaction.payload.productId ?? "", transaction.payload.revocationDate ?? "kept")
/// }
/// ```
///
/// The calls are the functions of ``AppStoreServerCall`` and ``AppStoreServerPagedCall``. Any number of tasks may use
/// one client at once. The caller shuts down the transport.
public struct AppStoreServerClient: Sendable {
  package let raw: RawAppStoreServerClient
  package let verifier: ReceiptVerifier

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - signer: Signs the tokens, and identifies the app.
  ///   - address: The server that is called; Apple's production server by default.
  ///   - verifier: Verifies the signed parts. The default verifier trusts Apple's roots and accepts receipts of the
  ///     signer's app and the address's environment. Parts of another app or environment than the request's are refused
  ///     with any verifier.
  ///   - retry: The retry policy.
  ///   - time: The clocks and random numbers; the system's by default.
  public init(
    transport: any HTTPTransport, signer: DeveloperSigner, address: AppStoreServerAddress = .production,
    verifier: ReceiptVerifier? = nil, retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.init(
      raw: RawAppStoreServerClient(
        transport: transport, signer: signer, address: address, retry: retry, time: time),
      verifier: verifier)
  }

  package init(raw: RawAppStoreServerClient, verifier: ReceiptVerifier? = nil) {
    self.raw = raw
    self.verifier =
      verifier
      ?? ReceiptVerifier(
        trust: .apple,
        policy: VerificationPolicy(
          bundleIds: .oneOf([raw.bundleId]), environments: [raw.address.environment]),
        clock: raw.time.now)
  }

  /// Returns this client for another address, with the same tokens.
  package func calling(
    _ address: AppStoreServerAddress, verifier: ReceiptVerifier? = nil
  ) -> AppStoreServerClient {
    AppStoreServerClient(raw: raw.calling(address), verifier: verifier)
  }

  /// Sends a call and verifies the signed parts of the response.
  ///
  /// - Throws: ``AppStoreServerError``.
  public func send<Response, Value>(
    _ call: AppStoreServerCall<Response, Value>
  ) async throws(AppStoreServerError) -> Value {
    let (response, attempts) = try await raw.answer(call)
    let parts = SignedParts(
      verifier: verifier, bundleId: raw.bundleId, environment: raw.address.environment,
      endpoint: call.endpoint, attempts: attempts)
    return try call.verify(response, parts)
  }

  /// Sends a call whose response has no content.
  ///
  /// - Throws: ``AppStoreServerError``.
  public func send(_ call: AppStoreServerCall<NoContent, NoContent>) async throws(AppStoreServerError) {
    _ = try await raw.answer(call)
  }

  /// Returns the verified elements of a paged call, page after page as they are needed.
  ///
  /// - Returns: The elements; iterating throws ``AppStoreServerError``.
  public func pages<Response, Element>(
    _ call: AppStoreServerPagedCall<Response, Element>
  ) -> AppStoreServerPages<Element> {
    AppStoreServerPages { (token) throws(AppStoreServerError) in try await send(call.page(token)) }
  }
}

extension AppStoreServerClient: CustomStringConvertible, CustomReflectable {
  /// The address and the signer's identifiers, without token and key.
  public var description: String { "AppStoreServerClient(\(raw.address.url), \(raw.tokens.signer))" }

  /// The address and the signer's identifiers, without token and key.
  public var customMirror: Mirror {
    Mirror(self, children: ["url": raw.address.url.description, "signer": raw.tokens.signer.description])
  }
}
