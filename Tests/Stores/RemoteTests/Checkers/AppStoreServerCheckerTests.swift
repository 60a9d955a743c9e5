// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import ReceiptCodec
import ReceiptCrypto
@testable import AppStoreServer
@testable import RemoteChecks
import ReceiptTesting
import ReceiptVerification
import Storefront
import Testing

/// The checker against emulated App Stores of both environments, without sockets.
@Suite struct AppStoreServerCheckerTests {
  private let production: Store
  private let sandbox: Store

  /// One environment's store and a client of it.
  private struct Store {
    let store: EmulatedAppStore
    let transport: FakeTransport
    let client: AppStoreServerClient

    init(_ environment: ReceiptEnvironment, sample: Bool) async throws {
      let store = try EmulatedAppStore(
        EmulatedAppStore.Configuration(environment: environment, clock: { StoreServer.now }),
        signing: try EmulatorSigning())
      if sample {
        var coins = SampleReceipts.transaction
        coins.productId = "com.example.app.coins"
        coins.type = .consumable
        var purchases = [
          LocalStore.ImportedPurchase(
            SampleReceipts.transaction, renewalInfo: SampleReceipts.renewalInfo, customer: "a")
        ]
        for id in ["2000000002", "1000000001"] {
          coins.transactionId = id
          coins.originalTransactionId = id
          purchases.append(LocalStore.ImportedPurchase(coins, customer: "a"))
        }
        try await store.purchases.add(purchases)
        try await store.purchases.add(SampleReceipts.appTransaction, customer: "a")
      }
      self.store = store
      transport = FakeTransport { request throws(HTTPTransportError) in
        let response = await store.respond(
          to: EmulatorRequest(
            request.method.rawValue, target: request.url.target, headers: request.headers,
            body: request.body ?? []))
        return RemoteResponse(status: response.status, headers: response.headers, body: response.body)
      }
      client = try StoreServer.client(
        transport, verifier: StoreServer.verifier { $0.environments = [environment.category ?? .sandbox] },
        address: environment == .sandbox ? .sandbox : .production)
    }

    func change(_ id: String, _ change: @Sendable (inout JWSTransaction) -> Void) async throws {
      try await store.purchases.amend(id, change)
    }

    func add(
      _ transaction: JWSTransaction, renewing renewalInfo: JWSRenewalInfo = SampleReceipts.renewalInfo,
      _ status: SubscriptionStatus, customer: String? = nil
    ) async throws {
      try await store.purchases.add([
        LocalStore.ImportedPurchase(
          transaction, renewalInfo: renewalInfo, status: status, customer: customer)
      ])
    }
  }

  init() async throws {
    production = try await Store(.production, sample: false)
    sandbox = try await Store(.sandbox, sample: true)
  }

  private func checker(_ requirements: PurchaseRequirements = .init()) -> AppStoreServerChecker {
    AppStoreServerChecker(clients: [sandbox.client, production.client], requirements: requirements)
  }

  private let confirmed = CheckerAnswer.response(CheckerResponse(.confirmed, environment: .sandbox))

  private func expectRefused(
    _ answer: CheckerAnswer, _ word: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard case .response(let response) = answer, case .refused(let message) = response.standing else {
      Issue.record("\(answer)", sourceLocation: sourceLocation)
      return
    }
    #expect(message.contains(word), "\(message)", sourceLocation: sourceLocation)
  }

  @Test(
    "a valid purchase is confirmed for every kind of receipt",
    arguments: [
      ReceiptKind.signedTransaction, .signedRenewalInfo, .signedAppTransaction, .signedNotification,
      .signedRealtimeRequest, .appReceipt, .transactionReceipt,
    ])
  func confirmed(kind: ReceiptKind) async throws {
    #expect(await checker().check(try RemoteFixture.verified(kind)).withoutStandings == confirmed)
  }

