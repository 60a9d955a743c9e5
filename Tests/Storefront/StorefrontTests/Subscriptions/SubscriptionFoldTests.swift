// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Entitlements
import ReceiptTesting
import StoreSimulation
import Storefront
import Testing

/// Random lives of subscriptions: a server that folds the notifications, in any order, has the same state as the store.
@Suite struct SubscriptionFoldTests {
  private static let isLong = ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == "1"

  @Test(arguments: 0..<(isLong ? 400 : 16)) func theLedgerHasTheEnginesState(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var options = SubscriptionEngine.Options(
      bundleIdentifier: StoreFixture.bundle, seed: seed + 1,
      billing: .random(failures: 0.3, recoveries: 0.05))
    options.gracePeriodDays = [nil, 3, 16, 28][Int.random(in: 0..<4, using: &random)]
    if seed % 4 == 3 { options.calendar = SubscriptionCalendar(secondsPerDay: 60) }
    var fold = try Fold(options)
    let day = options.calendar.secondsPerDay
    var now = StoreFixture.start
    for number in 0..<90 {
      // Often at once, sometimes after weeks.
      let pause = [0, 0, 0.2, 1, 5, 17, 40][Int.random(in: 0..<7, using: &random)]
      now = now.addingSeconds((pause * day).rounded())
      try fold.advance(to: now)
      try step(&fold, at: now, &random)
      // Folding everything again is slow, and a difference rarely disappears later.
      if Self.isLong || number % 6 == 5 { fold.agrees(at: now, shuffled: &random) }
    }
    for _ in 0..<6 {
      now = now.addingSeconds(23 * day)
      try fold.advance(to: now)
      fold.agrees(at: now, shuffled: &random)
    }
    #expect(Set(fold.events.map(\.uuid)).count == fold.events.count)
    #expect(fold.events.map(\.number) == (1...Int64(fold.events.count)).map { $0 })
    for (_, line) in Dictionary(grouping: fold.events, by: \.originalTransactionIdentifier) {
      #expect(Set(line.map(\.signedDate)).count == line.count)
    }
  }

  /// An operation that the store may refuse, and then must not have changed anything.
  private func step(_ fold: inout Fold, at now: Timestamp, _ random: inout SeededGenerator) throws {
    let accounts = ["alice", "bob", "carol"]
    let account = accounts[Int.random(in: 0..<accounts.count, using: &random)]
    let products = ["gold", "silver", "silver.plus", "bronze", "news"]
    let product = products[Int.random(in: 0..<products.count, using: &random)]
    let own = fold.engine.subscriptions(of: account)
    let chosen = own.isEmpty ? nil : own[Int.random(in: 0..<own.count, using: &random)]
    let id = chosen?.id ?? ""
    // The current transaction, or an earlier one.
    let past = fold.events.filter { $0.isNewTransaction && $0.originalTransactionIdentifier == id }
    let transaction = transaction(of: fold, past: past, chosen, &random)
    let price = Decimal(Int64.random(in: 1...20, using: &random))
    let chance = Bool.random(using: &random)
    do {
      switch Int.random(in: 0..<18, using: &random) {
      case 0...3: _ = try fold.subscribe(product, account, at: now)
      case 4:
        let offers: [PaymentOffer] = [.code("SPRING"), .code("WELCOME"), .winBack("come-back")]
        _ = try fold.subscribe(
          "silver", account, offer: offers[Int.random(in: 0..<3, using: &random)], at: now)
      case 5: try fold.run(at: now) { try $0.perform(.setAutoRenew(chance, of: id)) }
      case 6, 7: try fold.run(at: now) { try $0.perform(.changeRenewal(of: id, to: product)) }
      case 8:
        try fold.run(at: now) { try $0.perform(.changePrice(of: product, to: price, needsConsent: chance)) }
      case 9: try fold.run(at: now) { try $0.perform(.answerPriceIncrease(of: id, consents: chance)) }
      case 10: try fold.run(at: now) { try $0.perform(.extend(id, byDays: 10)) }
      case 11: try fold.run(at: now) { try $0.perform(.renewNow(id)) }
      case 12, 13:
        guard let transaction else { return }
        try fold.run(at: now) {
          try $0.refund(transaction, account: account, amount: chance ? .full : .prorated(40_000))
        }
      case 14:
        guard let transaction else { return }
        try fold.run(at: now) { try $0.reverseRefund(of: transaction, account: account) }
      case 15:
        guard let transaction else { return }
        try fold.run(at: now) {
          $0.notify(
            chance ? .refundDeclined : .consumptionRequest, about: transaction, account: account,
            reason: chance ? nil : .other)
        }
      case 16:
        if chance {
          let isForSale = Bool.random(using: &random)
          try fold.run(at: fold.engine.ledger.time) { try $0.perform(.setForSale(isForSale, product)) }
        }
        try fold.run(at: fold.engine.ledger.time) { try $0.perform(.setBillingIssue(chance, of: account)) }
      default:
        if chance {
          try fold.run(at: now) { try $0.addToFamily(account, of: accounts[0]) }
        } else {
          try fold.run(at: now) { try $0.removeFromFamily(account) }
        }
      }
    } catch is SubscriptionError {
    } catch is StoreError {
    }
  }

