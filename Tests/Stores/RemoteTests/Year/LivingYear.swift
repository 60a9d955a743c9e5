// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import FoundationEssentials
import ReceiptCodec
import Storefront

/// A year at an emulated store: subscriptions begin in its first month, and then their customers do everything that can
/// be done with them. The same seed makes the same year.
struct LivingYear {
  static let start = Timestamp(secondsSince1970: 1_735_689_600)  // 2025-01-01T00:00:00Z
  static let end = start.addingSeconds(365 * day)
  static let bundleIdentifier = "com.example.year"
  private static let day: Double = 86_400

  /// The actions of a customer, or of the store's operator, on a subscription.
  enum Deed: CaseIterable {
    case cancel, resume, crossgrade, upgrade, stay, agree, disagree, extend, renew, refund, refundPart,
      reverseRefund
    case declineRefund, requestRefund, failBilling, mendBilling, joinFamily, revoke, leaveFamily
    case subscribeAgain, winBack, redeemCode, redeemToChange
  }

  let store: EmulatedAppStore
  private var random: SeededGenerator
  private let count: Int
  private(set) var accounts: [String] = []
  /// The number of times that each action was done.
  private(set) var deeds: [Deed: Int] = [:]

  init(subscriptions count: Int, seed: UInt64, at store: EmulatedAppStore) {
    self.count = count
    self.store = store
    random = SeededGenerator(seed: seed)
  }

  private var purchases: LocalStore { store.purchases }

  static func options(seed: UInt64, gracePeriodDays: Int?) -> LocalStore.Options {
    LocalStore.Options(
      engine: SubscriptionEngine.Options(
        bundleIdentifier: bundleIdentifier, seed: seed, gracePeriodDays: gracePeriodDays,
        billing: .random(failures: 0.1, recoveries: 0.04)))
  }

  mutating func pass() async throws {
    // Enough for each deed to be done several times.
    let number = max(6 * Deed.allCases.count, count * 2)
    var done = 0
    for day in 0..<365 {
      try await store.advance(to: Self.start.addingSeconds(Double(day) * Self.day))
      while day < 30, accounts.count < count * (day + 1) / 30 { try await begin() }
      if let change = Self.change(on: day) { try await purchases.perform(change) }
      while done < number * day / 365 {
        try await perform(Deed.allCases[done % Deed.allCases.count])
        done += 1
      }
      try await store.performDue()
    }
    try await store.advance(to: Self.end)
  }

  private mutating func begin() async throws {
    let account = "customer-\(accounts.count)"
    accounts.append(account)
    // Few are weekly: they renew 52 times.
    let product =
      accounts.count % 16 == 1
      ? "news" : ["max", "plus", "basic", "basic", "basic.yearly"].randomElement(using: &random)
    try await buy(product ?? "basic", account)
  }

  /// Returns the vendor's change of that day, if any.
  private static func change(on day: Int) -> SubscriptionChange? {
    switch day {
    case 75: .changePrice(of: "basic", to: 5, needsConsent: false)
    case 100, 200, 300: .changePrice(of: "plus", to: Decimal(8 + day / 100), needsConsent: true)
    case 150: .extendAll(of: "max", byDays: 3, in: nil)
    case 320: .setForSale(false, "plus")
    default: nil
    }
  }

  /// - Returns: Whether it was sold.
  @discardableResult
  private func buy(_ product: String, _ account: String, _ offer: PaymentOffer? = nil) async throws -> Bool {
    let identifier = "\(account)/\(try await purchases.eventCount())"
    let outcome = try await purchases.session(account: account).purchase(
      PurchaseRequest(id: identifier, payment: Payment(productIdentifier: product, offer: offer)))
    guard case .purchased = outcome else { return false }
    return true
  }

  /// Does something with the first subscription, from a random one on, whose rules allow it.
  private mutating func perform(_ deed: Deed) async throws {
    guard !accounts.isEmpty else { return }
    let first = Int.random(in: 0..<accounts.count, using: &random)
    for offset in 0..<min(accounts.count, 200) {
      let account = accounts[(first + offset) % accounts.count]
      for state in try await purchases.subscriptionStates(of: account) {
        do {
          guard try await perform(deed, with: state.subscription, of: account) else { continue }
          deeds[deed, default: 0] += 1
          return
        } catch let error as LocalStoreError where [.refused, .notFound].contains(error.code) {}
      }
    }
  }

