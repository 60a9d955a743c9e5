// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import AppStoreServer
  import Entitlements
  import Logging
  import ReceiptCodec
  import ReceiptHTTP
  @testable import ReceiptService
  import ReceiptSigning
  import ReceiptTesting
  import ReceiptVerification
  import Testing

  /// The jobs that run as time passes.
  @Suite(.timeLimit(.minutes(1))) struct EntitlementJobsTests {
    private typealias F = ServiceFixture

    /// An emulated App Store in the sandbox, which sold the sample subscription.
    private static func client(_ clock: FixedClock) async throws -> AppStoreServerClient {
      let store = try EmulatedAppStore(
        .init(environment: .sandbox, clock: clock.reading), signing: try EmulatorSigning())
      let seed = try EmulatorSeed(
        json: .object([JSONMember(name: "sample", value: .bool(true))]), configuration: store.configuration)
      try await seed.apply(to: store)
      return AppStoreServerClient(
        transport: EmulatorTransport(production: nil, sandbox: store),
        signer: try DeveloperSigner(
          privateKey: TestKeys.developer(), keyId: "TESTKEY123",
          issuerId: "57246542-96fe-1a63-e053-0824d011072a", bundleId: SampleReceipts.bundleId),
        address: .sandbox,
        verifier: ReceiptVerifier(
          trust: try TestAuthority.es256().trustAnchors,
          policy: VerificationPolicy(
            bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox]), clock: clock.reading),
        retry: .once(within: .seconds(5)))
    }

    @Test(
      "the App Store is asked about a subscription that went silent, and what it answers is told",
      arguments: DatabaseKind.all)
    func appStore(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let client = try await Self.client(FixedClock(SampleReceipts.signedAt.addingSeconds(60)))
        let original = try #require(SampleReceipts.transaction.originalTransactionId)
        let current = try await client.send(.transaction(original)).payload
        // The service knows of an earlier period alone, which ended long ago.
        let end = try #require(current.purchaseDate)
        let past = F.period(1) {
          $0.originalTransactionId = original
          $0.transactionId = "1"
          $0.purchaseDate = end.addingSeconds(-30 * 86_400)
          $0.expiresDate = end
        }
        let clock = service.clock
        clock.now = end.addingSeconds(-86_400)
        service.app.storeQuestion = { entitlement in try await entitlement.ask(client) }
        let entitlements = service.entitlements()
        try await entitlements.merge(service.receipt(past, day: -10), customer: nil, app: "shop")
        #expect(try await entitlements.told() == ["entitlement.granted"])
        let jobs = EntitlementJobs(
          entitlements: entitlements, apps: [service.app], interval: .milliseconds(10),
          logger: Logger(label: "jobs") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await jobs.run() }
          for (advance, expected) in [
            (86_400.0, ["entitlement.granted", "entitlement.expired"]),
            (86_400, ["entitlement.granted", "entitlement.expired", "entitlement.renewed"]),
          ] {
            clock.advance(seconds: advance)
            while try await entitlements.told().count < expected.count {
              try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await entitlements.told() == expected)
          }
          group.cancelAll()
        }
        let known = try #require(
          try await entitlements.entitlements(app: "shop", identifier: original).first)
        #expect(known.ledger.entitlements.first?.transactionId == current.transactionId)
        #expect(known.ledger.entitlements.first?.reportedStatus == .active)
      }
    }

    @Test("a store is not asked about what is none of its own", arguments: DatabaseKind.all)
    func others(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let client = try await Self.client(service.clock)
        var production = EntitlementLedger()
        production.apply(try service.notification(.subscribed, day: 0, F.period(1)))
        let text = String(decoding: production.encoded(), as: UTF8.self)
          .replacing(#"{"environment":"sandbox""#, with: #"{"environment":"production""#)
        production = try EntitlementLedger(decoding: Array(text.utf8))
        for ledger in [production, EntitlementLedger()] {
          let entitlement = StoredEntitlement(name: "n", identifier: "1", customer: nil, ledger: ledger)
          #expect(try await entitlement.ask(client) == nil)
        }
      }
    }
  }
#endif
