// SPDX-License-Identifier: Apache-2.0

@testable import Entitlements
import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// A piece of news of one line of the App Store, in plain values. Instants are days.
private struct LineNews: Sendable {
  enum Kind: String { case history, renewed = "DID_RENEW", refund, declined, reversed, revoke }

  var kind: Kind
  var signed: Int
  /// The transaction that it is about, by its number and when it was bought, or restored.
  var number: Int
  var bought: Int
  var expires: Int?
  var revoked: Int?
  var isUpgraded = false
  var isShared = false
  var renewal: (isRetrying: Bool, grace: Int?)?

  func event(isSubscription: Bool) -> StreamEvent {
    StreamEvent(
      id: Story.id,
      notification: Notification().with {
        $0.notificationType =
          [
            Kind.renewed: NotificationType.didRenew, .refund: .refund, .declined: .refundDeclined,
            .reversed: .refundReversed, .revoke: .revoke,
          ][kind]
        $0.notificationUUID = UUIDString(rawValue: "\(signed)")
        $0.signedDate = Story.day(Double(signed))
      },
      transaction: JWSTransaction().with {
        $0.originalTransactionId = Story.id.originalTransactionId
        $0.bundleId = Story.id.bundleId
        $0.transactionId = "\(number)"
        $0.type = isSubscription ? .autoRenewableSubscription : .nonConsumable
        $0.purchaseDate = Story.day(Double(bought))
        $0.expiresDate = expires.map { Story.day(Double($0)) }
        $0.revocationDate = revoked.map { Story.day(Double($0)) }
        $0.isUpgraded = isUpgraded ? true : nil
        $0.inAppOwnershipType = isShared ? .familyShared : .purchased
        $0.signedDate = Story.day(Double(signed))
      },
      renewalInfo: renewal.map { renewal in
        JWSRenewalInfo().with {
          $0.originalTransactionId = Story.id.originalTransactionId
          $0.isInBillingRetryPeriod = renewal.isRetrying
          $0.gracePeriodExpiresDate = renewal.grace.map { Story.day(Double($0)) }
          $0.signedDate = Story.day(Double(signed))
        }
      })
  }
}

/// A plain model of a purchase line: its state by all that was learned about it.
private struct LineModel {
  let news: [LineNews]
  let isSubscription: Bool

  func state(at now: Int) -> String {
    // The latest purchase counts; of it, what was signed last.
    let bought = news.map(\.bought).max() ?? 0
    guard let snapshot = news.filter({ $0.bought == bought }).max(by: { $0.signed < $1.signed }) else {
      return "unknown"
    }
    if let revoked = revocation(of: snapshot), revoked.date <= now {
      return revoked.isShared ? "revoked" : "refunded"
    }
    if snapshot.isUpgraded { return "upgraded" }
    guard let expires = snapshot.expires else { return isSubscription ? "expired" : "active" }
    if now < expires { return "active" }
    guard let last = news.filter({ $0.renewal != nil }).max(by: { $0.signed < $1.signed }),
      let renewal = last.renewal, renewal.isRetrying, last.signed >= snapshot.bought,
      last.signed >= expires - 2
    else { return "expired" }
    if let grace = renewal.grace, now < grace { return "in-grace-period" }
    return now < expires + 60 ? "in-billing-retry" : "expired"
  }

  /// Each period of a subscription is paid for and refunded by itself. What does not renew was paid for once: refunded, it
  /// is gone with all that restored it before.
  private func isAbout(_ news: LineNews, _ snapshot: LineNews) -> Bool {
    isSubscription ? news.bought == snapshot.bought : true
  }

  private func revocation(of snapshot: LineNews) -> (date: Int, isShared: Bool)? {
    let about = news.filter { isAbout($0, snapshot) }
    var taken = about.filter { $0.kind == .refund || $0.kind == .revoke }.map {
      ($0.signed, $0.kind == .revoke)
    }
    if !isSubscription {
      taken += about.compactMap { news in news.revoked.map { ($0, false) } }
      // Bought again afterwards, it is another purchase.
      taken.removeAll { $0.0 < snapshot.bought }
    }
    let last = taken.max { ($0.0, $0.1 ? 1 : 0) < ($1.0, $1.1 ? 1 : 0) }
    let date: Int
    if let stated = snapshot.revoked {
      date = stated
    } else if let last, last.0 >= snapshot.signed {
      date = last.0
    } else {
      return nil
    }
    let reversed = about.filter { $0.kind == .reversed }.map(\.signed).max()
    if let reversed, reversed >= date, reversed >= last?.0 ?? date { return nil }
    return (date, last?.1 ?? snapshot.isShared)
  }
}

/// Random lives of a subscription, or of a product that is restored, against a plain model. The seed is in the failure's
/// message.
@Suite struct AppStoreLifeTests {
  private static func life(_ random: inout SeededRandom, isSubscription: Bool) -> [LineNews] {
    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    func chance(_ percent: Int) -> Bool { number(0..<100) < percent }
    // Signed at instants of their own, and no two purchases of one day.
    var signed = Array(0..<40).shuffled(using: &random)
    let purchases = Array(0..<30).shuffled(using: &random).prefix(number(1..<4)).sorted()
    let isShared = chance(20)
    return (0..<number(1..<11)).compactMap { _ in
      let signed = signed.popLast() ?? 0
      guard let bought = purchases.filter({ $0 <= signed }).randomElement(using: &random) else { return nil }
      let kind: LineNews.Kind =
        [.history, .history, .renewed, .refund, .refund, .declined, .reversed, .revoke][number(0..<8)]
      return LineNews(
        kind: kind, signed: signed, number: 100 + bought, bought: bought,
        expires: isSubscription ? bought + 10 : nil, revoked: chance(30) ? number(bought..<signed + 1) : nil,
        isUpgraded: isSubscription && chance(5), isShared: isShared,
        renewal: isSubscription && chance(50) ? (chance(50), chance(50) ? number(0..<60) : nil) : nil)
    }
  }

