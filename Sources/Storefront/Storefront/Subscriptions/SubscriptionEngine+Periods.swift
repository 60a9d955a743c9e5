// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// An offer that a payment redeems.
struct Redemption: Sendable, Hashable {
  var offer: Subscription.RenewalOffer
  /// The identifier or code to record with the subscription, if it can be redeemed only once.
  var token: String?
}

extension Subscription.RenewalOffer {
  /// The charges of an offer for a product. A free trial, or an offer that is paid up front, has a single, long
  /// period. `nil` if the price or the length cannot be represented.
  init?(_ offer: SubscriptionOffer, of productIdentifier: String) {
    guard let price = Milliunits.of(offer.price), offer.periodCount > 0 else { return nil }
    self.init()
    self.productIdentifier = productIdentifier
    type = offer.type
    identifier = offer.identifier
    paymentMode = offer.paymentMode
    self.price = offer.paymentMode == .freeTrial ? 0 : price
    if offer.paymentMode == .payAsYouGo {
      period = offer.period
      remaining = Int64(offer.periodCount)
    } else {
      guard let whole = SubscriptionPeriod(offer.period.count * offer.periodCount, offer.period.unit) else {
        return nil
      }
      period = whole
    }
  }
}

extension Subscription {
  /// The offer for the next period, if it is for the product that will be renewed.
  var currentOffer: RenewalOffer? {
    renewalOffer.flatMap { $0.productIdentifier == autoRenewProductIdentifier ? $0 : nil }
  }

  /// Applies an offer from the next period on.
  mutating func apply(_ redemption: Redemption) {
    renewalOffer = redemption.offer
    if let token = redemption.token { redeemedOffers.append(token) }
  }

  /// Sets the price of the next period. The customer does not have to consent.
  mutating func setRenewalPrice(_ price: Int64) {
    renewalPrice = price
    increasedPrice = nil
    priceIncreaseStatus = nil
  }
}

/// Beginning periods.
extension SubscriptionEngine {
  /// Begins a purchased period: a new subscription, a resubscription, or an immediate change to another product.
  mutating func buy(
    _ product: CatalogProduct, _ terms: SubscriptionTerms, price: Int64, redeeming redemption: Redemption?,
    for subscription: inout Subscription, at stamp: Timestamp
  ) {
    subscription.renewalOffer = nil
    if let redemption {
      subscription.apply(redemption)
      if redemption.offer.type == .introductory { subscription.hasHadIntroductoryOffer = true }
    }
    subscription.autoRenewProductIdentifier = product.productIdentifier
    subscription.setRenewalPrice(price)
    subscription.productPrice = price
    subscription.autoRenews = true
    subscription.hasRefusedPrice = false
    subscription.anchorDay = Int64(options.calendar.anchorDay(of: stamp))
    begin(product, terms, of: &subscription, from: stamp, purchasedAt: stamp, reason: .purchase)
  }

  /// Begins a period with the current offer or at the renewal price: creates its transaction, and clears the state of
  /// failed renewals. If the period would end before the purchase, it begins at the purchase.
  mutating func begin(
    _ product: CatalogProduct, _ terms: SubscriptionTerms, of subscription: inout Subscription,
    from start: Timestamp, purchasedAt purchaseDate: Timestamp, reason: TransactionReason
  ) {
    let offer = subscription.currentOffer
    let period = offer?.period ?? terms.period
    let price = offer?.price ?? subscription.renewalPrice
    let anchorDay = Int(subscription.anchorDay)
    var end = options.calendar.end(of: period, from: start, anchorDay: anchorDay)
    if end <= purchaseDate {
      end = options.calendar.end(of: period, from: purchaseDate, anchorDay: anchorDay)
    }
    let previous = subscription.transaction
    var transaction = newTransaction(
      of: product, account: subscription.account, applicationUsername: subscription.applicationUsername,
      continuing: previous, price: price, at: purchaseDate)
    transaction.webOrderLineItemId = Self.lineItem(of: transaction.transactionId ?? "")
    transaction.subscriptionGroupIdentifier = terms.groupIdentifier
    transaction.expiresDate = end
    transaction.transactionReason = reason
    transaction.offerType = offer?.type
    transaction.offerIdentifier = offer?.identifier
    transaction.offerDiscountType = offer?.paymentMode
    transaction.offerPeriod = offer?.period.description
    subscription.transaction = transaction

    subscription.renewalOffer = offer.flatMap { $0.remaining > 1 ? $0 : nil }
    subscription.renewalOffer?.remaining -= 1
    if period.unit == .day || period.unit == .week {
      subscription.anchorDay = Int64(options.calendar.anchorDay(of: end))
    }
    if price > 0 { subscription.hasPaid = true }
    subscription.expirationIntent = nil
    subscription.isInBillingRetry = false
    subscription.gracePeriodExpiresDate = nil
    subscription.retryCount = 0
    subscription.dueDate = end
  }

  /// A new transaction for a product. `original` is the purchase that it continues.
  mutating func newTransaction(
    of product: CatalogProduct, account: String, applicationUsername: String?,
    continuing original: JWSTransaction?, price: Int64, at purchaseDate: Timestamp
  ) -> JWSTransaction {
    let identifier = nextTransactionIdentifier()
    return JWSTransaction().with {
      $0.originalTransactionId = original?.originalTransactionId ?? identifier
      $0.transactionId = identifier
      $0.bundleId = options.bundleIdentifier
      $0.productId = product.productIdentifier
      $0.purchaseDate = purchaseDate
      $0.originalPurchaseDate = original?.originalPurchaseDate ?? purchaseDate
      $0.quantity = 1
      $0.type = product.type
      // The username, if it is a UUID.
      $0.appAccountToken = applicationUsername.flatMap { UUIDString(rawValue: $0).uuid }.map {
        UUIDString($0)
      }
      $0.inAppOwnershipType = .purchased
      $0.signedDate = purchaseDate
      $0.environment = options.environment
      $0.storefront = options.storefront
      $0.transactionReason = .purchase
      $0.appTransactionId = original?.appTransactionId ?? appTransactionIdentifier(of: account)
      $0.currency = product.currency
      $0.price = price
    }
  }
}