  @Test("only a proven environment is asked; otherwise production first, and the sandbox after 4040010")
  func environments() async throws {
    _ = await checker().check(try RemoteFixture.verified(.signedTransaction))
    #expect(production.transport.requests.isEmpty)
    _ = await checker().check(try RemoteFixture.verified(.transactionReceipt))
    #expect(production.transport.requests.count == 1)
    let productionOnly = AppStoreServerChecker(clients: [production.client])
    expectRefused(await productionOnly.check(try RemoteFixture.verified(.transactionReceipt)), "production")
    guard case .terminalFailure = await productionOnly.check(try RemoteFixture.verified(.signedTransaction))
    else {
      Issue.record("a sandbox purchase was asked for in production")
      return
    }
  }

  @Test("refunded, upgraded and unknown purchases, and those of another account, are not confirmed")
  func refused() async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    let owner = UUIDString(rawValue: "7E3FB204-2B3A-4C8F-9D5E-6A1B2C3D4E5F")
    #expect(await checker(.init(appAccountToken: owner)).check(receipt).withoutStandings == confirmed)
    let other = UUIDString(rawValue: "00000000-0000-4000-8000-000000000000")
    expectRefused(await checker(.init(appAccountToken: other)).check(receipt), "account")

    try await sandbox.change("2000000001") { $0.isUpgraded = true }
    expectRefused(await checker().check(receipt), "upgraded")
    #expect(await checker(.init(refusesUpgraded: false)).check(receipt).withoutStandings == confirmed)

