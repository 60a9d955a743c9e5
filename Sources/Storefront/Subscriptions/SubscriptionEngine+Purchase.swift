// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The result of a payment for an auto-renewable subscription.
public struct SubscriptionPurchase: Sendable, Hashable {
  /// The transaction of the payment: a new one, or that of the current period if the payment only affects later
  /// periods.
  public let transaction: JWSTransaction
  /// Whether this payment created ``transaction``.
  package let isNew: Bool
  /// What happened.
  public let events: [StoreEvent]
}

extension SubscriptionEngine {
  /// Processes a payment for a subscription.
  ///
  /// | The customer's subscription in the group | What happens |
  /// |---|---|
  /// | none, expired, refunded | a new subscription, or a resubscription |
  /// | in grace period or billing retry, same product | the renewal is paid |
  /// | in grace period or billing retry, another product | a resubscription |
  /// | active, same product | nothing is charged: the answer is the present transaction. A downgrade is taken back; an offer applies from the next renewal on |
  /// | active, higher product, or same level and period | it changes at once |
  /// | active, any other product of the group | it changes at the next renewal; the answer is the present transaction |
  ///
  /// - Parameters:
  ///   - productIdentifier: The product.
  ///   - account: The account of the buyer.
  ///   - applicationUsername: The customer's account with the app; a UUID becomes the `appAccountToken`.
  ///   - offer: The offer to redeem. Introductory offers are applied automatically.
  ///   - instant: When.
  /// - Returns: The transaction and the events.
  /// - Throws: ``StoreError``; then nothing was changed.
  public mutating func subscribe(
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
    let now = begin(at: instant)
    let current = self.subscription(of: account, inGroup: terms.groupIdentifier)
    let redeemed = try redeem(
      offer, of: product, terms, price: price, by: current, applicationUsername: applicationUsername, at: now)
    recordNonce(of: offer, at: now)

    guard var subscription = current else {
      var subscription = Subscription()
      subscription.account = account
      subscription.applicationUsername = applicationUsername
      let stamp = Self.stamp(&subscription, at: now)
      subscription.recentStartDate = stamp
      buy(product, terms, price: price, offer: redeemed, for: &subscription, at: stamp)
      return completePurchase(.subscribed, .initialBuy, &subscription, at: stamp)
    }
    if let applicationUsername { subscription.applicationUsername = applicationUsername }
    let isSame = subscription.productIdentifier == productIdentifier
    switch subscription.status(at: now) {
    case .inGracePeriod, .inBillingRetry:
      if isSame, offer == nil {
        recover(&subscription, at: now)
        return SubscriptionPurchase(transaction: subscription.transaction, isNew: true, events: finish())
      }
    case .active:
      if isSame { return keep(&subscription, redeeming: redeemed, at: now) }
      return try change(&subscription, to: product, terms, price: price, redeeming: redeemed, at: now)
    case .expired, .refunded, .revoked: break
    }
    let stamp = Self.stamp(&subscription, at: now)
    let lapse = options.calendar.adding(days: 60, to: subscription.expiresDate)
    if stamp > lapse { subscription.recentStartDate = stamp }
    buy(product, terms, price: price, offer: redeemed, for: &subscription, at: stamp)
    return completePurchase(.subscribed, .resubscribe, &subscription, at: stamp)
  }

  private mutating func completePurchase(
    _ type: NotificationType, _ subtype: NotificationSubtype?, _ subscription: inout Subscription,
    at stamp: Timestamp, replacing replaced: JWSTransaction? = nil
  ) -> SubscriptionPurchase {
    emit(type, subtype, of: &subscription, at: stamp, isNewTransaction: true, replacing: replaced)
    followFamily(of: &subscription, type, subtype, isNewTransaction: true)
    return SubscriptionPurchase(transaction: subscription.transaction, isNew: true, events: finish())
  }

  private func unchanged(_ subscription: Subscription, _ events: [StoreEvent]) -> SubscriptionPurchase {
    SubscriptionPurchase(transaction: subscription.transaction, isNew: false, events: events)
  }

