// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A subscription of a customer, as the store keeps it: one for each original transaction. Of one group a customer has
/// one, whatever products of the group it renews to, and however often it lapsed.
public struct Subscription: Sendable, Hashable, Identifiable {
  /// Whose it is.
  public internal(set) var account = ""
  /// What is kept of the account with the app, to be stated in renewals.
  public internal(set) var applicationUsername: String?
  /// The latest purchase or renewal, as it is now.
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
  /// Whether the customer agreed to a higher price; `nil` where there is none.
  public internal(set) var priceIncreaseStatus: PriceIncreaseStatus?
  /// The price of the next period after the offers, times 1000.
  public internal(set) var renewalPrice: Int64 = 0
  /// The offer of the next renewals.
  public internal(set) var renewalOffer: RenewalOffer?
  /// When the subscription began, gaps of up to 60 days ignored.
  public internal(set) var recentStartDate = Timestamp(millisecondsSince1970: 0)
  /// When something is due: the renewal, an attempt to charge, the end of a grace period.
  public internal(set) var dueDate: Timestamp?
  /// The member of the family who pays, by the original transaction of that one's subscription.
  public internal(set) var sharedFrom: String?
  /// The subscriptions of the family's members that follow this one.
  public internal(set) var sharedTo: [String] = []

  /// Until when no other event may be signed.
  var lastSignedDate = Timestamp(millisecondsSince1970: 0)
  /// The price of the present product, which a downgrade that is taken back returns to.
  var productPrice: Int64 = 0
  /// The higher price of the next period, once the customer has agreed.
  var increasedPrice: Int64?
  /// Whether the customer refused the higher price.
  var hasRefusedPrice = false
  /// The day of the month on which periods end.
  var anchorDay: Int64 = 1
  /// Attempts of billing retry.
  var retryCount: Int64 = 0
  /// Whether an introductory offer of the group was redeemed.
  var hasHadIntroductoryOffer = false
  /// Whether anything was ever charged for it.
  var hasPaid = false
  /// Identifiers of offers, and codes, that may be redeemed once.
  var redeemedOffers: [String] = []
  /// When renewals were extended.
  var extensionDates: [Timestamp] = []
  /// Members that this version does not know.
  package var unknownFields: [JSONMember] = []

  /// The offer that renewals are charged by.
  public struct RenewalOffer: Sendable, Hashable {
    /// The product that it is for: it waits while the subscription is to renew to another.
    public internal(set) var productIdentifier = ""
    /// The kind.
    public internal(set) var type = OfferType.introductory
    /// The identifier; `nil` for an introductory offer.
    public internal(set) var identifier: String?
    /// How it is paid for.
    public internal(set) var paymentMode = OfferDiscountType.freeTrial
    /// How long one renewal by it lasts.
    public internal(set) var period = ""
    /// The price of one renewal by it, times 1000.
    public internal(set) var price: Int64 = 0
    /// How many renewals are left.
    public internal(set) var remaining: Int64 = 1
    package var unknownFields: [JSONMember] = []
    package init() {}
  }

  /// What it grants.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    /// Paid for.
    case active
    /// The renewal could not be charged for; service goes on.
    case inGracePeriod = "in-grace-period"
    /// The renewal could not be charged for; the store keeps trying, without service.
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
  /// The first transaction of the line.
  public var originalTransactionIdentifier: String { transaction.originalTransactionId ?? "" }
  /// ``originalTransactionIdentifier``.
  public var id: String { originalTransactionIdentifier }
  /// The group.
  public var groupIdentifier: String { transaction.subscriptionGroupIdentifier ?? "" }
  /// The product of the present period.
  public var productIdentifier: String { transaction.productId ?? "" }
  /// When the present period ends.
  public var expiresDate: Timestamp { transaction.expiresDate ?? Timestamp(millisecondsSince1970: 0) }
  /// Whether a member of the family pays for it.
  public var isFamilyShared: Bool { sharedFrom != nil }

  /// What it grants at an instant, if nothing more happens to it.
  public func status(at instant: Timestamp) -> Status {
    if let revocationDate = transaction.revocationDate, instant >= revocationDate {
      return transaction.revocationType == .familyRevoke ? .revoked : .refunded
    }
    if instant < expiresDate { return .active }
    guard isInBillingRetry else { return .expired }
    if let gracePeriodExpiresDate, instant < gracePeriodExpiresDate { return .inGracePeriod }
    return .inBillingRetry
  }

  /// Whether it is neither expired nor taken away at an instant: active, in grace period or billing retry.
  func isCurrent(at instant: Timestamp) -> Bool {
    switch status(at: instant) {
    case .active, .inGracePeriod, .inBillingRetry: true
    case .expired, .refunded, .revoked: false
    }
  }

  /// The number that notifications state.
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
