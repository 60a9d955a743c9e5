// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import Storefront
internal import FoundationEssentials

/// A year of a store with many subscriptions: renewals, failures of billing, offers, changes of mind, a higher price,
/// extensions and refunds. The same seed makes the same year.
package struct SimulatedYear: ~Copyable {
  /// When it begins: 2025-01-01.
  package static let start = Timestamp(secondsSince1970: 1_735_689_600)
  /// When it is over.
  package static let end = start.addingSeconds(365 * 86_400)
  package static let bundleIdentifier = "com.example.year"

  package private(set) var engine: SubscriptionEngine
  private var random: SeededGenerator
  private let count: Int
  private let take: (StoreEvent) throws -> Void

  /// Prepares a year.
  ///
  /// - Parameters:
  ///   - subscriptions: How many there are; all begin within the first month.
  ///   - seed: Decides all that happens.
  ///   - take: Given each event as it happens; they are not kept.
  package init(subscriptions: Int, seed: UInt64, take: @escaping (StoreEvent) throws -> Void) {
    var options = SubscriptionEngine.Options(bundleIdentifier: Self.bundleIdentifier, seed: seed)
    options.gracePeriodDays = 16
    options.billing = .random(failures: 0.04, recoveries: 0.06)
    engine = SubscriptionEngine(catalog: Self.catalog, options: options)
    random = SeededGenerator(seed: seed)
    count = subscriptions
    self.take = take
  }

  /// Lets the year pass.
  package mutating func run() throws {
    var lines: [String] = []
    for day in 0..<365 {
      let now = Self.start.addingSeconds(Double(day) * 86_400)
      try advance(to: now)
      while day < 30, lines.count < count * (day + 1) / 30 {
        let product = ["basic", "plus", "max", "basic.yearly"][Int.random(in: 0..<4, using: &random)]
        let offer: PaymentOffer? =
          Int.random(in: 0..<10, using: &random) == 0 && product == "basic" ? .code("HELLO") : nil
        let purchase = try engine.subscribe(product, account: "a\(lines.count)", offer: offer, at: now)
        lines.append(purchase.transaction.originalTransactionId ?? "")
        try take(all: purchase.events)
      }
      for _ in 0..<(lines.count / 300) {
        try change(lines[Int.random(in: 0..<lines.count, using: &random)], at: now)
      }
      if day == 180 {
        try take(
          all: engine.operate(at: now) {
            try $0.perform(.changePrice(of: "plus", to: 899 / 100, needsConsent: true))
          })
      }
    }
    try advance(to: Self.end)
  }

  private mutating func advance(to now: Timestamp) throws {
    while true {
      let (due, isDone) = engine.advance(to: now, atMost: 64)
      try take(all: due)
      if isDone { return }
    }
  }

  /// Makes a random change, as a customer who changes their mind does. Changes that the rules refuse are skipped.
  private mutating func change(_ id: String, at now: Timestamp) throws {
    guard let subscription = engine[id] else { return }
    let choice = Int.random(in: 0..<8, using: &random)
    let events: [StoreEvent]
    do {
      let change: (inout SubscriptionEngine) throws -> Void
      switch choice {
      case 0, 1: change = { try $0.perform(.setAutoRenew(!subscription.autoRenews, of: id)) }
      case 2: change = { try $0.perform(.changeRenewal(of: id, to: "max")) }
      case 3: change = { try $0.perform(.changeRenewal(of: id, to: "basic")) }
      case 4: change = { try $0.perform(.answerPriceIncrease(of: id, consents: true)) }
      case 5: change = { try $0.perform(.extend(id, byDays: 3)) }
      case 6: change = { try $0.refund(subscription.transaction, account: subscription.account) }
      default:
        let product = subscription.productIdentifier
        try take(all: engine.subscribe(product, account: subscription.account, at: now).events)
        return
      }
      events = try engine.operate(at: now, change)
    } catch is SubscriptionError {
      return
    } catch is StoreError {
      return
    }
    try take(all: events)
  }

  private func take(all events: [StoreEvent]) throws {
    for event in events { try take(event) }
  }

  private static let catalog: ProductCatalog = {
    func product(_ identifier: String, level: Int, _ period: String, _ price: Int, trial: Bool)
      -> CatalogProduct?
    {
      guard let period = SubscriptionPeriod(period), let week = SubscriptionPeriod("P1W"),
        let month = SubscriptionPeriod("P1M")
      else { return nil }
      var offers: [SubscriptionOffer] = []
      if trial {
        offers.append(SubscriptionOffer(type: .introductory, paymentMode: .freeTrial, period: week))
      }
      offers.append(
        SubscriptionOffer(
          type: .offerCode, identifier: "hello", paymentMode: .payAsYouGo, period: month, periodCount: 3,
          price: 1,
          codes: ["HELLO"]))
      return CatalogProduct(
        productIdentifier: identifier, type: .autoRenewableSubscription, price: Decimal(price),
        subscription: SubscriptionTerms(groupIdentifier: "g", level: level, period: period, offers: offers))
    }
    let products = [
      product("max", level: 1, "P1M", 12, trial: false), product("plus", level: 2, "P1M", 8, trial: true),
      product("basic", level: 3, "P1M", 4, trial: true),
      product("basic.yearly", level: 3, "P1Y", 40, trial: false),
    ]
    return ProductCatalog(
      products: products.compactMap(\.self), subscriptionGroups: [SubscriptionGroup(id: "g")])
  }()
}
