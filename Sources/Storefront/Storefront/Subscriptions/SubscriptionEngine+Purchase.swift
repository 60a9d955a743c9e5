// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension SubscriptionEngine {
  /// Processes a payment for a subscription. A username that is a UUID becomes the `appAccountToken`. Introductory
  /// offers are applied automatically. If this throws, the payment changed nothing.
  ///
  /// | The customer's subscription in the group | Effect |
  /// |---|---|
  /// | none, expired, refunded | a new subscription, or a resubscription |
  /// | in grace period or billing retry, same product | the renewal is paid |
  /// | in grace period or billing retry, another product | a resubscription |
  /// | active, same product | nothing is charged; the answer is the present transaction |
  /// | active, higher product, or same level and period | an immediate change |
  /// | active, any other product of the group | a change at the next renewal; the answer is the present transaction |
  ///
  /// A payment for the active product also cancels a downgrade. Its offer applies from the next renewal on.
  package mutating func subscribe(
    _ productIdentifier: String, account: String, applicationUsername: String? = nil,
    offer: PaymentOffer? = nil, at instant: Timestamp
  ) throws(StoreError) -> SubscriptionPurchase {
    guard let product = product(productIdentifier), let terms = product.subscription,
      product.type == .autoRenewableSubscription, let price = price(of: productIdentifier)
    else {
      throw StoreError(.paymentInvalid, "\"\(productIdentifier)\" is no auto-renewable subscription.")
    }
    guard product.isForSale else {
      throw StoreError(.storeProductNotAvailable, "\"\(productIdentifier)\" is not for sale.")
    }
    begin(at: instant)
    let current = self.subscription(of: account, inGroup: terms.groupIdentifier)
    let redemption = try redeem(
      offer, of: product, terms, price: price, by: current, applicationUsername: applicationUsername)
    recordNonce(of: offer)
    guard var subscription = current else {
      var subscription = Subscription(account: account, applicationUsername: applicationUsername)
      let stamp = Self.stamp(&subscription, at: now)
      subscription.recentStartDate = stamp
      buy(product, terms, price: price, redeeming: redemption, for: &subscription, at: stamp)
      announceTransaction(.subscribed, .initialBuy, of: &subscription, at: stamp)
      return SubscriptionPurchase(transaction: subscription.transaction, events: finish())
    }

    if let applicationUsername { subscription.applicationUsername = applicationUsername }
    let isSame = subscription.productIdentifier == productIdentifier
    let status = subscription.status(at: now)
    if status == .active, isSame {
      keep(&subscription, redeeming: redemption)
    } else if status == .active {
      change(&subscription, to: product, terms, price: price, redeeming: redemption)
    } else if isSame, offer == nil, subscription.isCurrent(at: now) {
      recover(&subscription)
    } else {
      let stamp = Self.stamp(&subscription, at: now)
      let lapse = options.calendar.adding(days: 60, to: subscription.expiresDate)
      if stamp > lapse { subscription.recentStartDate = stamp }
      buy(product, terms, price: price, redeeming: redemption, for: &subscription, at: stamp)
      announceTransaction(.subscribed, .resubscribe, of: &subscription, at: stamp)
    }
    return SubscriptionPurchase(transaction: subscription.transaction, events: finish())
  }

  private mutating func keep(_ subscription: inout Subscription, redeeming redemption: Redemption?) {
    enableRenewal(of: &subscription)
    if let redemption {
      subscription.autoRenewProductIdentifier = subscription.productIdentifier
      subscription.renewalPrice = subscription.productPrice
      subscription.apply(redemption)
      notify(.offerRedeemed, of: &subscription)
    } else if subscription.autoRenewProductIdentifier != subscription.productIdentifier {
      cancelDowngrade(of: &subscription)
    }
  }

  mutating func cancelDowngrade(of subscription: inout Subscription) {
    subscription.autoRenewProductIdentifier = subscription.productIdentifier
    subscription.setRenewalPrice(subscription.productPrice)
    announce(.didChangeRenewalPref, of: &subscription)
  }

  /// Changes to another product of the group: immediately for an upgrade or an equivalent product, otherwise at the
  /// next renewal.
  mutating func change(
    _ subscription: inout Subscription, to product: CatalogProduct, _ terms: SubscriptionTerms, price: Int64,
    redeeming redemption: Redemption?
  ) {
    let currentTerms = products[subscription.productIdentifier]?.subscription
    let isUpgrade = currentTerms.map { terms.level < $0.level } ?? true
    let isEquivalent = currentTerms.map { terms.level == $0.level && terms.period == $0.period } ?? false
    let type: NotificationType = redemption == nil ? .didChangeRenewalPref : .offerRedeemed
    guard isUpgrade || isEquivalent else {
      enableRenewal(of: &subscription)
      // This downgrade was chosen before.
      if redemption == nil, subscription.autoRenewProductIdentifier == product.productIdentifier { return }
      subscription.autoRenewProductIdentifier = product.productIdentifier
      subscription.setRenewalPrice(price)
      if let redemption { subscription.apply(redemption) }
      notify(type, .downgrade, of: &subscription)
      followFamily(of: &subscription, .didChangeRenewalPref, .downgrade, isNewTransaction: false)
      return
    }
    let stamp = Self.stamp(&subscription, at: now)
    // The rest of the old period is credited. This is not a refund; the period just ends.
    var replaced = subscription.transaction
    replaced.isUpgraded = true
    replaced.expiresDate = stamp
    replaced.signedDate = stamp
    buy(product, terms, price: price, redeeming: redemption, for: &subscription, at: stamp)
    announceTransaction(type, .upgrade, of: &subscription, at: stamp, replacing: replaced)
  }

  mutating func enableRenewal(of subscription: inout Subscription) {
    guard !subscription.autoRenews else { return }
    subscription.autoRenews = true
    subscription.hasRefusedPrice = false
    announce(.didChangeRenewalStatus, .autoRenewEnabled, of: &subscription)
  }

  mutating func disableRenewal(of subscription: inout Subscription) {
    subscription.autoRenews = false
    announce(.didChangeRenewalStatus, .autoRenewDisabled, of: &subscription)
  }

  // MARK: Periods

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
    transaction.setOffer(offer)
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
      $0.appAccountToken = applicationUsername.flatMap { UUIDString(rawValue: $0).canonical }
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