  /// A payment for the current product.
  private mutating func keep(
    _ subscription: inout Subscription, redeeming offer: RedeemedOffer?, at now: Timestamp
  ) -> SubscriptionPurchase {
    enableRenewal(of: &subscription, at: now)
    let productIdentifier = subscription.productIdentifier
    if let offer {
      subscription.autoRenewProductIdentifier = productIdentifier
      subscription.renewalPrice = subscription.productPrice
      subscription.renewalOffer = offer.renewals(offer.count, of: productIdentifier)
      if let token = offer.token { subscription.redeemedOffers.append(token) }
      let stamp = Self.stamp(&subscription, at: now)
      emit(.offerRedeemed, of: &subscription, at: stamp)
    } else if subscription.autoRenewProductIdentifier != productIdentifier {
      cancelDowngrade(of: &subscription, at: now)
    }
    return unchanged(subscription, finish())
  }

  mutating func cancelDowngrade(of subscription: inout Subscription, at now: Timestamp) {
    subscription.autoRenewProductIdentifier = subscription.productIdentifier
    subscription.renewalPrice = subscription.productPrice
    subscription.increasedPrice = nil
    subscription.priceIncreaseStatus = nil
    let stamp = Self.stamp(&subscription, at: now)
    emit(.didChangeRenewalPref, of: &subscription, at: stamp)
    followFamily(of: &subscription, .didChangeRenewalPref, nil, isNewTransaction: false)
  }

  /// Another product of the group.
  mutating func change(
    _ subscription: inout Subscription, to product: CatalogProduct, _ terms: SubscriptionTerms, price: Int64,
    redeeming offer: RedeemedOffer?, at now: Timestamp
  ) throws(StoreError) -> SubscriptionPurchase {
    let currentTerms = products[subscription.productIdentifier]?.subscription
    let isUpgrade = currentTerms.map { terms.level < $0.level } ?? true
    let isEquivalent = currentTerms.map { terms.level == $0.level && terms.period == $0.period } ?? false
    let type: NotificationType = offer == nil ? .didChangeRenewalPref : .offerRedeemed
    guard isUpgrade || isEquivalent else {
      enableRenewal(of: &subscription, at: now)
      // The downgrade was chosen before.
      if offer == nil, subscription.autoRenewProductIdentifier == product.productIdentifier {
        return unchanged(subscription, finish())
      }
      subscription.autoRenewProductIdentifier = product.productIdentifier
      subscription.renewalPrice = price
      subscription.increasedPrice = nil
      subscription.priceIncreaseStatus = nil
      if let offer {
        subscription.renewalOffer = offer.renewals(offer.count, of: product.productIdentifier)
        if let token = offer.token { subscription.redeemedOffers.append(token) }
      }
      let stamp = Self.stamp(&subscription, at: now)
      emit(type, .downgrade, of: &subscription, at: stamp)
      followFamily(of: &subscription, .didChangeRenewalPref, .downgrade, isNewTransaction: false)
      return unchanged(subscription, finish())
    }
    let stamp = Self.stamp(&subscription, at: now)
    // The rest of the old period is credited. That is not a refund; the period just ends.
    var replaced = subscription.transaction
    replaced.isUpgraded = true
    replaced.expiresDate = stamp
    replaced.signedDate = stamp
    buy(product, terms, price: price, offer: offer, for: &subscription, at: stamp)
    return completePurchase(type, .upgrade, &subscription, at: stamp, replacing: replaced)
  }

  mutating func enableRenewal(of subscription: inout Subscription, at now: Timestamp) {
    guard !subscription.autoRenews else { return }
    subscription.autoRenews = true
    subscription.hasRefusedPrice = false
    let stamp = Self.stamp(&subscription, at: now)
    emit(.didChangeRenewalStatus, .autoRenewEnabled, of: &subscription, at: stamp)
    followFamily(of: &subscription, .didChangeRenewalStatus, .autoRenewEnabled, isNewTransaction: false)
  }

  mutating func disableRenewal(of subscription: inout Subscription, at now: Timestamp) {
    subscription.autoRenews = false
    let stamp = Self.stamp(&subscription, at: now)
    emit(.didChangeRenewalStatus, .autoRenewDisabled, of: &subscription, at: stamp)
    followFamily(of: &subscription, .didChangeRenewalStatus, .autoRenewDisabled, isNewTransaction: false)
  }
}
