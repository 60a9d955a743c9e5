// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Entitlements
import ReceiptTesting
import Storefront
import ReceiptVerification
import Testing

/// A complete session with every fault at each of its commits has the same result as one without faults.
@Suite struct LocalStoreCrashTests {
  /// The actions of a customer and an operator. Failed ones are repeated.
  private struct Journey {
    var fixture = StoreFixture()
    /// The storage with the store's records.
    var disk: RecordStorageFixture
    var storage: FaultyRecordStorage
    var store: LocalStore
    /// The acknowledged purchases.
    var sold: [String: StoreTransaction] = [:]
    var restored: [RestoredTransaction] = []

    init(
      on kind: RecordStorageKind, fault: FaultyRecordStorage.Fault? = nil, atCommit number: Int = 0
    ) throws {
      disk = try kind.make()
      storage = FaultyRecordStorage(disk.storage)
      if let fault { storage.fail(fault, atCommit: number) }
      fixture.options.engine.gracePeriodDays = 3
      do {
        store = try fixture.store(on: storage)
      } catch {
        // The very first commit.
        disk = try disk.afterKill()
        store = try fixture.store(on: FaultyRecordStorage(disk.storage))
      }
    }

    /// Repeats an operation until it is acknowledged, with a relaunch after each crash.
    mutating func insist(_ step: (LocalStore) async throws -> Void) async throws {
      for _ in 0..<3 {
        do {
          return try await step(store)
        } catch {
          guard error is LocalStoreError || error is StoreUnavailable || error is StoreError else {
            throw error
          }
          guard storage.hasEnded else { continue }
          disk = try disk.afterKill()
          store = try fixture.store(on: FaultyRecordStorage(disk.storage))
        }
      }
      Issue.record("A step was never acknowledged.")
    }

    mutating func buy(_ product: String, _ request: String, by account: String = "alice") async throws {
      var sale: StoreTransaction?
      try await insist { sale = try await $0.session(account: account).buy(product, request: request) }
      sold[request] = sale
    }

    mutating func finish(_ request: String, by account: String = "alice") async throws {
      let identifier = sold[request]?.transactionIdentifier ?? ""
      try await insist { try await $0.session(account: account).finish(transactionIdentifier: identifier) }
    }

    mutating func run() async throws {
      let day = 86_400.0
      try await buy("coins", "1")
      try await buy("level", "2")
      try await finish("2")
      try await buy("gold", "3")
      try await buy("theme", "4")
      try await finish("4")
      try await buy("level", "5")
      let gold = sold["3"]?.originalTransactionIdentifier ?? ""
      let theme = sold["4"]?.transactionIdentifier ?? ""
      // An operator checks whether the operation was performed before repeating it.
      try await insist { store in
        guard try await store.subscriptions(of: "bob").isEmpty else { return }
        try await store.addToFamily("bob", of: "alice")
      }
      try await insist { try await $0.perform(.setBillingIssue(true, of: "alice")) }
      fixture.clock.advance(seconds: 32 * day)
      try await insist { store in
        guard try await store.subscription(gold)?.isInBillingRetry == true else { return }
        try await store.perform(.renewNow(gold))
      }
      try await insist { try await $0.perform(.setBillingIssue(false, of: "alice")) }
      try await insist { try await $0.perform(.changeRenewal(of: gold, to: "bronze")) }
      fixture.clock.advance(seconds: 70 * day)
      try await buy("coins", "6", by: "bob")
      var pages: [RestoredTransaction] = []
      try await insist { store in
        let session = store.session(account: "alice")
        let first = try await session.restore(RestoreRequest(id: "r"), after: nil, limit: 1)
        let second = try await session.restore(RestoreRequest(id: "r"), after: first.next, limit: 5)
        pages = first.transactions + second.transactions
      }
      restored = pages
      try await insist { store in
        guard try await store.purchase(theme)?.current.revocationDate == nil else { return }
        try await store.refund(theme)
      }
      try await insist { try await $0.perform(.setAutoRenew(false, of: gold)) }
      fixture.clock.advance(seconds: 400 * day)
      try await insist { try await $0.advance(to: Timestamp(millisecondsSince1970: 0)) }
      try await buy("gold", "7")
      // Repeats every request that has an identifier.
      for (request, sale) in sold.sorted(by: { $0.key < $1.key }) {
        let account = request == "6" ? "bob" : "alice"
        let again = try await store.session(account: account).buy(
          sale.payment.productIdentifier, request: request)
        #expect(again == sale)
      }
    }