/// One-time purchases: consumables, non-consumables and non-renewing subscriptions. The engine does not store them.
extension SubscriptionEngine {
  /// Charges for a product other than an auto-renewable subscription: `ONE_TIME_CHARGE`. If `original`, the customer's
  /// earlier purchase of the same non-consumable, is given, nothing is charged.
  mutating func charge(
    for product: CatalogProduct, account: String, quantity: Int, applicationUsername: String?,
    original: JWSTransaction?, at instant: Timestamp
  ) throws(StoreError) -> SubscriptionPurchase {
    guard let price = price(of: product.productIdentifier) else {
      throw StoreError(.paymentInvalid, "The price is negative, or too great to be stated.")
    }
    begin(at: instant)
    var transaction = newTransaction(
      of: product, account: account, applicationUsername: applicationUsername, continuing: original,
      price: original == nil ? price : 0, at: now)
    transaction.quantity = Int64(quantity)
    emitOneTime(.oneTimeCharge, transaction, account: account, isNewTransaction: true)
    return SubscriptionPurchase(transaction: transaction, events: finish())
  }

  /// Shares a one-time purchase with a family member: `ONE_TIME_CHARGE`, with the member's own transaction.
  mutating func share(_ shared: JWSTransaction, with account: String) {
    var transaction = sharedTransaction(of: shared, with: account, at: now)
    transaction.removeRevocation()
    emitOneTime(
      .oneTimeCharge, transaction, account: account, isNewTransaction: true, sharedFrom: shared.transactionId)
  }

  /// A new transaction that restores a finished purchase. There is no charge and no notification.
  mutating func restoration(of original: JWSTransaction, at now: Timestamp) -> JWSTransaction {
    var transaction = original
    transaction.transactionId = nextTransactionIdentifier()
    transaction.purchaseDate = now
    transaction.signedDate = now
    transaction.price = 0
    return transaction
  }

  mutating func emitOneTime(
    _ type: NotificationType, _ transaction: JWSTransaction, account: String, isNewTransaction: Bool = false,
    sharedFrom: String? = nil, reason: ConsumptionRequestReason? = nil
  ) {
    let uuid = nextUUID()
    events.append(
      StoreEvent(
        number: ledger.eventCount, account: account, signedDate: transaction.signedDate ?? ledger.time,
        type: type, uuid: uuid, transaction: transaction, consumptionRequestReason: reason,
        isNewTransaction: isNewTransaction, sharedFrom: sharedFrom))
  }

  func appTransactionIdentifier(of account: String) -> String {
    // 18 digits; the first is not zero.
    let chance = KeyedRandomSource(seed: options.seed).chance("app-transaction/" + account, 0)
    return String(700_000_000_000_000_000 + Int64(chance * 1e16))
  }
}

extension JWSTransaction {
  mutating func setOffer(_ offer: Subscription.RenewalOffer?) {
    offerType = offer?.type
    offerIdentifier = offer?.identifier
    offerDiscountType = offer?.paymentMode
    offerPeriod = offer?.period.description
  }

  mutating func removeRevocation() {
    revocationDate = nil
    revocationReason = nil
    revocationType = nil
    revocationPercentage = nil
  }
}
