// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The result of a payment for an auto-renewable subscription.
package struct SubscriptionPurchase: Sendable, Hashable {
  /// The transaction of the payment: a new one, or that of the current period if the payment only affects later
  /// periods.
  package let transaction: JWSTransaction
  /// The events of the purchase.
  package let events: [StoreEvent]
}

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
    let now = begin(at: instant)
    let current = self.subscription(of: account, inGroup: terms.groupIdentifier)
    let redemption = try redeem(
      offer, of: product, terms, price: price, by: current, applicationUsername: applicationUsername, at: now)
    recordNonce(of: offer, at: now)
    guard var subscription = current else {
      var subscription = Subscription()
      subscription.account = account
      subscription.applicationUsername = applicationUsername
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
      keep(&subscription, redeeming: redemption, at: now)
    } else if status == .active {
      change(&subscription, to: product, terms, price: price, redeeming: redemption, at: now)
    } else if isSame, offer == nil, subscription.isCurrent(at: now) {
      recover(&subscription, at: now)
    } else {
      let stamp = Self.stamp(&subscription, at: now)
      let lapse = options.calendar.adding(days: 60, to: subscription.expiresDate)
      if stamp > lapse { subscription.recentStartDate = stamp }
      buy(product, terms, price: price, redeeming: redemption, for: &subscription, at: stamp)
      announceTransaction(.subscribed, .resubscribe, of: &subscription, at: stamp)
    }
    return SubscriptionPurchase(transaction: subscription.transaction, events: finish())
  }

  /// Processes a payment for the current product.
  private mutating func keep(
    _ subscription: inout Subscription, redeeming redemption: Redemption?, at now: Timestamp
  ) {
    enableRenewal(of: &subscription, at: now)
    if let redemption {
      subscription.autoRenewProductIdentifier = subscription.productIdentifier
      subscription.renewalPrice = subscription.productPrice
      subscription.apply(redemption)
      notify(.offerRedeemed, of: &subscription, at: now)
    } else if subscription.autoRenewProductIdentifier != subscription.productIdentifier {
      cancelDowngrade(of: &subscription, at: now)
    }
  }

  mutating func cancelDowngrade(of subscription: inout Subscription, at now: Timestamp) {
    subscription.autoRenewProductIdentifier = subscription.productIdentifier
    subscription.setRenewalPrice(subscription.productPrice)
    announce(.didChangeRenewalPref, of: &subscription, at: now)
  }

  /// Changes to another product of the group: immediately for an upgrade or an equivalent product, otherwise at the
  /// next renewal.
  mutating func change(
    _ subscription: inout Subscription, to product: CatalogProduct, _ terms: SubscriptionTerms, price: Int64,
    redeeming redemption: Redemption?, at now: Timestamp
  ) {
    let currentTerms = products[subscription.productIdentifier]?.subscription
    let isUpgrade = currentTerms.map { terms.level < $0.level } ?? true
    let isEquivalent = currentTerms.map { terms.level == $0.level && terms.period == $0.period } ?? false
    let type: NotificationType = redemption == nil ? .didChangeRenewalPref : .offerRedeemed
    guard isUpgrade || isEquivalent else {
      enableRenewal(of: &subscription, at: now)
      // This downgrade was chosen before.
      if redemption == nil, subscription.autoRenewProductIdentifier == product.productIdentifier { return }
      subscription.autoRenewProductIdentifier = product.productIdentifier
      subscription.setRenewalPrice(price)
      if let redemption { subscription.apply(redemption) }
      notify(type, .downgrade, of: &subscription, at: now)
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

  mutating func enableRenewal(of subscription: inout Subscription, at now: Timestamp) {
    guard !subscription.autoRenews else { return }
    subscription.autoRenews = true
    subscription.hasRefusedPrice = false
    announce(.didChangeRenewalStatus, .autoRenewEnabled, of: &subscription, at: now)
  }

  mutating func disableRenewal(of subscription: inout Subscription, at now: Timestamp) {
    subscription.autoRenews = false
    announce(.didChangeRenewalStatus, .autoRenewDisabled, of: &subscription, at: now)
  }
}
