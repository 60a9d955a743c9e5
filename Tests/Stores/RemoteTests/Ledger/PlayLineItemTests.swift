// SPDX-License-Identifier: Apache-2.0

@testable import Entitlements
@testable import GooglePlay
import ReceiptCodec
import ReceiptVerification
import Testing

/// The line items of purchases in Google Play: orders, voids, expiries and quantities act on the product that they are of.
@Suite struct PlayLineItemTests {
  private static func subscription(
    _ products: [PlayNews.Product], asOf: Int = 0, state: String = "ACTIVE", account: String? = nil,
    expiredAccount: String? = nil
  ) -> PlayNews {
    .answer(
      PlayNews.Answer(
        token: "t1", asOf: asOf, isSubscription: true, state: state, products: products, account: account,
        expiredAccount: expiredAccount))
  }

  private static func product(_ id: String, order: String, expiry: Int) -> PlayNews.Product {
    PlayNews.Product(id: id, order: order, expiry: expiry)
  }

  private static func voided(_ order: String?, _ date: Int, quantity: Int64? = nil) -> PlayNews {
    .voided(token: "t1", order: order, date: date, quantity: quantity, isMessage: false)
  }

  /// The purchase after this news, in whatever order it comes.
  private static func purchase(_ news: [PlayNews]) throws -> PlayEntitlement {
    var ledgers: Set<EntitlementLedger> = []
    for order in [news, news.reversed()] {
      var ledger = EntitlementLedger()
      for each in order { ledger.merge(try each.change) }
      ledgers.insert(ledger)
    }
    #expect(ledgers.count == 1)
    let id = try #require(PlayNews.id("t1"))
    return try #require(ledgers.first?[id])
  }

  private static func told(_ purchase: PlayEntitlement, at now: Int) throws -> JSONValue {
    var object = JSONWriter()
    object.beginObject()
    purchase.append(to: &object, at: PlayNews.instant(now))
    object.endObject()
    return try JSONValue(parsing: object.bytes)
  }

