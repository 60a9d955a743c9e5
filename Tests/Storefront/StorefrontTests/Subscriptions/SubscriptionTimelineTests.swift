// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptTesting
import Storefront
import Synchronization
import Testing

/// Schedules that are written out day by day, so that they do not follow from the engine's own arithmetic. Sources:
/// Apple, "Auto-renewable subscriptions" (periods, upgrades), "Reducing involuntary subscriber churn" and "Enable Billing
/// Grace Period" (billing retry of 60 days; grace of 3, 16 or 28 days, 6 at most where the period is a week), "Manage
/// pricing for auto-renewable subscriptions" (consent).
@Suite struct SubscriptionTimelineTests {
  private static func catalog() throws -> ProductCatalog {
    var products: [CatalogProduct] = []
    for period in ["P3D", "P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"] {
      var product = CatalogProduct(productIdentifier: period, type: .autoRenewableSubscription, price: 10)
      product.subscription = SubscriptionTerms(
        groupIdentifier: period, period: try #require(SubscriptionPeriod(period)),
        offers: [
          try StoreFixture.offer(.offerCode, "half", .payAsYouGo, "P1M", count: 3, price: 5, codes: ["HALF"])
        ])
      products.append(product)
    }
    return ProductCatalog(products: products)
  }

  /// An engine, what it did, and when it tried to charge.
  private final class Life {
    var engine: SubscriptionEngine
    var log: [String] = []
    let charges: Charges

    final class Charges: Sendable {
      private let state = Mutex<(dates: [String], acceptsFrom: Timestamp?)>(([], nil))

      /// Charges fail until then.
      var acceptsFrom: Timestamp? {
        get { state.withLock { $0.acceptsFrom } }
        set { state.withLock { $0.acceptsFrom = newValue } }
      }
      var dates: [String] { state.withLock { $0.dates } }

      func accept(_ attempt: BillingAttempt) -> Bool {
        state.withLock { state in
          state.dates.append(String(attempt.date.iso8601.prefix(10)))
          return state.acceptsFrom.map { attempt.date >= $0 } ?? true
        }
      }
    }

    init(grace: Int? = nil) throws {
      let charges = Charges()
      self.charges = charges
      var options = SubscriptionEngine.Options(bundleIdentifier: StoreFixture.bundle, gracePeriodDays: grace)
      options.billing = BillingPolicy { charges.accept($0) }
      engine = SubscriptionEngine(catalog: try SubscriptionTimelineTests.catalog(), options: options)
    }

    func buy(_ product: String, at text: String, offer: PaymentOffer? = nil) throws -> String {
      let date = try Timestamp(iso8601: text)
      let bought = try engine.subscribe(product, account: "a", offer: offer, at: date)
      note(bought.events)
      return bought.transaction.originalTransactionId ?? ""
    }

    func pass(to text: String) throws {
      note(engine.advance(to: try Timestamp(iso8601: text), atMost: .max).0)
    }

    func note(_ events: [StoreEvent]) {
      for event in events {
        let date = event.signedDate.iso8601.prefix(16)
        let end = (event.transaction.expiresDate?.iso8601 ?? "").prefix(16)
        let names = [event.type.rawValue, event.subtype?.rawValue].compactMap(\.self).joined(separator: " ")
        log.append("\(date) \(names) until \(end)")
      }
    }
  }

  @Test(
    "periods end on the day on which the first one began, or on the last day of a shorter month",
    arguments: [
      ("P1W", "2025-01-31T10:00:00Z", ["2025-02-07", "2025-02-14", "2025-02-21"]),
      ("P1M", "2025-01-31T10:00:00Z", ["2025-02-28", "2025-03-31", "2025-04-30", "2025-05-31"]),
      ("P2M", "2025-01-31T10:00:00Z", ["2025-03-31", "2025-05-31", "2025-07-31", "2025-09-30"]),
      ("P3M", "2025-01-31T10:00:00Z", ["2025-04-30", "2025-07-31", "2025-10-31", "2026-01-31"]),
      ("P6M", "2025-08-31T10:00:00Z", ["2026-02-28", "2026-08-31", "2027-02-28"]),
      ("P1Y", "2024-02-29T10:00:00Z", ["2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]),
    ])
  func periods(product: String, start: String, ends: [String]) throws {
    let life = try Life()
    let id = try life.buy(product, at: start)
    var found: [String] = []
    for end in ends {
      let expires = try #require(life.engine[id]?.expiresDate)
      found.append(String(expires.iso8601.prefix(16)))
      try life.pass(to: "\(end)T10:00:00Z")
    }
    #expect(found == ends.map { "\($0)T10:00" })
    #expect(life.log.count == ends.count + 1)
  }

  @Test("grace is 16 days of a monthly plan, and billing retry ends after 60")
  func monthlyGrace() throws {
    let life = try Life(grace: 16)
    life.charges.acceptsFrom = try Timestamp(iso8601: "2030-01-01T00:00:00Z")
    let id = try life.buy("P1M", at: "2025-01-01T00:00:00Z")
    try life.pass(to: "2025-02-16T23:59:59.999Z")
    let before = try Timestamp(iso8601: "2025-02-16T23:59:59.999Z")
    #expect(life.engine[id]?.status(at: before) == .inGracePeriod)
    let end = try Timestamp(iso8601: "2025-02-17T00:00:00Z")
    #expect(life.engine[id]?.status(at: end) == .inBillingRetry)
    try life.pass(to: "2026-01-01T00:00:00Z")
    #expect(
      life.log == [
        "2025-01-01T00:00 SUBSCRIBED INITIAL_BUY until 2025-02-01T00:00",
        "2025-02-01T00:00 DID_FAIL_TO_RENEW GRACE_PERIOD until 2025-02-01T00:00",
        "2025-02-17T00:00 GRACE_PERIOD_EXPIRED until 2025-02-01T00:00",
        "2025-04-02T00:00 EXPIRED BILLING_RETRY until 2025-02-01T00:00",
      ])
    // The renewal, and once on each of the 59 days between.
    #expect(life.charges.dates.prefix(4) == ["2025-02-01", "2025-02-02", "2025-02-03", "2025-02-04"])
    #expect(life.charges.dates.last == "2025-04-01" && life.charges.dates.count == 60)
  }

  @Test("grace is six days at most of a weekly plan, and of a shorter one", arguments: [3, 6, 16, 28])
  func weeklyGrace(days: Int) throws {
    let life = try Life(grace: days)
    life.charges.acceptsFrom = try Timestamp(iso8601: "2030-01-01T00:00:00Z")
    _ = try life.buy("P1W", at: "2025-01-01T00:00:00Z")
    try life.pass(to: "2025-02-01T00:00:00Z")
    let end = days == 3 ? "2025-01-11" : "2025-01-14"
    #expect(
      life.log.dropFirst() == [
        "2025-01-08T00:00 DID_FAIL_TO_RENEW GRACE_PERIOD until 2025-01-08T00:00",
        "\(end)T00:00 GRACE_PERIOD_EXPIRED until 2025-01-08T00:00",
      ])
  }

