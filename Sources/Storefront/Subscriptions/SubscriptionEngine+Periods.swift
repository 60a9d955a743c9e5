// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A redeemed offer with its price.
struct RedeemedOffer: Sendable, Hashable {
  let type: OfferType
  let identifier: String?
  let paymentMode: OfferDiscountType
  /// The period of one charge: a free trial or an offer that is paid up front has a single long one.
  let period: SubscriptionPeriod
  /// The number of charges.
  let count: Int
  let price: Int64
  /// The identifier or code to record with the subscription, if it can be redeemed only once.
  let token: String?

  init?(_ offer: SubscriptionOffer, token: String? = nil) {
    guard let price = Milliunits.of(offer.price), offer.periodCount > 0 else { return nil }
    if offer.paymentMode == .payAsYouGo {
      period = offer.period
      count = offer.periodCount
    } else {
      guard let whole = SubscriptionPeriod(offer.period.count * offer.periodCount, offer.period.unit) else {
        return nil
      }
      period = whole
      count = 1
    }
    type = offer.type
    identifier = offer.identifier
    paymentMode = offer.paymentMode
    self.price = offer.paymentMode == .freeTrial ? 0 : price
    self.token = token
  }

  /// The part of the offer that applies to renewals.
  func renewals(_ remaining: Int, of productIdentifier: String) -> Subscription.RenewalOffer? {
    guard remaining > 0 else { return nil }
    var offer = Subscription.RenewalOffer()
    offer.productIdentifier = productIdentifier
    offer.type = type
    offer.identifier = identifier
    offer.paymentMode = paymentMode
    offer.period = period.description
    offer.price = price
    offer.remaining = Int64(remaining)
    return offer
  }
}

/// The beginning of periods.
extension SubscriptionEngine {
  /// The price and length of one period.
  struct PeriodTerms {
    var productIdentifier: String
    var period: SubscriptionPeriod
    var price: Int64
    var offerType: OfferType?
    var offerIdentifier: String?
    var paymentMode: OfferDiscountType?
  }

  /// Begins a purchased period: a new subscription, a resubscription, or an immediate change to another product.
  mutating func buy(
    _ product: CatalogProduct, _ terms: SubscriptionTerms, price: Int64, offer: RedeemedOffer?,
    for subscription: inout Subscription, at stamp: Timestamp
  ) {
    var period = PeriodTerms(
      productIdentifier: product.productIdentifier, period: terms.period, price: price)
    if let offer {
      period.period = offer.period
      period.price = offer.price
      period.offerType = offer.type
      period.offerIdentifier = offer.identifier
      period.paymentMode = offer.paymentMode
      if offer.type == .introductory { subscription.hasHadIntroductoryOffer = true }
      if let token = offer.token { subscription.redeemedOffers.append(token) }
    }
    subscription.autoRenewProductIdentifier = product.productIdentifier
    subscription.renewalPrice = price
    subscription.productPrice = price
    subscription.renewalOffer = offer?.renewals((offer?.count ?? 1) - 1, of: product.productIdentifier)
    subscription.autoRenews = true
    subscription.increasedPrice = nil
    subscription.priceIncreaseStatus = nil
    subscription.hasRefusedPrice = false
    subscription.anchorDay = Int64(options.calendar.anchorDay(of: stamp))
    begin(
      period, of: &subscription, product: product, terms: terms, from: stamp, purchasedAt: stamp,
      reason: .purchase)
  }

  /// Begins a period: creates its transaction, and clears the state of failed renewals.
  mutating func begin(
    _ period: PeriodTerms, of subscription: inout Subscription, product: CatalogProduct,
    terms: SubscriptionTerms, from start: Timestamp, purchasedAt purchaseDate: Timestamp,
    reason: TransactionReason
  ) {
    let end = options.calendar.end(of: period.period, from: start, anchorDay: Int(subscription.anchorDay))
    let identifier = nextTransactionIdentifier()
    let previous = subscription.transaction
    subscription.transaction = JWSTransaction().with {
      $0.originalTransactionId = previous.originalTransactionId ?? identifier
      $0.transactionId = identifier
      $0.webOrderLineItemId = Self.lineItem(of: identifier)
      $0.bundleId = options.bundleIdentifier
      $0.productId = product.productIdentifier
      $0.subscriptionGroupIdentifier = terms.groupIdentifier
      $0.purchaseDate = purchaseDate
      $0.originalPurchaseDate = previous.originalPurchaseDate ?? purchaseDate
      $0.expiresDate = end
      $0.quantity = 1
      $0.type = .autoRenewableSubscription
      $0.appAccountToken = Self.accountToken(subscription.applicationUsername)
      $0.inAppOwnershipType = .purchased
      $0.isUpgraded = nil
      $0.offerType = period.offerType
      $0.offerIdentifier = period.offerIdentifier
      $0.environment = options.environment
      $0.storefront = options.storefront
      $0.transactionReason = reason
      $0.appTransactionId = previous.appTransactionId ?? appTransactionIdentifier(of: subscription.account)
      $0.currency = product.currency
      $0.price = period.price
      $0.offerDiscountType = period.paymentMode
      $0.offerPeriod = period.offerType == nil ? nil : period.period.description
    }
    if period.period.unit == .day || period.period.unit == .week {
      subscription.anchorDay = Int64(options.calendar.anchorDay(of: end))
    }
    if period.price > 0 { subscription.hasPaid = true }
    subscription.expirationIntent = nil
    subscription.isInBillingRetry = false
    subscription.gracePeriodExpiresDate = nil
    subscription.retryCount = 0
    subscription.dueDate = end
  }
}