    /// The whole state of a store, without signatures.
    func account() async throws -> [String] {
      // The state after a relaunch.
      let found = try disk.afterKill()
      let store = try fixture.store(on: found.storage)
      var lines: [String] = []
      for account in ["alice", "bob"] {
        for purchase in try await store.purchaseRecord(of: account) {
          lines.append(
            "\(account) \(purchase.transaction.requestIdentifier ?? "-") \(purchase.charged) "
              + "\(purchase.isFinished) \(purchase.isRestoration) "
              + String(decoding: purchase.current.encodedJSON(), as: UTF8.self))
        }
        let unfinished = try await store.session(account: account).unfinishedTransactions(
          after: nil, limit: 256)
        lines.append(
          "\(account) " + unfinished.transactions.map(\.transactionIdentifier).joined(separator: " "))
        for subscription in try await store.subscriptions(of: account) {
          lines.append(String(decoding: subscription.encodedJSON(), as: UTF8.self))
        }
      }
      for notification in try await store.notifications(limit: 1000) {
        lines.append(
          "\(notification.number) \(notification.type.rawValue) \(notification.subtype?.rawValue ?? "-") "
            + "\(notification.uuid.rawValue) \(notification.transactionIdentifier) "
            + "\(notification.signedDate.millisecondsSince1970) \(notification.account)")
      }
      return lines
    }
  }

  @Test(arguments: RecordStorageKind.all)
  func nothingIsLostOrRepeatedAfterACrashAtAnyPoint(kind: RecordStorageKind) async throws {
    var undisturbed = try Journey(on: kind)
    try await undisturbed.run()
    let expected = try await undisturbed.account()
    let commits = undisturbed.storage.commitCount
    #expect(commits > 20)
    #expect(undisturbed.restored.count == 2)
    let names = try await undisturbed.store.notifications(limit: 1000)
      .map { "\($0.type.rawValue) \($0.subtype?.rawValue ?? "")" }
    #expect(
      Set(names).isSuperset(of: [
        "SUBSCRIBED INITIAL_BUY", "DID_FAIL_TO_RENEW GRACE_PERIOD", "DID_RENEW BILLING_RECOVERY", "REFUND ",
        "REVOKE ", "EXPIRED VOLUNTARY", "ONE_TIME_CHARGE ",
      ]))
    // Syncing a file is slow, and so is everything under the address sanitizer: by default each commit has only one of
    // the faults there.
    let ways = FaultyRecordStorage.Fault.withUnacknowledged
    #if ADDRESS_SANITIZER
      let isThorough = fullSweeps
    #else
      let isThorough = fullSweeps || kind.name == "memory"
    #endif
    for (way, fault) in ways.enumerated() {
      for number in 1...commits where isThorough || number % ways.count == way {
        var journey = try Journey(on: kind, fault: fault, atCommit: number)
        try await journey.run()
        let found = try await journey.account()
        #expect(found == expected, "\(fault) at commit \(number)")
        if found != expected { return }
      }
    }
  }

  @Test func foldingTheOutboxGivesTheStoresState() async throws {
    var journey = try Journey(on: try #require(RecordStorageKind.all.first))
    try await journey.run()
    let verifier = try StoreFixture.verifier()
    var ledger = EntitlementLedger()
    for notification in try await journey.store.notifications(limit: 1000).shuffled() {
      ledger.apply(try StoreFixture.verified(notification, by: verifier))
    }
    let now = journey.fixture.clock.now.addingSeconds(1)
    for account in ["alice", "bob"] {
      for subscription in try await journey.store.subscriptions(of: account) {
        let id = Entitlement.ID(
          environment: .sandbox, bundleId: StoreFixture.bundle, originalTransactionId: subscription.id)
        #expect(ledger[id]?.state(at: now).rawValue == subscription.status(at: now).rawValue)
        #expect(ledger[id]?.expiresDate == subscription.expiresDate)
      }
      for purchase in try await journey.store.purchaseRecord(of: account)
      where purchase.current.type != .autoRenewableSubscription && !purchase.isRestoration {
        let id = Entitlement.ID(
          environment: .sandbox, bundleId: StoreFixture.bundle,
          originalTransactionId: purchase.transaction.originalTransactionIdentifier)
        #expect(ledger[id]?.grantsAccess(at: now) == (purchase.current.revocationDate == nil))
      }
    }
  }
}