  @Test("what a ledger says of any line is what the facts say, in any order, split and repeated")
  func lives() throws {
    var differences = 0
    for seed in ledgerLives {
      var random = SeededRandom(seed: seed)
      let isSubscription = Bool.random(using: &random)
      let news = Self.life(&random, isSubscription: isSubscription)
      if news.isEmpty { continue }
      let lines = news.map { $0.event(isSubscription: isSubscription).line }
      var ledger = EntitlementLedger()
      for line in lines { ledger.purchases.join(line, to: Story.id) }
      let entitlement = try #require(ledger[Story.id])
      let model = LineModel(news: news, isSubscription: isSubscription)
      for now in (0..<110).shuffled(using: &random).prefix(20) {
        let (found, expected) = (entitlement.state(at: Story.day(Double(now))).rawValue, model.state(at: now))
        guard found != expected else { continue }
        differences += 1
        Issue.record("seed \(seed), day \(now): \(found), not \(expected), after \(news)")
        break
      }
      var parts = Array(repeating: EntitlementLedger(), count: 3)
      for line in (lines + lines.prefix(3)).shuffled(using: &random) {
        let index = Int.random(in: 0..<3, using: &random)
        parts[index].purchases.join(line, to: Story.id)
        if Bool.random(using: &random) {
          parts[index] = try EntitlementLedger(decoding: parts[index].encoded())
        }
      }
      var merged = EntitlementLedger()
      for part in parts { merged.merge(part) }
      if merged != ledger || merged.encoded() != ledger.encoded() {
        differences += 1
        Issue.record("seed \(seed): another order gives another ledger")
      }
      if differences > 5 { break }
    }
  }

  @Test("the refund of a product takes away what restored it before, and not what was bought afterwards")
  func restored() throws {
    func news(_ kind: LineNews.Kind, _ number: Int, bought: Int, signed: Int, revoked: Int? = nil) -> LineNews
    {
      LineNews(kind: kind, signed: signed, number: number, bought: bought, revoked: revoked)
    }
    let bought = news(.history, 1, bought: 0, signed: 0)
    let restored = news(.history, 2, bought: 5, signed: 5)
    let refunded = news(.refund, 1, bought: 0, signed: 10, revoked: 10)
    // The App Store Server API, asked later, has the same without a notification.
    let inHistory = news(.history, 1, bought: 0, signed: 12, revoked: 10)
    let reversed = news(.reversed, 1, bought: 0, signed: 20)
    let again = news(.history, 3, bought: 15, signed: 15)
    func state(_ news: [LineNews], on day: Double) -> Entitlement.State? {
      var states: Set<Entitlement.State?> = []
      for order in [news, news.reversed()] {
        var ledger = EntitlementLedger()
        for each in order { ledger.purchases.join(each.event(isSubscription: false).line, to: Story.id) }
        states.insert(ledger[Story.id]?.state(at: Story.day(day)))
      }
      return states.count == 1 ? states.first ?? nil : nil
    }
    #expect(state([bought, restored], on: 30) == .active)
    #expect(state([bought, restored, refunded], on: 9) == .active)
    #expect(state([bought, restored, refunded], on: 30) == .refunded)
    #expect(state([bought, restored, inHistory], on: 30) == .refunded)
    #expect(state([bought, restored, refunded, reversed], on: 30) == .active)
    #expect(state([bought, restored, refunded, again], on: 30) == .active)
    // A transaction may be signed before the date of its purchase.
    let signedBefore = news(.history, 3, bought: 11, signed: 9)
    #expect(state([bought, restored, refunded, signedBefore], on: 30) == .active)
  }

  @Test("the refund of a period counts for a copy of its transaction that was restored")
  func restoredPeriod() throws {
    var story = try Story()
    try story.notify(.subscribed, .initialBuy, day: 0, Story.period(1), Story.renewal())
    // The same purchase under the identifier of a restored transaction.
    try story.notify(.metadataUpdate, day: 2, Story.period(1) { $0.transactionId = "2000000999" })
    try story.notify(.refund, day: 5, Story.period(1) { $0.revocationDate = Story.day(5) })
    try story.expect([(4, .active), (6, .refunded)])
  }

  @Test("refunds of two periods, in any order, take away the period that each is of")
  func twoPeriods() throws {
    for isLatestFirst in [true, false] {
      var story = try Story()
      try story.notify(.subscribed, .initialBuy, day: 0, Story.period(1), Story.renewal())
      try story.notify(.didRenew, day: 30, Story.period(2), Story.renewal())
      for (day, period) in isLatestFirst ? [(40.0, 2), (41, 1)] : [(40, 1), (41, 2)] {
        try story.notify(.refund, day: day, Story.period(period) { $0.revocationDate = Story.day(day) })
      }
      try story.expect([(43, .refunded)])
      try story.notify(.refundReversed, day: 45, Story.period(1))
      try story.expect([(46, .refunded)])
      try story.notify(.refundReversed, day: 50, Story.period(2))
      try story.expect([(51, .active)])
    }
  }
}