  @Test("what is recovered in grace keeps its dates; later the period begins with the recovery")
  func recovery() throws {
    for (grace, days, expected) in [
      (16, 1, "2025-02-02T00:00 DID_RENEW BILLING_RECOVERY until 2025-03-01T00:00"),
      (16, 15, "2025-02-16T00:00 DID_RENEW BILLING_RECOVERY until 2025-03-01T00:00"),
      (16, 16, "2025-02-17T00:00 DID_RENEW BILLING_RECOVERY until 2025-03-17T00:00"),
      (nil, 1, "2025-02-02T00:00 DID_RENEW BILLING_RECOVERY until 2025-03-02T00:00"),
    ] as [(Int?, Int, String)] {
      let life = try Life(grace: grace)
      life.charges.acceptsFrom = try Timestamp(iso8601: "2025-02-01T00:00:00Z").addingSeconds(
        Double(days) * 86_400)
      _ = try life.buy("P1M", at: "2025-01-01T00:00:00Z")
      try life.pass(to: "2025-02-20T00:00:00Z")
      #expect(life.log.last == expected)
    }
  }

  @Test("a period that was over before it was paid for begins with the payment")
  func paidTooLate() throws {
    let life = try Life(grace: 6)
    life.charges.acceptsFrom = try Timestamp(iso8601: "2025-01-09T00:00:00Z")
    _ = try life.buy("P3D", at: "2025-01-01T00:00:00Z")
    try life.pass(to: "2025-01-09T00:00:00Z")
    #expect(
      life.log.dropFirst() == [
        "2025-01-04T00:00 DID_FAIL_TO_RENEW GRACE_PERIOD until 2025-01-04T00:00",
        "2025-01-09T00:00 DID_RENEW BILLING_RECOVERY until 2025-01-12T00:00",
      ])
  }

  @Test("an unanswered price increase waits for the end of an offer")
  func priceIncreaseDuringAnOffer() throws {
    let life = try Life()
    let id = try life.buy("P1M", at: "2025-01-01T00:00:00Z", offer: .code("HALF"))
    let raised = try Timestamp(iso8601: "2025-01-10T00:00:00Z")
    life.note(
      try life.engine.operate(at: raised) {
        try $0.perform(.changePrice(of: "P1M", to: 20, needsConsent: true))
      })
    var prices: [Int64?] = []
    for month in ["2025-02-01", "2025-03-01"] {
      try life.pass(to: "\(month)T00:00:00Z")
      prices.append(life.engine[id]?.transaction.price)
    }
    #expect(prices == [5000, 5000])
    try life.pass(to: "2025-05-01T00:00:00Z")
    #expect(
      life.log.suffix(4) == [
        "2025-01-10T00:00 PRICE_INCREASE PENDING until 2025-02-01T00:00",
        "2025-02-01T00:00 DID_RENEW until 2025-03-01T00:00",
        "2025-03-01T00:00 DID_RENEW until 2025-04-01T00:00",
        "2025-04-01T00:00 EXPIRED PRICE_INCREASE until 2025-04-01T00:00",
      ])
  }

  @Test("what happened before an operation that is refused is returned by the next one")
  func nothingIsLost() throws {
    let life = try Life()
    let id = try life.buy("P1M", at: "2025-01-01T00:00:00Z")
    let later = try Timestamp(iso8601: "2025-02-15T00:00:00Z")
    #expect(throws: SubscriptionError.self) {
      try life.engine.operate(at: later) { try $0.perform(.setAutoRenew(false, of: "nothing")) }
    }
    life.note(try life.engine.operate(at: later) { try $0.perform(.setAutoRenew(false, of: id)) })
    #expect(
      life.log.dropFirst() == [
        "2025-02-01T00:00 DID_RENEW until 2025-03-01T00:00",
        "2025-02-15T00:00 DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED until 2025-03-01T00:00",
      ])
  }

  @Test(
    "the sandbox's periods",
    arguments: [("P3D", 2.0), ("P1W", 3), ("P1M", 5), ("P2M", 10), ("P3M", 15), ("P6M", 30), ("P1Y", 60)])
  func sandboxPeriods(period: String, minutes: Double) throws {
    let end = SubscriptionCalendar.sandbox.end(
      of: try #require(SubscriptionPeriod(period)), from: StoreFixture.start)
    #expect(end == StoreFixture.start.addingSeconds(minutes * 60))
  }
}
