// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptSigning
public import ReceiptVerification

/// Calls the App Store Server API and verifies what it answers: a signed part that is not genuine, or not of the
/// app and environment asked, is an error and never a value.
///
/// ```swift
/// let client = AppStoreServerClient(transport: transport, signer: signer)
/// for try await transaction in client.transactionHistory(of: "2000000001") {
///   print(transaction.payload.productId ?? "", transaction.payload.revocationDate ?? "kept")
/// }
/// ```
///
/// One client may be used from any number of tasks at once. The transport is the caller's, who shuts it down. All
/// calls throw ``AppStoreServerError``.
public struct AppStoreServerClient: AppStoreServerCalls {
  /// The client that returns signed parts as they came.
  public let raw: RawAppStoreServerClient
  /// Verifies the signed parts.
  public let verifier: ReceiptVerifier

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - signer: Signs the tokens, and names the app.
  ///   - address: Which App Store is called; production by default.
  ///   - verifier: Verifies the signed parts; by default one that trusts Apple's roots and accepts receipts of
  ///     the signer's app and of the address's environment. Whatever it accepts, parts of another app or
  ///     environment than asked are refused.
  ///   - retry: How often and how long a call is tried.
  ///   - time: Clocks and dice; the system's by default.
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
  public init(raw: RawAppStoreServerClient, verifier: ReceiptVerifier? = nil) {
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
  ///   - address: Which App Store is called.
  ///   - verifier: Verifies the signed parts; by default as a new client's.
  /// - Returns: The client.
  public func calling(
    _ address: AppStoreServerAddress, verifier: ReceiptVerifier? = nil
  ) -> AppStoreServerClient {
    AppStoreServerClient(raw: raw.calling(address), verifier: verifier)
  }

  func verification<Value>(
    of answer: RawAppStoreServerClient.Answer<Value>
  ) -> PartVerification {
    PartVerification(
      verifier: verifier, bundleId: raw.bundleId, environment: raw.address.environment,
      endpoint: answer.endpoint, attempts: answer.attempts)
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
