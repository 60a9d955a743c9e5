// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import AppStoreServer
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// Clients of the App Store Server API whose keys are the test authority's.
enum StoreServer {
  /// Ten seconds after the sample receipts were signed.
  static let now = SampleReceipts.signedAt.addingSeconds(10)

  static func signer(bundleId: String = SampleReceipts.bundleId) throws -> DeveloperSigner {
    try DeveloperSigner(
      privateKey: TestAuthority.es256().identity.privateKey, keyId: "2X9R4HXF34",
      issuerId: "57246542-96fe-1a63-e053-0824d011072a", bundleId: bundleId)
  }

  static func raw(
    _ transport: FakeTransport, time: ManualTime = ManualTime(now), retry: RetryPolicy = RetryPolicy(),
    address: AppStoreServerAddress = .sandbox
  ) throws -> RawAppStoreServerClient {
    RawAppStoreServerClient(
      transport: transport, signer: try signer(), address: address, retry: retry, time: time.remoteTime)
  }

  /// A verifier that trusts the test authority and accepts what `change` makes of the sample receipts' policy.
  static func verifier(
    _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> ReceiptVerifier {
    var policy = VerificationPolicy(
      bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox])
    change(&policy)
    return ReceiptVerifier(
      trust: try TestAuthority.es256().trustAnchors, policy: policy, clock: FixedClock(now).reading)
  }

  static func client(
    _ transport: FakeTransport, verifier: ReceiptVerifier? = nil,
    address: AppStoreServerAddress = .sandbox
  ) throws -> AppStoreServerClient {
    AppStoreServerClient(
      raw: try raw(transport, address: address), verifier: try verifier ?? Self.verifier())
  }
}

/// The error of the API that a call ends with; `nil` where it succeeds.
func storeError<Value>(
  _ call: () async throws(AppStoreServerError) -> Value
) async -> AppStoreServerError? {
  do throws(AppStoreServerError) {
    _ = try await call()
    return nil
  } catch {
    return error
  }
}