  /// The current state of a transaction: that in its last event.
  private func transaction(
    of fold: Fold, past: [StoreEvent], _ subscription: Subscription?, _ random: inout SeededGenerator
  ) -> JWSTransaction? {
    guard let subscription, !past.isEmpty else { return nil }
    let identifier =
      Bool.random(using: &random)
      ? subscription.transaction.transactionId
      : past[Int.random(in: 0..<past.count, using: &random)].transaction.transactionId
    return fold.events.last { $0.transaction.transactionId == identifier }?.transaction
  }

  /// The year of the benchmark, which has 10,000 subscriptions.
  @Test func aYearsNotificationsFoldInAnyOrder() throws {
    let signer = try StoreEventSigner(identity: TestAuthority.es256().identity)
    let receiver = NotificationReceiver(verifier: try StoreFixture.verifier())
    var notifications: [AppStoreNotification] = []
    var lastSigned: [String: Timestamp] = [:]
    let count = 200
    var year = SimulatedYear(subscriptions: count, seed: 11) { event in
      notifications.append(try receiver.receive(Array(try signer.sign(event).notification.utf8)))
      lastSigned[event.originalTransactionIdentifier] = event.signedDate
    }
    try year.run()
    #expect(notifications.count > count * 4)
    var random = SeededGenerator(seed: 12)
    var first: EntitlementLedger?
    for _ in 0..<5 {
      var ledger = EntitlementLedger()
      for notification in notifications.shuffled(using: &random) { ledger.apply(notification) }
      #expect(ledger == first ?? ledger)
      first = ledger
      #expect(ledger.count == year.engine.subscriptions.count)
      let found = ledger.disagreements(
        with: year.engine, lastSigned: lastSigned, bundleIdentifier: SimulatedYear.bundleIdentifier,
        at: SimulatedYear.end)
      #expect(found == [])
    }
  }

  @Test func theSameSeedGivesTheSameEvents() throws {
    func events(_ seed: UInt64) throws -> [StoreEvent] {
      var options = SubscriptionEngine.Options(
        bundleIdentifier: StoreFixture.bundle, seed: seed, billing: .random(failures: 0.3, recoveries: 0.1))
      options.gracePeriodDays = 16
      var engine = SubscriptionEngine(catalog: StoreFixture.catalog, options: options)
      var events: [StoreEvent] = []
      for number in 0..<40 {
        events += try engine.subscribe(
          "silver", account: "a\(number)", at: StoreFixture.start.addingSeconds(Double(number) * 7000)
        ).events
      }
      events += engine.advance(to: StoreFixture.start.addingSeconds(200 * 86_400), atMost: .max).0
      return events
    }
    let first = try events(5)
    #expect(try events(5) == first)
    #expect(try events(6) != first)
    #expect(Set(first.map(\.name)).isSuperset(of: ["DID_RENEW", "DID_FAIL_TO_RENEW GRACE_PERIOD"]))
  }
}
