// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import Storefront

/// A year of a store with many subscriptions: renewals, failures, offers, changes and refunds, each signed as
/// transaction, renewal information and notification. Nothing is kept of an event once it was signed.
enum SimulationMeasurement {
  static func run(subscriptions count: Int, seed: UInt64) throws {
    let now = Timestamp(secondsSince1970: 1_735_689_600)
    let identity = try SigningIdentity.create(.init(organization: "Bench", start: now.addingSeconds(-86_400)))
    let signer = try StoreEventSigner(identity: identity)
    var year = Year(seed: seed, signer: signer)
    let start = Clock.seconds()
    try year.simulate(count, from: now)
    let seconds = Clock.seconds() - start
    print(
      "\(count) subscriptions, a year, seed \(seed): \(year.events) events, \(year.events * 3) signatures at most"
    )
    for (name, number) in year.names.sorted(by: { $0.key < $1.key }) { print("  \(number)\t\(name)") }
    let digest = year.digest.finalize().map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }
    print("payloads: \(year.payloadBytes >> 20) MiB, sha256 \(digest.joined())")
    print("notifications: \(year.notificationBytes >> 20) MiB")
    print(
      "\((seconds * 100).rounded() / 100) s, resident \(memory("VmRSS")) MiB now, \(memory("VmHWM")) MiB at most"
    )
  }

  private struct Year: ~Copyable {
    var engine: SubscriptionEngine
    let signer: StoreEventSigner
    var random: SeededGenerator
    var events = 0
    var payloadBytes = 0
    var notificationBytes = 0
    var names: [String: Int] = [:]
    var digest = IncrementalDigest(.sha256)

    init(seed: UInt64, signer: StoreEventSigner) {
      var options = SubscriptionEngine.Options(bundleIdentifier: "com.example.bench", seed: seed)
      options.gracePeriodDays = 16
      options.billing = .random(failures: 0.04, recoveries: 0.06)
      engine = SubscriptionEngine(catalog: SimulationMeasurement.catalog, options: options)
      self.signer = signer
      random = SeededGenerator(seed: seed)
    }

    mutating func simulate(_ count: Int, from start: Timestamp) throws {
      var lines: [String] = []
      for day in 0..<365 {
        let now = start.addingSeconds(Double(day) * 86_400)
        try advance(to: now)
        // All begin within the first month.
        while day < 30, lines.count < count * (day + 1) / 30 {
          let product = ["basic", "plus", "max", "basic.yearly"][Int.random(in: 0..<4, using: &random)]
          let offer: PaymentOffer? =
            Int.random(in: 0..<10, using: &random) == 0 && product == "basic" ? .code("HELLO") : nil
          let purchase = try engine.subscribe(product, account: "a\(lines.count)", offer: offer, at: now)
          lines.append(purchase.transaction.originalTransactionId ?? "")
          try sign(purchase.events)
        }
        for _ in 0..<(lines.count / 300) {
          try change(lines[Int.random(in: 0..<lines.count, using: &random)], at: now)
        }
        if day == 180 {
          try sign(engine.changePrice(of: "plus", to: 8990, needsConsent: true, at: now))
        }
      }
    }

    private mutating func advance(to now: Timestamp) throws {
      while true {
        let (due, isDone) = engine.advance(to: now, atMost: 64)
        try sign(due)
        if isDone { return }
      }
    }

    /// What a customer does who changes their mind. What the rules refuse is left.
    private mutating func change(_ id: String, at now: Timestamp) throws {
      guard let subscription = engine[id] else { return }
      let choice = Int.random(in: 0..<8, using: &random)
      do {
        switch choice {
        case 0, 1: try sign(engine.setAutoRenew(!subscription.autoRenews, of: id, at: now))
        case 2: try sign(engine.changeRenewal(of: id, to: "max", at: now))
        case 3: try sign(engine.changeRenewal(of: id, to: "basic", at: now))
        case 4: try sign(engine.answerPriceIncrease(of: id, consents: true, at: now))
        case 5: try sign(engine.extend(id, byDays: 3, at: now))
        case 6: try sign(engine.refund(subscription.transaction, account: subscription.account, at: now))
        default:
          let product = subscription.productIdentifier
          try sign(engine.subscribe(product, account: subscription.account, at: now).events)
        }
      } catch is SubscriptionError {
      } catch is StoreError {
      }
    }

    private mutating func sign(_ new: [StoreEvent]) throws {
      for event in new {
        let signed = try signer.sign(event)
        events += 1
        notificationBytes += signed.notification.utf8.count
        for payload in [event.transaction.encoded(), event.renewalInfo?.encoded() ?? []] {
          payloadBytes += payload.count
          digest.update(payload)
        }
        names[event.type.rawValue + (event.subtype.map { " " + $0.rawValue } ?? ""), default: 0] += 1
      }
    }
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