  /// - Returns: Whether it was possible.
  private mutating func perform(
    _ deed: Deed, with subscription: Subscription, of account: String
  ) async throws -> Bool {
    let (id, purchases) = (subscription.id, purchases)
    func transactions() async throws -> [JWSTransaction] {
      try await purchases.history(of: account) { $0.originalIdentifier == id }.sales.map(\.transaction)
    }
    switch deed {
    case .cancel, .resume:
      guard subscription.autoRenews == (deed == .cancel) else { return false }
      try await purchases.perform(.setAutoRenew(deed == .resume, of: id))
    case .crossgrade:
      let product = ["max", "plus", "basic", "basic.yearly"].randomElement(using: &random) ?? "plus"
      guard product != subscription.autoRenewProductIdentifier else { return false }
      try await purchases.perform(.changeRenewal(of: id, to: product))
    case .upgrade:
      guard subscription.productIdentifier != "max" else { return false }
      try await purchases.perform(.changeRenewal(of: id, to: "max"))
    case .stay:
      let product = subscription.productIdentifier
      guard product != subscription.autoRenewProductIdentifier else { return false }
      try await purchases.perform(.changeRenewal(of: id, to: product))
    case .agree, .disagree:
      guard subscription.priceIncreaseStatus == .noResponse else { return false }
      try await purchases.perform(.answerPriceIncrease(of: id, consents: deed == .agree))
    case .extend: try await purchases.perform(.extend(id, byDays: 10))
    case .renew: try await purchases.perform(.renewNow(id))
    case .refund: try await purchases.refund(subscription.transaction.transactionId ?? "")
    case .refundPart, .requestRefund, .declineRefund:
      guard let past = try await transactions().randomElement(using: &random)?.transactionId else {
        return false
      }
      switch deed {
      case .refundPart: try await purchases.refund(past, reason: .issue, amount: .prorated(40_000))
      case .requestRefund: try await purchases.requestConsumption(past)
      default: try await purchases.declineRefund(past)
      }
    case .reverseRefund:
      guard
        let refunded = try await transactions().last(where: {
          $0.revocationDate != nil && $0.inAppOwnershipType == .purchased
        })
      else { return false }
      try await purchases.reverseRefund(refunded.transactionId ?? "")
    case .failBilling, .mendBilling:
      try await purchases.perform(.setBillingIssue(deed == .failBilling, of: account))
    case .joinFamily:
      guard let other = accounts.randomElement(using: &random), other != account,
        subscription.expirationIntent == nil, !subscription.isFamilyShared,
        ["max", "basic.yearly"].contains(subscription.productIdentifier)
      else { return false }
      try await purchases.addToFamily(other, of: account)
    case .leaveFamily: try await purchases.removeFromFamily(account)
    case .revoke:
      guard subscription.isFamilyShared else { return false }
      try await purchases.revoke(subscription.transaction.transactionId ?? "")
    case .subscribeAgain:
      guard subscription.expirationIntent != nil else { return false }
      return try await buy(subscription.productIdentifier, account)
    case .winBack: return try await buy("basic", account, .winBack("come-back"))
    case .redeemCode, .redeemToChange:
      guard (subscription.productIdentifier == "plus") == (deed == .redeemCode) else { return false }
      return try await buy("plus", account, .code("SPRING"))
    }
    return true
  }

  static let catalog: ProductCatalog = {
    func product(
      _ identifier: String, _ group: String = "plans", level: Int, _ period: SubscriptionPeriod?,
      _ price: Decimal, isShared: Bool = false, offers: [SubscriptionOffer] = []
    ) -> CatalogProduct? {
      period.map {
        CatalogProduct(
          productIdentifier: identifier, type: .autoRenewableSubscription, price: price,
          isFamilyShareable: isShared,
          subscription: SubscriptionTerms(groupIdentifier: group, level: level, period: $0, offers: offers))
      }
    }
    let (week, month) = (SubscriptionPeriod("P1W"), SubscriptionPeriod("P1M"))
    var (trials, codes, winBacks): ([SubscriptionOffer], [SubscriptionOffer], [SubscriptionOffer]) = (
      [], [], []
    )
    if let week, let month {
      trials = [SubscriptionOffer(type: .introductory, paymentMode: .freeTrial, period: week)]
      codes = [
        SubscriptionOffer(
          type: .offerCode, identifier: "spring", paymentMode: .payUpFront, period: month, periodCount: 2,
          price: 5, codes: ["SPRING"])
      ]
      winBacks = [
        SubscriptionOffer(
          type: .winBack, identifier: "come-back", paymentMode: .payAsYouGo, period: month, periodCount: 2,
          price: 1)
      ]
    }
    let products = [
      product("max", level: 1, month, 12, isShared: true),
      product("plus", level: 2, month, 8, offers: trials + codes),
      product("basic", level: 3, month, 4, offers: trials + winBacks),
      product("basic.yearly", level: 3, SubscriptionPeriod("P1Y"), 40, isShared: true),
      product("news", "press", level: 1, week, 1),
    ]
    return ProductCatalog(
      products: products.compactMap(\.self),
      subscriptionGroups: [SubscriptionGroup(id: "plans"), SubscriptionGroup(id: "press")])
  }()
}
