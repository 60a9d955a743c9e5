// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension Subscription: Identifiable {
  /// The identifier of the original transaction.
  public var originalTransactionIdentifier: String { transaction.originalTransactionId ?? "" }
  /// The ``originalTransactionIdentifier``.
  public var id: String { originalTransactionIdentifier }
  package var groupIdentifier: String { transaction.subscriptionGroupIdentifier ?? "" }
  /// The product of the current period.
  public var productIdentifier: String { transaction.productId ?? "" }
  /// The end of the current period.
  public var expiresDate: Timestamp { transaction.expiresDate ?? Timestamp(millisecondsSince1970: 0) }
  /// `true` if a member of the family pays for it.
  package var isFamilyShared: Bool { sharedFrom != nil }

  /// The state of service at an instant, if no further event happens.
  public func status(at instant: Timestamp) -> Status {
    if let revocationDate = transaction.revocationDate, instant >= revocationDate {
      return transaction.revocationType == .familyRevoke ? .revoked : .refunded
    }
    if instant < expiresDate { return .active }
    guard isInBillingRetry else { return .expired }
    if let gracePeriodExpiresDate, instant < gracePeriodExpiresDate { return .inGracePeriod }
    return .inBillingRetry
  }

  /// Returns `true` if it is active, in grace period or in billing retry at an instant.
  func isCurrent(at instant: Timestamp) -> Bool {
    [.active, .inGracePeriod, .inBillingRetry].contains(status(at: instant))
  }

  /// The status in notifications.
  func statusCode(at instant: Timestamp) -> SubscriptionStatus {
    switch status(at: instant) {
    case .active: .active
    case .expired: .expired
    case .inBillingRetry: .billingRetry
    case .inGracePeriod: .gracePeriod
    case .refunded, .revoked: .revoked
    }
  }

  /// The offer for the next period, if it is for the product that will be renewed.
  var currentOffer: RenewalOffer? {
    renewalOffer.flatMap { $0.productIdentifier == autoRenewProductIdentifier ? $0 : nil }
  }

  /// Applies an offer from the next period on.
  mutating func apply(_ redemption: Redemption) {
    renewalOffer = redemption.offer
    if let token = redemption.token { redeemedOffers.append(token) }
  }

  /// Ends renewal: nothing is due any more.
  mutating func endRenewal() {
    autoRenews = false
    isInBillingRetry = false
    gracePeriodExpiresDate = nil
    renewalOffer = nil
    dueDate = nil
  }

  /// Sets the price of the next period. The customer does not have to consent.
  mutating func setRenewalPrice(_ price: Int64) {
    renewalPrice = price
    increasedPrice = nil
    priceIncreaseStatus = nil
  }
}

extension Subscription.RenewalOffer {
  /// The charges of an offer for a product. A free trial, or an offer that is paid up front, has a single, long
  /// period. `nil` if the price or the length cannot be represented.
  init?(_ offer: SubscriptionOffer, of productIdentifier: String) {
    guard let price = Milliunits.of(offer.price), offer.periodCount > 0 else { return nil }
    let isRepeated = offer.paymentMode == .payAsYouGo
    let whole =
      isRepeated
      ? offer.period : SubscriptionPeriod(offer.period.count * offer.periodCount, offer.period.unit)
    guard let whole else { return nil }
    self.init(
      productIdentifier: productIdentifier, type: offer.type, identifier: offer.identifier,
      paymentMode: offer.paymentMode, period: whole, price: offer.paymentMode == .freeTrial ? 0 : price,
      remaining: isRepeated ? Int64(offer.periodCount) : 1)
  }
}
