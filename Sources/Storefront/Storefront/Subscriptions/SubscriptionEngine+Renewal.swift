// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension BillingPolicy {
  /// Every attempt succeeds.
  public static let always = BillingPolicy { _ in true }

  /// Makes a share of renewals fail, and a share of the billing retries succeed; both are 0 to 1. There is one retry a
  /// day.
  public static func random(failures: Double, recoveries: Double) -> BillingPolicy {
    BillingPolicy { $0.chance >= ($0.number == 0 ? failures : 1 - recoveries) }
  }
}

extension SubscriptionEngine {
  package static let billingRetryDays: Double = 60

  /// Advances the time up to a limit on the number of events, and returns them: performs everything that is due, in
  /// order, each event at its own time. An instant in the past has no effect.
  package mutating func advance(to instant: Timestamp, atMost limit: Int) -> ([StoreEvent], isDone: Bool) {
    let isDone = passTime(until: instant, atMost: limit)
    return (finish(), isDone)
  }

  mutating func act(on subscription: inout Subscription) {
    guard subscription.isInBillingRetry else { return renewOrExpire(&subscription) }
    if let end = subscription.gracePeriodExpiresDate, now >= end {
      subscription.gracePeriodExpiresDate = nil
      announce(.gracePeriodExpired, of: &subscription)
    }
    if now >= options.calendar.adding(days: Self.billingRetryDays, to: subscription.expiresDate) {
      return expire(&subscription, .billingError, .billingRetry)
    }
    if now >= nextAttempt(of: subscription) {
      subscription.retryCount += 1
      if isCharged(subscription) { return recover(&subscription) }
    }
    subscription.dueDate = nextDueInRetry(subscription)
  }

  private mutating func renewOrExpire(_ subscription: inout Subscription) {
    guard subscription.autoRenews else {
      return subscription.hasRefusedPrice
        ? expire(&subscription, .priceIncreaseRefused, .priceIncrease)
        : expire(&subscription, .cancelled, .voluntary)
    }
    guard product(subscription.autoRenewProductIdentifier)?.isForSale == true else {
      return expire(&subscription, .productUnavailable, .productNotForSale)
    }
    if subscription.priceIncreaseStatus == .noResponse, subscription.currentOffer == nil {
      return expire(&subscription, .priceIncreaseRefused, .priceIncrease)
    }
    if isCharged(subscription) {
      return renew(&subscription, from: subscription.expiresDate)
    }

    subscription.isInBillingRetry = true
    subscription.retryCount = 0
    if let days = graceDays(of: subscription) {
      subscription.gracePeriodExpiresDate = options.calendar.adding(days: days, to: subscription.expiresDate)
    }
    subscription.dueDate = nextDueInRetry(subscription)
    let subtype: NotificationSubtype? = subscription.gracePeriodExpiresDate == nil ? nil : .gracePeriod
    announce(.didFailToRenew, subtype, of: &subscription)
  }

  /// The length of the grace period, in days. The App Store has 3, 16 or 28 days, and at most 6 for weekly
  /// subscriptions.
  private func graceDays(of subscription: Subscription) -> Double? {
    guard let days = options.gracePeriodDays, days > 0 else { return nil }
    let period = products[subscription.productIdentifier]?.subscription?.period
    let isShort =
      period.map { $0.unit == .day && $0.count <= 7 || $0.unit == .week && $0.count == 1 } ?? false
    return Double(min(days, isShort ? 6 : Int(Self.billingRetryDays)))
  }

  private func nextAttempt(of subscription: Subscription) -> Timestamp {
    options.calendar.adding(days: Double(subscription.retryCount + 1), to: subscription.expiresDate)
  }

  func nextDueInRetry(_ subscription: Subscription) -> Timestamp {
    [
      nextAttempt(of: subscription),
      options.calendar.adding(days: Self.billingRetryDays, to: subscription.expiresDate),
      subscription.gracePeriodExpiresDate,
    ].compactMap(\.self).min() ?? subscription.expiresDate
  }

  private func isCharged(_ subscription: Subscription) -> Bool {
    let price = subscription.currentOffer?.price ?? subscription.increasedPrice ?? subscription.renewalPrice
    if price == 0 { return true }
    if declined[subscription.account] != nil { return false }
    // Keyed by transaction and attempt, so that other customers do not affect the result.
    let chance = KeyedRandomSource(seed: options.seed).chance(
      subscription.transaction.transactionId ?? "", UInt64(bitPattern: subscription.retryCount))
    return options.billing.accepts(
      BillingAttempt(
        account: subscription.account, originalTransactionIdentifier: subscription.id,
        productIdentifier: subscription.autoRenewProductIdentifier, price: price,
        number: Int(subscription.retryCount), date: now, chance: chance))
  }

  /// Recovers a failed renewal. Within the grace period the dates are unchanged; after it, the period begins now.
  mutating func recover(_ subscription: inout Subscription) {
    let isInGrace = subscription.status(at: now) == .inGracePeriod
    if !isInGrace { subscription.anchorDay = Int64(options.calendar.anchorDay(of: now)) }
    renew(&subscription, from: isInGrace ? subscription.expiresDate : now, subtype: .billingRecovery)
  }

  /// Begins the next period after a successful charge.
  mutating func renew(
    _ subscription: inout Subscription, from start: Timestamp, subtype: NotificationSubtype? = nil
  ) {
    guard let product = product(subscription.autoRenewProductIdentifier), let terms = product.subscription
    else { return expire(&subscription, .productUnavailable, .productNotForSale) }
    if subscription.currentOffer == nil {
      subscription.setRenewalPrice(subscription.increasedPrice ?? subscription.renewalPrice)
      subscription.productPrice = subscription.renewalPrice
    }
    let stamp = Self.stamp(&subscription, at: now)
    begin(product, terms, of: &subscription, from: start, purchasedAt: stamp, reason: .renewal)
    announceTransaction(.didRenew, subtype, of: &subscription, at: stamp)
  }

  mutating func expire(
    _ subscription: inout Subscription, _ intent: ExpirationIntent, _ subtype: NotificationSubtype?
  ) {
    subscription.expirationIntent = intent
    subscription.endRenewal()
    announce(.expired, subtype, of: &subscription)
  }
}
