// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension Entitlement {
  /// What has become of a purchase at some instant.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Paid for, and not expired. What does not expire stays active until it is refunded.
    case active
    /// The renewal could not be charged for; service goes on for the billing grace period.
    case inGracePeriod = "in-grace-period"
    /// The renewal could not be charged for; the App Store keeps trying, without service, for up to 60 days.
    case inBillingRetry = "in-billing-retry"
    /// The subscription expired.
    case expired
    /// No longer shared with this customer.
    case revoked
    /// Refunded, in full or in part.
    case refunded
    /// Replaced at once by another product of the subscription group, whose transaction is not known yet.
    case upgraded
  }

  /// For how many seconds the App Store tries to charge for a renewal: 60 days.
  static let billingRetryDuration: Double = 60 * 86_400
  /// How long before expiry the App Store begins to charge for a renewal, amply: it says a day.
  static let renewalLeadTime: Double = 2 * 86_400

  /// The state at an instant, from all that is known now. Expiry and the ends of grace period and billing retry
  /// come from the signed dates, not from when a notification arrived.
  ///
  /// Instants before the latest purchase are answered as if it had been made already: earlier ones are not
  /// kept.
  public func state(at instant: Timestamp) -> State {
    if let laterPeriod, let expiresDate, instant >= expiresDate {
      return instant < laterPeriod.expiresDate ? .active : .expired
    }
    if let revocation, instant >= revocation.date {
      return revocation.isSharingWithdrawn ? .revoked : .refunded
    }
    if transaction.isUpgraded == true { return .upgraded }
    guard let expiresDate else {
      // A subscription must say until when it was paid for.
      return transaction.type == .autoRenewableSubscription ? .expired : .active
    }
    if instant < expiresDate { return .active }
    guard isBillingProblemCurrent else { return .expired }
    if let end = renewalInfo?.gracePeriodExpiresDate, instant < end { return .inGracePeriod }
    let isRetrying = renewalInfo?.isInBillingRetryPeriod == true
    return isRetrying && instant < expiresDate.addingSeconds(Self.billingRetryDuration)
      ? .inBillingRetry : .expired
  }

  /// Whether the customer may use the product at an instant: active or in the grace period. For a consumable it
  /// says that the purchase stands; what was consumed only the app knows, and likewise when a non-renewing
  /// subscription ends.
  public func grantsAccess(at instant: Timestamp) -> Bool {
    switch state(at: instant) {
    case .active, .inGracePeriod: true
    case .inBillingRetry, .expired, .revoked, .refunded, .upgraded: false
    }
  }

  /// The product that the customer may use at an instant; `nil` when access is not granted.
  public func productId(at instant: Timestamp) -> String? {
    guard grantsAccess(at: instant) else { return nil }
    if let laterPeriod, let expiresDate, instant >= expiresDate { return laterPeriod.productId }
    return transaction.productId
  }

  /// A period after that of ``transaction`` that only the renewal information states: a notification about a past
  /// purchase, such as a request for a refund, carries the renewal information of the present one.
  /// `nil` as soon as the transaction of the period is known, and after sharing was withdrawn: the period is then
  /// that of another customer.
  public var laterPeriod: LaterPeriod? {
    guard let renewalInfo, let signedDate = renewalInfoSignedDate, let expiresDate,
      let end = renewalInfo.renewalDate, signedDate >= expiresDate, end > signedDate,
      renewalInfo.isInBillingRetryPeriod != true, renewalInfo.expirationIntent == nil,
      revocation?.isSharingWithdrawn != true
    else { return nil }
    return LaterPeriod(productId: renewalInfo.productId, expiresDate: end)
  }

  /// When the state will next change if nothing more is heard of it; `nil` if never.
  public func nextChange(after instant: Timestamp) -> Timestamp? {
    nextDueInstant(after: instant)
  }

  /// Whether the renewal information speaks of the renewal after the latest transaction. When that
  /// transaction is news to it, a failure that it reports was overcome.
  var isBillingProblemCurrent: Bool {
    guard let renewalInfo, renewalInfo.isInBillingRetryPeriod != false,
      let signedDate = renewalInfoSignedDate, let expiresDate
    else { return false }
    return signedDate >= (transaction.purchaseDate ?? signedDate)
      && signedDate >= expiresDate.addingSeconds(-Self.renewalLeadTime)
  }
}

extension Entitlement: StoreLine {
  package var dueInstants: [Timestamp] {
    [
      revocation?.date, expiresDate, laterPeriod?.expiresDate, renewalInfo?.gracePeriodExpiresDate,
      expiresDate?.addingSeconds(Self.billingRetryDuration),
    ]
    .compactMap(\.self)
  }

  package func standing(at instant: Timestamp) -> State { state(at: instant) }
}