  @Test("the refund of an earlier order does not undo that of the present one")
  func earlierOrder() throws {
    let present = Self.subscription([Self.product("pro", order: "GPA.1..2", expiry: 1000)])
    #expect(
      try Self.purchase([present, Self.voided("GPA.1..1", 200)]).state(at: PlayNews.instant(300)) == .active)
    let purchase = try Self.purchase([present, Self.voided("GPA.1..2", 100), Self.voided("GPA.1..1", 200)])
    #expect(purchase.state(at: PlayNews.instant(99)) == .active)
    #expect(purchase.state(at: PlayNews.instant(100)) == .refunded)
    #expect(purchase.state(at: PlayNews.instant(300)) == .refunded)
    #expect(purchase.voided == PlayEntitlement.Voided(date: PlayNews.instant(100), orderId: "GPA.1..2"))
    // The next order was paid for.
    let next = Self.subscription([Self.product("pro", order: "GPA.1..3", expiry: 1000)], asOf: 400)
    let renewed = try Self.purchase([present, next, Self.voided("GPA.1..2", 100)])
    #expect(renewed.state(at: PlayNews.instant(500)) == .active)
    #expect(renewed.voided == nil)
  }

  @Test("an order that was voided twice is voided from the first time on")
  func twice() throws {
    let present = Self.subscription([Self.product("pro", order: "GPA.1", expiry: 1000)])
    let purchase = try Self.purchase([present, Self.voided("GPA.1", 200), Self.voided("GPA.1", 100)])
    #expect(purchase.state(at: PlayNews.instant(150)) == .refunded)
  }

  @Test("a purchase that was replaced twice ends the first time")
  func replacedTwice() throws {
    func replacement(_ token: String, start: Int) -> PlayNews {
      .answer(
        PlayNews.Answer(
          token: token, asOf: 900, isSubscription: true, state: "ACTIVE",
          products: [Self.product("pro", order: "GPA.2", expiry: 1000)], start: start, linked: "t1"))
    }
    let purchase = try Self.purchase([
      Self.subscription([Self.product("pro", order: "GPA.1", expiry: 1000)]), replacement("t2", start: 100),
      replacement("t3", start: 200),
    ])
    #expect(purchase.state(at: PlayNews.instant(99)) == .active)
    #expect(purchase.state(at: PlayNews.instant(150)) == .replaced)
    #expect(purchase.replacedByPurchaseToken == "t2")
  }

  @Test("an add-on that expired is told no more while the base runs")
  func expiredAddOn() throws {
    let purchase = try Self.purchase([
      Self.subscription([
        Self.product("base", order: "GPA.1", expiry: 1000),
        Self.product("add-on", order: "GPA.2", expiry: 500),
      ])
    ])
    var told = try Self.told(purchase, at: 499)
    #expect(told["productIds"] == .array([.string("base"), .string("add-on")]))
    #expect(told["nextChangeDate"]?.string == PlayNews.instant(500).iso8601)
    told = try Self.told(purchase, at: 500)
    #expect(told["productIds"] == .array([.string("base")]))
    #expect(told["state"]?.string == "active")
    #expect(told["expiresDate"]?.string == PlayNews.instant(1000).iso8601)
    #expect(told["lineItems"]?.array?.map { $0["state"]?.string } == ["active", "expired"])
    // All of it expired: it was about both.
    told = try Self.told(purchase, at: 1000)
    #expect(told["state"]?.string == "expired")
    #expect(told["productIds"] == .array([.string("base"), .string("add-on")]))
    #expect(told["nextChangeDate"] == nil)
  }

  @Test("the refund of an add-on's own order takes the add-on alone, wherever it stands in the list")
  func refundedAddOn() throws {
    let base = Self.product("base", order: "GPA.1", expiry: 1000)
    let addOn = Self.product("add-on", order: "GPA.2", expiry: 2000)
    for products in [[base, addOn], [addOn, base]] {
      let purchase = try Self.purchase([Self.subscription(products), Self.voided("GPA.2", 100)])
      #expect(purchase.productIds(at: PlayNews.instant(99)).sorted() == ["add-on", "base"])
      #expect(purchase.productIds(at: PlayNews.instant(100)) == ["base"])
      #expect(purchase.state(at: PlayNews.instant(100)) == .active)
      #expect(purchase.nextChange(after: PlayNews.instant(0)) == PlayNews.instant(100))
      let told = try Self.told(purchase, at: 100)
      #expect(told["productIds"] == .array([.string("base")]))
      #expect(told["orderId"]?.string == "GPA.1")
      #expect(told["expiresDate"]?.string == PlayNews.instant(1000).iso8601)
      // The base ended last, without a refund.
      #expect(purchase.state(at: PlayNews.instant(1000)) == .expired)
      let both = try Self.purchase([
        Self.subscription(products), Self.voided("GPA.2", 100), Self.voided("GPA.1", 200),
      ])
      #expect(both.state(at: PlayNews.instant(150)) == .active)
      #expect(both.state(at: PlayNews.instant(200)) == .refunded)
      #expect(both.voided?.orderId == "GPA.1")
      // The add-on of one that was refunded goes on.
      let other = try Self.purchase([Self.subscription(products), Self.voided("GPA.1", 200)])
      #expect(other.productIds(at: PlayNews.instant(300)) == ["add-on"])
      #expect(other.state(at: PlayNews.instant(2000)) == .expired)
    }
  }

  @Test("a product without an order, beside one that has one, is not owned yet")
  func notOwnedYet() throws {
    let products = [
      Self.product("base", order: "GPA.1", expiry: 1000), PlayNews.Product(id: "add-on", expiry: 1000),
    ]
    let base = try Self.purchase([Self.subscription(products), Self.voided("GPA.1", 100)])
    #expect(base.productIds(at: PlayNews.instant(99)) == ["base"])
    #expect(base.items.map { base.state(of: $0, at: PlayNews.instant(99)) } == [.active, .pending])
    #expect(base.productIds(at: PlayNews.instant(100)).isEmpty)
    #expect(base.state(at: PlayNews.instant(100)) == .refunded)
    let addOn = try Self.purchase([Self.subscription(products), Self.voided("GPA.2", 100)])
    #expect(addOn.productIds(at: PlayNews.instant(100)) == ["base"])
  }

  @Test("of several products the quantity that was not refunded is told; with none left it is refunded")
  func quantities() throws {
    func bought(_ quantity: Int64, refundable: Int64?) -> PlayNews {
      .answer(
        PlayNews.Answer(
          token: "t1", asOf: 0, isSubscription: false, state: "PURCHASED",
          products: [
            PlayNews.Product(id: "coins", order: "GPA.1", quantity: quantity, refundable: refundable)
          ]))
    }
    func quantity(_ news: [PlayNews], at now: Int) throws -> (state: PlayEntitlement.State, quantity: Int64?)
    {
      let purchase = try Self.purchase(news)
      let told = try Self.told(purchase, at: now)
      #expect(
        told["lineItems"]?.array?.first?["state"]?.string
          == purchase.state(at: PlayNews.instant(now)).rawValue)
      let quantity = told["lineItems"]?.array?.first?["quantity"].map {
        String(decoding: $0.encoded(), as: UTF8.self)
      }
      return (purchase.state(at: PlayNews.instant(now)), quantity.flatMap { Int64($0) })
    }
    #expect(try quantity([bought(3, refundable: 3)], at: 1) == (.active, 3))
    #expect(try quantity([bought(3, refundable: 1)], at: 1) == (.active, 1))
    #expect(try quantity([bought(3, refundable: 0)], at: 1) == (.refunded, 0))
    #expect(try quantity([bought(1, refundable: nil)], at: 1) == (.active, 1))
    // A listed refund of a part voids that part.
    let parts = [
      bought(3, refundable: nil), Self.voided("GPA.1", 10, quantity: 1),
      Self.voided("GPA.1", 20, quantity: 2),
    ]
    #expect(try quantity(parts, at: 9) == (.active, 3))
    #expect(try quantity(parts, at: 10) == (.active, 2))
    #expect(try quantity(parts, at: 20) == (.refunded, 0))
    let together = [
      bought(3, refundable: nil), Self.voided("GPA.1", 10, quantity: 1),
      Self.voided("GPA.1", 10, quantity: 2),
    ]
    #expect(try quantity(together, at: 10) == (.refunded, 0))
    // It has but one order, whatever the refund calls it.
    #expect(try quantity([bought(1, refundable: nil), Self.voided("GPA.9", 10)], at: 10) == (.refunded, 0))
    // The same refund, listed and in the answer, is one.
    #expect(
      try quantity([bought(3, refundable: 2), Self.voided("GPA.1", 10, quantity: 1)], at: 10) == (.active, 2))
    #expect(try quantity([bought(3, refundable: nil), Self.voided("GPA.1", 10)], at: 10) == (.refunded, 0))
  }

  @Test("a listed refund of a part of the quantity voids nothing else")
  func part() throws {
    var ledger = EntitlementLedger()
    let id = try #require(PlayNews.id("t1"))
    let voided = VoidedPurchase().with {
      $0.purchaseToken = "t1"
      $0.orderId = "GPA.1"
      $0.voidedTimeMillis = PlayNews.instant(10)
      $0.voidedQuantity = 1
    }
    #expect(ledger.apply(voided, packageName: PlayFixture.packageName) == id)
    let bought = PlayNews.answer(
      PlayNews.Answer(
        token: "t1", asOf: 0, isSubscription: false, state: "PURCHASED",
        products: [PlayNews.Product(id: "coins", order: "GPA.1", quantity: 3)]))
    ledger.merge(try bought.change)
    #expect(ledger[id]?.state(at: PlayNews.instant(20)) == .active)
    #expect(ledger[id]?.voided == nil)
    #expect(ledger[id]?.nextChange(after: PlayNews.instant(0)) == PlayNews.instant(10))
  }

  @Test("a subscription bought again in the Play app is of the account of the expired one")
  func resubscription() throws {
    let product = [Self.product("pro", order: "GPA.1", expiry: 1000)]
    let before = Self.subscription(product, asOf: 1, expiredAccount: "alice")
    // Acknowledged, it says no more whose it is.
    let after = Self.subscription(product, asOf: 2)
    #expect(try Self.purchase([before]).obfuscatedAccountId == "alice")
    #expect(try Self.purchase([before, after]).obfuscatedAccountId == "alice")
    #expect(try Self.purchase([after]).obfuscatedAccountId == nil)
    // The account that the app itself states takes precedence, whenever it was stated.
    let stated = Self.subscription(product, asOf: 0, account: "bob")
    #expect(try Self.purchase([before, after, stated]).obfuscatedAccountId == "bob")
  }

  @Test("of the orders that were voided the latest 256 are kept, in any order")
  func bounded() throws {
    // A void that names no order concerns all of them, and is kept.
    let news = [Self.voided(nil, 3000)] + (0..<400).map { Self.voided("GPA.1..\($0)", 1000 - $0) }
    var random = SeededRandom(seed: 1)
    var encoded: Set<[UInt8]> = []
    for _ in 0..<3 {
      var ledger = EntitlementLedger()
      for each in news.shuffled(using: &random) { ledger.merge(try each.change) }
      encoded.insert(ledger.encoded())
      let present = Self.subscription([Self.product("pro", order: "GPA.1..399", expiry: 5000)])
      ledger.merge(try present.change)
      let id = try #require(PlayNews.id("t1"))
      #expect(ledger[id]?.state(at: PlayNews.instant(2000)) == .refunded)
      #expect(ledger.playPurchases.facts[id]?.voids?.count == 256)
      #expect(ledger.playPurchases.facts[id]?.voids?.first?.orderId == "GPA.1..145")
      #expect(ledger.playPurchases.facts[id]?.voids?.last?.orderId == nil)
    }
    #expect(encoded.count == 1)
  }

  // MARK: Ledgers of before

  /// As version 2 wrote it: one order for all products, one order that was voided.
  private static func old(_ facts: String) throws -> EntitlementLedger {
    try EntitlementLedger(
      decoding: Array(
        """
        {"version":2,"purchases":[],"playPurchases":[{"packageName":"\(PlayFixture.packageName)",\
        "purchaseToken":"t1","facts":{\(facts)}}]}
        """.utf8))
  }

  private static func milliseconds(_ now: Int) -> Int64 { Int64(PlayNews.instant(now).millisecondsSince1970) }

  private static func oldAnswer(_ order: String?, asOf: Int = 0) -> String {
    """
    "purchase":{"asOf":\(milliseconds(asOf)),"isSubscription":true,"state":"SUBSCRIPTION_STATE_ACTIVE",\
    "items":[{"productId":"base","expiryTime":\(milliseconds(1000)),"renews":true},\
    {"productId":"add-on","expiryTime":\(milliseconds(500))}]\(order.map { #","orderId":"\#($0)""# } ?? ""),\
    "accountId":"alice"}
    """
  }

  @Test("a ledger of version 2 keeps its meaning, and is written in version 3")
  func versionTwo() throws {
    let id = try #require(PlayNews.id("t1"))
    func voided(_ order: String, _ now: Int) -> String {
      #""voided":{"date":\#(Self.milliseconds(now)),"orderId":"\#(order)","reason":7}"#
    }
    var ledger = try Self.old(Self.oldAnswer("GPA.1..2"))
    #expect(ledger[id]?.state(at: PlayNews.instant(300)) == .active)
    #expect(ledger[id]?.items.map(\.orderId) == ["GPA.1..2", "GPA.1..2"])
    #expect(ledger[id]?.obfuscatedAccountId == "alice")
    ledger = try Self.old(Self.oldAnswer("GPA.1..2") + "," + voided("GPA.1..2", 100))
    #expect(ledger[id]?.state(at: PlayNews.instant(99)) == .active)
    #expect(ledger[id]?.state(at: PlayNews.instant(100)) == .refunded)
    #expect(
      try Self.old(Self.oldAnswer("GPA.1..2") + "," + voided("GPA.1..1", 100))[id]?.state(
        at: PlayNews.instant(100)) == .active)
    #expect(
      try Self.old(Self.oldAnswer(nil) + "," + voided("GPA.9", 100))[id]?.state(at: PlayNews.instant(100))
        == .refunded)

    let encoded = ledger.encoded()
    let text = String(decoding: encoded, as: UTF8.self)
    #expect(text.hasPrefix(#"{"version":3,"#))
    #expect(text.contains(#""voids":[{"#) && !text.contains(#""voided""#))
    #expect(try EntitlementLedger(decoding: encoded) == ledger)
    // A later void is kept in it, beside the earlier one.
    ledger.merge(try Self.voided("GPA.1..1", 200).change)
    #expect(ledger[id]?.state(at: PlayNews.instant(300)) == .refunded)
    #expect(ledger.playPurchases.facts[id]?.voids?.map(\.orderId) == ["GPA.1..1", "GPA.1..2"])
  }

  // MARK: On the wire

  @Test("Google's name of the phase that was left is read and written, and that of before is read")
  func prorationPeriod() throws {
    func phase(_ json: String) throws -> PlayOfferPhase {
      try PlayOfferPhase(json: Array(json.utf8), part: "offer phase", limits: .standard)
    }
    let right = #"{"prorationPeriod":{"originalOfferPhaseType":"FREE_TRIAL"}}"#
    for json in [right, right.replacing("PhaseType", with: "Phase")] {
      let read = try phase(json)
      #expect(read.prorationPeriod?.originalOfferPhase == .freeTrial)
      #expect(String(decoding: read.encodedJSON(), as: UTF8.self) == right)
    }
    let both = #"{"prorationPeriod":{"originalOfferPhase":"BASE","originalOfferPhaseType":"FREE_TRIAL"}}"#
    for json in [
      both, #"{"prorationPeriod":{"originalOfferPhaseType":"FREE_TRIAL","originalOfferPhase":"BASE"}}"#,
    ] {
      #expect(try phase(json).prorationPeriod?.originalOfferPhase == .freeTrial)
    }
    #expect(
      try phase(#"{"prorationPeriod":{"originalOfferPhaseType":"ORIGINAL_OFFER_PHASE_TYPE_UNSPECIFIED"}}"#)
        .prorationPeriod?.originalOfferPhase == .unspecified)
  }

  @Test("the order that waits for a payment is known in the grace period and on hold")
  func renewalProblems() throws {
    let json = """
      {"subscriptionState":"SUBSCRIPTION_STATE_ON_HOLD",\
      "inGracePeriodStateContext":{"renewalDeclined":{"pendingOrderId":"GPA.1..3"}},\
      "onHoldStateContext":{"renewalDeclined":{"pendingOrderId":"GPA.1..4"}}}
      """
    let purchase = try SubscriptionPurchaseV2(json: Array(json.utf8), part: "answer", limits: .standard)
    #expect(purchase.inGracePeriodStateContext?.renewalDeclined?.pendingOrderId == "GPA.1..3")
    #expect(purchase.onHoldStateContext?.renewalDeclined?.pendingOrderId == "GPA.1..4")
    #expect(purchase.unknownFields.isEmpty)
    #expect(String(decoding: purchase.encodedJSON(), as: UTF8.self) == json)
  }
}
