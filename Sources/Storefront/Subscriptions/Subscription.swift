// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A customer's subscription, one per original transaction. A customer has one per group, whichever product of the
/// group it renews to, and however often it lapsed.
public struct Subscription: Sendable, Hashable, Identifiable {
  /// The account of the customer.
  public internal(set) var account = ""
  /// The application username that renewals state.
  public internal(set) var applicationUsername: String?
  /// The current state of the latest purchase or renewal.
  public internal(set) var transaction = JWSTransaction()
  /// The product that renews at the end of the period.
  public internal(set) var autoRenewProductIdentifier = ""
  /// Whether it renews at the end of the period.
  public internal(set) var autoRenews = true
  /// Why it expired; `nil` while it has not.
  public internal(set) var expirationIntent: ExpirationIntent?
  /// Whether the store tries to charge for a renewal that failed.
  public internal(set) var isInBillingRetry = false
  /// When service ends while the store tries to charge.
  public internal(set) var gracePeriodExpiresDate: Timestamp?
  /// Whether the customer agreed to a higher price; `nil` if there is none.
  public internal(set) var priceIncreaseStatus: PriceIncreaseStatus?
  /// The price of the next period without offers, in thousandths.
  public internal(set) var renewalPrice: Int64 = 0
  /// The offer of the next renewals.
  public internal(set) var renewalOffer: RenewalOffer?
  /// When the subscription began, gaps of up to 60 days ignored.
  public internal(set) var recentStartDate = Timestamp(millisecondsSince1970: 0)
  /// The date of the next due event: the renewal, a billing retry, or the end of the grace period.
  public internal(set) var dueDate: Timestamp?
  /// The original transaction of the paying family member's subscription.
  public internal(set) var sharedFrom: String?
  /// The subscriptions of family members that follow this one.
  public internal(set) var sharedTo: [String] = []

  /// The date of the last signed event; later events must have a later date.
  var lastSignedDate = Timestamp(millisecondsSince1970: 0)
  /// The price of the current product, to which a cancelled downgrade returns.
  var productPrice: Int64 = 0
  /// The increased price of the next period, once the customer has agreed.
  var increasedPrice: Int64?
  /// Whether the customer refused the higher price.
  var hasRefusedPrice = false
  /// The day of the month on which periods end.
  var anchorDay: Int64 = 1
  /// The number of billing retries.
  var retryCount: Int64 = 0
  /// Whether the customer redeemed an introductory offer of the group.
  var hasHadIntroductoryOffer = false
  /// Whether a charge for it ever succeeded.
  var hasPaid = false
  /// Redeemed identifiers and codes of offers that may be redeemed once.
  var redeemedOffers: [String] = []
  /// The dates of extensions.
  package var extensionDates: [Timestamp] = []
  /// Members that this version does not know.
  package var unknownFields: [JSONMember] = []

  /// The offer that applies to renewals.
  public struct RenewalOffer: Sendable, Hashable {
    /// The product of the offer, which is kept unused while the subscription renews to another product.
    public internal(set) var productIdentifier = ""
    /// The kind.
    public internal(set) var type = OfferType.introductory
    /// The identifier; `nil` for an introductory offer.
    public internal(set) var identifier: String?
    /// How it is paid for.
    public internal(set) var paymentMode = OfferDiscountType.freeTrial
    /// The length of one renewal with the offer.
    public internal(set) var period = ""
    /// The price of one renewal with the offer, in thousandths.
    public internal(set) var price: Int64 = 0
    /// How many renewals are left.
    public internal(set) var remaining: Int64 = 1
    package var unknownFields: [JSONMember] = []
    package init() {}
  }

  /// The state of service.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    /// Paid for.
    case active
    /// The charge for the renewal failed; service continues.
    case inGracePeriod = "in-grace-period"
    /// The charge for the renewal failed; the store retries, without service.
    case inBillingRetry = "in-billing-retry"
    /// It expired.
    case expired
    /// The latest purchase was refunded.
    case refunded
    /// No longer shared with this customer.
    case revoked
  }

  package init() {}
}

extension Subscription {
  /// The original transaction.
  public var originalTransactionIdentifier: String { transaction.originalTransactionId ?? "" }
  /// ``originalTransactionIdentifier``.
  public var id: String { originalTransactionIdentifier }
  /// The group.
  public var groupIdentifier: String { transaction.subscriptionGroupIdentifier ?? "" }
  /// The product of the current period.
  public var productIdentifier: String { transaction.productId ?? "" }
  /// The end of the current period.
  public var expiresDate: Timestamp { transaction.expiresDate ?? Timestamp(millisecondsSince1970: 0) }
  /// Whether a member of the family pays for it.
  public var isFamilyShared: Bool { sharedFrom != nil }

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

  /// Whether it is active, in grace period or in billing retry at an instant.
  func isCurrent(at instant: Timestamp) -> Bool {
    switch status(at: instant) {
    case .active, .inGracePeriod, .inBillingRetry: true
    case .expired, .refunded, .revoked: false
    }
  }

  /// The status that notifications state.
  func statusCode(at instant: Timestamp) -> SubscriptionStatus {
    switch status(at: instant) {
    case .active: .active
    case .expired: .expired
    case .inBillingRetry: .billingRetry
    case .inGracePeriod: .gracePeriod
    case .refunded, .revoked: .revoked
    }
  }
}
