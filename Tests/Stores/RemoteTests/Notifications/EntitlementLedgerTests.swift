// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
@testable import Entitlements
import ReceiptTesting
import ReceiptVerification
import Testing

/// History from the App Store Server API, keys, and the ledger as JSON.
@Suite struct EntitlementLedgerTests {
  private let receipts: TestReceipts
  private let verifier: ReceiptVerifier

  init() throws {
    receipts = try TestReceipts()
    verifier = try Story.verifier { $0.environments = [.sandbox, .production] }
  }

  private func transaction(_ transaction: JWSTransaction, signedOn day: Double) throws -> VerifiedReceipt {
    let jws = try receipts.signedTransaction {
      $0 = transaction
      $0.signedDate = Story.day(day)
    }
    return try #require(verifier.verify(jws).receipt)
  }

  private func renewalInfo(_ renewalInfo: JWSRenewalInfo, signedOn day: Double) throws -> VerifiedReceipt {
    let jws = try receipts.signedRenewalInfo {
      $0 = renewalInfo
      $0.signedDate = Story.day(day)
    }
    return try #require(verifier.verify(jws).receipt)
  }

  @Test("a ledger combines history and notifications, in either order")
  func history() throws {
    var story = try Story()
    try story.notify(.didRenew, day: 60, Story.period(3), Story.renewal())
    var fromHistory = EntitlementLedger()
    for period in 1...2 {
      let id = try fromHistory.apply(transaction: try transaction(Story.period(period), signedOn: 50))
      #expect(id == Story.id)
    }
    try fromHistory.apply(
      transaction: try transaction(Story.period(2), signedOn: 51),
      renewalInfo: try renewalInfo(Story.renewal { $0.autoRenewStatus = .off }, signedOn: 51),
      status: .active)
    let entitlement = try #require(fromHistory[Story.id])
    #expect(entitlement.transactionId == "2000000002")
    #expect(entitlement.renewalInfo?.autoRenewStatus == .off)
    #expect(entitlement.reportedStatus == .active)
    #expect(fromHistory.latestNotice == nil)
    #expect(entitlement.state(at: Story.day(55)) == .active)

    var forwards = fromHistory
    forwards.merge(story.ledger)
    var backwards = story.ledger
    backwards.merge(fromHistory)
    #expect(forwards == backwards)
    #expect(forwards[Story.id]?.transactionId == "2000000003")
    #expect(forwards[Story.id]?.renewalInfo?.autoRenewStatus == .on)
    #expect(forwards[Story.id]?.state(at: Story.day(61)) == .active)
  }

  @Test("a refund that only the history has counts; one that a notification reversed does not")
  func refundInHistory() throws {
    var story = try Story()
    try story.notify(.subscribed, .initialBuy, day: 0, Story.period(1), Story.renewal())
    let refunded = Story.period(1) { $0.revocationDate = Story.day(5) }
    var ledger = story.ledger
    try ledger.apply(transaction: try transaction(refunded, signedOn: 20))
    #expect(ledger[Story.id]?.state(at: Story.day(21)) == .refunded)
    try story.notify(.refundReversed, day: 8, Story.period(1))
    ledger.merge(story.ledger)
    #expect(ledger[Story.id]?.state(at: Story.day(21)) == .active)
  }

