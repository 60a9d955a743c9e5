// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
// A caller makes the transport and its URL, too: they come with this module.
@_exported public import ReceiptHTTP
public import ReceiptSigning
public import ReceiptVerification

/// Calls the App Store Server API and verifies what it answers: a signed part that is not genuine, or not of the
/// app and environment of the request, is an error and never a value.
///
/// ```swift
/// let client = AppStoreServerClient(transport: transport, signer: signer)
/// let transaction = try await client.send(.transaction("2000000001"))
/// for try await transaction in client.pages(.transactionHistory(of: "2000000001")) {
///   print(transaction.payload.productId ?? "", transaction.payload.revocationDate ?? "kept")
/// }
/// ```
///
/// The calls are the functions of ``AppStoreServerCall`` and ``AppStoreServerPagedCall``. One client may be used from
/// any number of tasks at once. The transport is the caller's, who shuts it down.
public struct AppStoreServerClient: Sendable {
  /// The client that returns signed parts as they came.
  package let raw: RawAppStoreServerClient
  /// Verifies the signed parts.
  package let verifier: ReceiptVerifier

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - signer: Signs the tokens, and names the app.
  ///   - address: The App Store that is called; production by default.
  ///   - verifier: Verifies the signed parts; by default one that trusts Apple's roots and accepts receipts of
  ///     the signer's app and of the address's environment. Whatever it accepts, parts of another app or
  ///     environment than that of the request are refused.
  ///   - retry: How often and how long a call is tried.
  ///   - time: Clocks and random numbers; the system's by default.
  public init(
    transport: any HTTPTransport, signer: DeveloperSigner, address: AppStoreServerAddress = .production,
    verifier: ReceiptVerifier? = nil, retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.init(
      raw: RawAppStoreServerClient(
        transport: transport, signer: signer, address: address, retry: retry, time: time),
      verifier: verifier)
  }

  /// Creates a client that verifies what another returns.
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

  /// The same client for another App Store, with the same tokens.
  ///
  /// - Parameters:
  ///   - address: The App Store that is called.
  ///   - verifier: Verifies the signed parts; by default as a new client's.
  /// - Returns: The client.
  package func calling(
    _ address: AppStoreServerAddress, verifier: ReceiptVerifier? = nil
  ) -> AppStoreServerClient {
    AppStoreServerClient(raw: raw.calling(address), verifier: verifier)
  }

  /// Sends a call and verifies the answer.
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

  /// Sends a call whose answer has no content.
  ///
  /// - Throws: ``AppStoreServerError``.
  public func send(_ call: AppStoreServerCall<NoContent, NoContent>) async throws(AppStoreServerError) {
    _ = try await raw.answer(call)
  }

  /// What a call answers in pages, verified, page after page as they are needed.
  ///
  /// - Returns: The elements; iterating throws ``AppStoreServerError``.
  public func pages<Response, Element>(
    _ call: AppStoreServerPagedCall<Response, Element>
  ) -> AppStoreServerPages<Element> {
    AppStoreServerPages { (token) throws(AppStoreServerError) in try await send(call.page(token)) }
  }
}

extension AppStoreServerClient: CustomStringConvertible, CustomReflectable {
  /// Address and identifiers; neither token nor key.
  public var description: String { "AppStoreServerClient(\(raw.address.url), \(raw.tokens.signer))" }

  /// Address and identifiers; neither token nor key.
  public var customMirror: Mirror {
    Mirror(self, children: ["url": raw.address.url.description, "signer": raw.tokens.signer.description])
  }
}