    let instant = Timestamp(secondsSince1970: 1_760_000_000)
    try await sandbox.change("2000000001") { $0.revocationDate = instant }
    #expect(
      await checker().check(receipt)
        == .response(CheckerResponse(.revoked(at: instant), environment: .sandbox)))
    let verdict = try await RemoteFixture.verifier().verify(receipt.encoded, checkers: [checker()])
    #expect(verdict.reason?.code == .revoked)

    try await sandbox.store.purchases.removeAll()
    expectRefused(await checker().check(receipt), "does not know")
  }

  @Test("of an app receipt with several purchases, a refunded one is marked and the others stay valid")
  func partlyRefunded() async throws {
    let encoded = try RemoteFixture.encoded(.appReceipt)
    let instant = Timestamp(secondsSince1970: 1_760_000_000)
    try await sandbox.change("2000000002") { $0.revocationDate = instant }
    let verdict = try await RemoteFixture.verifier().verify(encoded, checkers: [checker()])
    let transactions = try #require(verdict.receipt?.transactions)
    #expect(transactions.first { $0.transactionId == "2000000001" }?.revocationDate == nil)
    #expect(transactions.first { $0.transactionId == "2000000002" }?.revocationDate == instant)
    try await sandbox.change("2000000001") { $0.revocationDate = instant }
    #expect(
      try await RemoteFixture.verifier().verify(encoded, checkers: [checker()]).reason?.code == .revoked)
  }

  @Test("where a current subscription is required, an expired one is refused")
  func subscriptionStatus() async throws {
    let requirements = PurchaseRequirements(requiresCurrentSubscription: true)
    let receipt = try RemoteFixture.verified(.signedTransaction)
    #expect(await checker(requirements).check(receipt).withoutStandings == confirmed)
    var expired = SampleReceipts.transaction
    expired.expiresDate = StoreServer.now.addingSeconds(-60)
    var renewalInfo = SampleReceipts.renewalInfo
    renewalInfo.renewalDate = expired.expiresDate
    try await sandbox.add(expired, renewing: renewalInfo, .expired)
    expectRefused(await checker(requirements).check(receipt), "not active")
    #expect(await checker().check(receipt).withoutStandings == confirmed)
  }

  @Test("a subscription that was revoked is not confirmed")
  func revokedSubscription() async throws {
    let instant = StoreServer.now.addingSeconds(-30)
    var transaction = SampleReceipts.transaction
    transaction.revocationDate = instant
    try await sandbox.add(transaction, .revoked)
    #expect(
      await checker().check(try RemoteFixture.verified(.signedRenewalInfo))
        == .response(CheckerResponse(.revoked(at: instant), environment: .sandbox)))
  }

  @Test("of a customer's subscriptions only the requested one counts")
  func severalSubscriptions() async throws {
    let other = "2000000005"
    var transaction = SampleReceipts.transaction
    transaction.transactionId = other
    transaction.originalTransactionId = other
    transaction.subscriptionGroupIdentifier = "22000000"
    transaction.expiresDate = StoreServer.now.addingSeconds(-60)
    var renewalInfo = SampleReceipts.renewalInfo
    renewalInfo.originalTransactionId = other
    renewalInfo.renewalDate = transaction.expiresDate
    try await sandbox.add(transaction, renewing: renewalInfo, .expired, customer: "a")
    let checker = checker(PurchaseRequirements(requiresCurrentSubscription: true))
    #expect(await checker.check(try RemoteFixture.verified(.signedRenewalInfo)).withoutStandings == confirmed)
    let expired = try TestReceipts().signedRenewalInfo { $0.originalTransactionId = other }
    let receipt = try #require(RemoteFixture.verifier().verify(expired).receipt)
    expectRefused(await checker.check(receipt), "not active")
  }

  @Test(
    "while the App Store cannot be reached, the receipt's own content must satisfy the requirements if the options say so"
  )
  func offline() async throws {
    let transport = FakeTransport { _ throws(HTTPTransportError) in
      throw HTTPTransportError(.cannotConnect, "nobody is there")
    }
    let client = try StoreServer.client(transport, verifier: StoreServer.verifier(), address: .sandbox)
    let stranger = PurchaseRequirements(
      appAccountToken: UUIDString(rawValue: "00000000-0000-4000-8000-000000000000"))
    var checker = AppStoreServerChecker(clients: [client], requirements: stranger)
    let receipt = try RemoteFixture.encoded(.signedTransaction)
    let verifier = try RemoteFixture.verifier { $0.offlineRule = .sufficient }
    #expect(await verifier.verify(receipt, checkers: [checker]).receipt != nil)
    checker.whileUnreachable = SignedContentChecker(requirements: stranger)
    #expect(await verifier.verify(receipt, checkers: [checker]).reason?.code == .checkerRefused)
    checker.whileUnreachable = SignedContentChecker(requirements: PurchaseRequirements())
    #expect(await verifier.verify(receipt, checkers: [checker]).receipt != nil)
    let strict = try RemoteFixture.verifier()
    #expect(await strict.verify(receipt, checkers: [checker]).reason?.code == .checkerUnavailable)
  }

  @Test("an answer that contradicts the receipt, or is not genuine, confirms nothing")
  func contradictions() async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    try await sandbox.change("2000000001") { $0.originalTransactionId = "2000000009" }
    expectRefused(await checker().check(receipt), "another original transaction")
    try await sandbox.change("2000000001") {
      $0.originalTransactionId = "2000000001"
      $0.productId = "com.example.app.other"
    }
    expectRefused(await checker().check(receipt), "another product")
    let forged = FakeTransport(.json(#"{"signedTransactionInfo":"e30.e30.AAAA"}"#))
    let client = try StoreServer.client(
      forged, verifier: StoreServer.verifier { $0.environments = [.sandbox] }, address: .sandbox)
    guard case .terminalFailure = await AppStoreServerChecker(clients: [client]).check(receipt) else {
      Issue.record("a forged answer was accepted")
      return
    }
  }

  @Test("a thousand checks at once share one token")
  func concurrency() async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    let checker = checker()
    let confirmations = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<1_000 { group.addTask { await checker.check(receipt).withoutStandings == confirmed } }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(confirmations == 1_000)
    let tokens = Set(
      sandbox.transport.requests.map { $0.headers.first { $0.name == "Authorization" }?.value })
    #expect(tokens.count == 1)
  }
}