  @Test("the client's verified transactions, subscriptions and notifications can be applied to a ledger")
  func client() throws {
    var story = try Story()
    try story.notify(.didRenew, day: 30, Story.period(2), Story.renewal())
    let notice = try #require(story.received.first)
    var ledger = EntitlementLedger()
    let id = ledger.apply(try #require(AppStoreNotification(notice.receipt)))
    #expect(id == Story.id)
    #expect(ledger == story.ledger)

    let past = try transaction(Story.period(1), signedOn: 31)
    let last = try transaction(Story.period(3), signedOn: 60)
    let renewal = Story.renewal { $0.autoRenewStatus = .off }
    try ledger.apply(transaction: past)
    #expect(ledger == story.ledger)
    try ledger.apply(
      transaction: last, renewalInfo: try renewalInfo(renewal, signedOn: 60), status: .active)
    let entitlement = try #require(ledger[Story.id])
    #expect(entitlement.transactionId == "2000000003")
    #expect(entitlement.reportedStatus == .active)
    #expect(entitlement.renewalInfo?.autoRenewStatus == .off)
    #expect(ledger.latestNotice?.type == .didRenew)
  }

  @Test("of two statuses of one millisecond the worse counts")
  func statusesOfOneMillisecond() throws {
    let transaction = try transaction(Story.period(1), signedOn: 1)
    for order in [[SubscriptionStatus.active, .revoked], [.revoked, .active]] {
      var ledger = EntitlementLedger()
      for status in order { try ledger.apply(transaction: transaction, status: status) }
      #expect(ledger[Story.id]?.reportedStatus == .revoked)
    }
  }

  @Test("of a purchase and its later events, signed in one millisecond, the events count")
  func transactionsOfOneMillisecond() throws {
    func latest(_ transactions: [JWSTransaction]) throws -> Entitlement {
      var found: [Entitlement] = []
      for order in [transactions, transactions.reversed()] {
        var ledger = EntitlementLedger()
        for each in order { try ledger.apply(transaction: try transaction(each, signedOn: 1)) }
        found.append(try #require(ledger[Story.id]))
      }
      #expect(found[0] == found[1])
      return found[0]
    }
    // Whichever of the two is the greater as text.
    for (first, second) in [("a", "b"), ("b", "a")] {
      let bought = Story.period(1) { $0.productId = first }
      let refunded = Story.period(1) {
        $0.productId = second
        $0.revocationDate = Story.day(1)
      }
      #expect(try latest([bought, refunded]).state(at: Story.day(2)) == .refunded)
      let upgraded = Story.period(1) {
        $0.productId = second
        $0.isUpgraded = true
      }
      #expect(try latest([bought, upgraded]).state(at: Story.day(2)) == .upgraded)
      let ended = Story.period(1) {
        $0.productId = second
        $0.expiresDate = Story.day(29)
      }
      #expect(try latest([bought, ended]).expiresDate == Story.day(30))
    }
  }

  @Test("reversing the refund of an earlier purchase does not restore the current one")
  func reversalOfEarlierPurchase() throws {
    var story = try Story()
    try story.notify(.subscribed, .initialBuy, day: 0, Story.period(1), Story.renewal())
    try story.notify(.refund, day: 5, Story.period(1) { $0.revocationDate = Story.day(5) })
    try story.notify(.didRenew, day: 30, Story.period(2), Story.renewal())
    try story.notify(.refund, day: 40, Story.period(2) { $0.revocationDate = Story.day(40) })
    try story.notify(.refundReversed, day: 50, Story.period(1))
    try story.expect([(51, .refunded)])
  }

  @Test("environments and original transactions are not mixed")
  func keys() throws {
    var ledger = EntitlementLedger()
    for (environment, original) in [
      (ReceiptEnvironment.sandbox, "2000000001"), (.production, "2000000001"), (.sandbox, "30"),
    ] {
      try ledger.apply(
        transaction: try transaction(
          Story.period(1) {
            $0.environment = environment
            $0.originalTransactionId = original
          }, signedOn: 1))
    }
    #expect(ledger.count == 3)
    #expect(
      ledger.entitlements.map { [$0.id.environment.rawValue, $0.originalTransactionId] }
        == [["production", "2000000001"], ["sandbox", "30"], ["sandbox", "2000000001"]])
  }

  @Test("anything but a transaction of this purchase is refused and changes nothing")
  func refused() throws {
    var ledger = EntitlementLedger()
    func code(_ transaction: VerifiedReceipt, _ renewalInfo: VerifiedReceipt? = nil) -> EntitlementError.Code?
    {
      do throws(EntitlementError) {
        try ledger.apply(transaction: transaction, renewalInfo: renewalInfo)
        return nil
      } catch {
        return error.code
      }
    }
    let good = try transaction(Story.period(1), signedOn: 1)
    let renewal = try renewalInfo(Story.renewal(), signedOn: 1)
    #expect(code(renewal) == .wrongKind)
    #expect(code(good, good) == .wrongKind)
    #expect(
      code(good, try renewalInfo(Story.renewal { $0.originalTransactionId = "7" }, signedOn: 1))
        == .differentPurchases)
    #expect(
      code(good, try renewalInfo(Story.renewal { $0.environment = .production }, signedOn: 1))
        == .differentPurchases)
    for change in [
      { (transaction: inout JWSTransaction) in transaction.originalTransactionId = nil },
      { $0.originalTransactionId = "" }, { $0.originalTransactionId = "caf\u{E9}" },
      { $0.originalTransactionId = String(repeating: "1", count: 257) },
    ] {
      #expect(code(try transaction(Story.period(1, change), signedOn: 1)) == .incomplete)
    }
    #expect(ledger == EntitlementLedger())
    #expect(code(good, renewal) == nil)
  }

  @Test("renewal information before any transaction is kept, and grants nothing yet")
  func renewalInfoFirst() throws {
    var story = try Story()
    try story.notify(
      .didFailToRenew, .gracePeriod, day: 30, nil,
      Story.renewal {
        $0.isInBillingRetryPeriod = true
        $0.gracePeriodExpiresDate = Story.day(46)
      })
    #expect(story.ledger.count == 1)
    #expect(story.ledger[Story.id] == nil)
    #expect(story.ledger.entitlements.isEmpty)
    try story.notify(.subscribed, .initialBuy, day: 0, Story.period(1))
    try story.expect([(29, .active), (31, .inGracePeriod), (46, .inBillingRetry)])
  }

  @Test("a ledger survives encoding as JSON, and a newer version or malformed JSON is refused")
  func json() throws {
    var story = try Story()
    try story.notify(.subscribed, .initialBuy, day: 0, Story.period(1), Story.renewal())
    try story.notify(.consumptionRequest, day: 2, Story.period(1), reason: .legal)
    let encoded = story.ledger.encoded()
    #expect(try EntitlementLedger(decoding: encoded) == story.ledger)
    #expect(
      String(decoding: EntitlementLedger().encoded(), as: UTF8.self) == #"{"version":1,"purchases":[]}"#)

    func failure(_ json: String) -> (MalformedReceipt.Code, MalformedReceipt.Place)? {
      do throws(MalformedReceipt) {
        _ = try EntitlementLedger(decoding: Array(json.utf8))
        return nil
      } catch {
        return (error.code, error.place)
      }
    }
    #expect(try #require(failure(#"{"version":5,"purchases":[]}"#)) == (.unsupported, .jsonPath("$.version")))
    #expect(try #require(failure(#"{"version":1}"#)) == (.missing, .jsonPath("$.purchases")))
    let record = #"{"environment":"moon","bundleId":"a","originalTransactionId":"1","facts":{}}"#
    #expect(
      try #require(failure(#"{"version":1,"purchases":[\#(record)]}"#))
        == (.invalidValue, .jsonPath("$.purchases[0]")))
    #expect(
      try #require(failure(#"{"version":1,"purchases":[{"facts":{"transaction":{}}}]}"#))
        == (.missing, .jsonPath("$.purchases[0].facts.transaction.transaction")))
    for length in 0..<encoded.count {
      #expect(throws: MalformedReceipt.self) { try EntitlementLedger(decoding: Array(encoded[..<length])) }
    }
  }
}
