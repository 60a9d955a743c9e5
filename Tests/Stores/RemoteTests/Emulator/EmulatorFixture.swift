// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import ReceiptCodec
import ReceiptCrypto
import AppStoreServer
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// An emulated store with the sample customer, and a developer whose requests it accepts.
struct EmulatorFixture {
  static let keyId = "TESTKEY123"
  static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"

  let clock = FixedClock(SampleReceipts.signedAt.addingSeconds(60))
  let store: EmulatedAppStore

  init(
    _ environment: ReceiptEnvironment = .sandbox, checksTokens: Bool = false, sharedSecret: String? = nil
  ) async throws {
    let key = DeveloperKey(
      keyId: Self.keyId, issuerId: Self.issuerId, publicKey: try TestKeys.developer().publicKey)
    store = try EmulatedAppStore(
      .init(
        environment: environment, developerKeys: checksTokens ? [key] : nil, sharedSecret: sharedSecret,
        clock: clock.reading), signing: try EmulatorSigning())
    let seed = try EmulatorSeed(
      json: .object([JSONMember(name: "sample", value: .bool(true))]), configuration: store.configuration)
    store.state.withState { $0.notificationURL = "https://example.com/notifications" }
    try await seed.apply(to: store)
  }

  static func signer(
    keyId: String = Self.keyId, issuerId: String = Self.issuerId, bundleId: String = SampleReceipts.bundleId,
    key: PrivateKey? = nil
  ) throws -> DeveloperSigner {
    try DeveloperSigner(
      privateKey: key ?? TestKeys.developer(), keyId: keyId, issuerId: issuerId, bundleId: bundleId)
  }

  var client: AppStoreServerClient {
    get throws {
      let isSandbox = store.configuration.environment == .sandbox
      return AppStoreServerClient(
        transport: EmulatorTransport(
          production: isSandbox ? nil : store, sandbox: isSandbox ? store : nil),
        signer: try Self.signer(), address: isSandbox ? .sandbox : .production,
        verifier: ReceiptVerifier(
          trust: try TestAuthority.es256().trustAnchors,
          policy: VerificationPolicy(
            bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [isSandbox ? .sandbox : .production]),
          clock: clock.reading),
        retry: RetryPolicy(maximumAttempts: 3, firstDelay: .milliseconds(1), maximumDelay: .milliseconds(2)),
        time: RemoteTime(
          now: clock.reading, elapsed: RemoteTime.system.elapsed, sleep: { _ in }, random: { 0 }))
    }
  }

  /// Returns the store's answer.
  func answer(_ method: String, _ target: String, _ body: String = "") async -> RemoteResponse {
    await store.respond(to: EmulatorRequest(method, target: target, body: Array(body.utf8)))
  }

  func json(_ method: String, _ target: String, _ body: String = "") async throws -> JSONValue {
    let response = await answer(method, target, body)
    try #require(
      response.status == 200, "\(response.status) \(String(decoding: response.body, as: UTF8.self))")
    return try JSONValue(parsing: response.body)
  }
}
