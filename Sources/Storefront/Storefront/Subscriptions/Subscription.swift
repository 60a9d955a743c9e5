// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension Subscription: Identifiable {
  /// The state of service.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    /// The period is paid for.
    case active
    /// The charge for the renewal failed; service continues.
    case inGracePeriod = "in-grace-period"
    /// The charge for the renewal failed; the store retries, without service.
    case inBillingRetry = "in-billing-retry"
    /// It expired.
    case expired
    /// The store refunded the latest purchase.
    case refunded
    /// It is no longer shared with this customer.
    case revoked
  }

  /// The identifier of the original transaction.
  public var originalTransactionIdentifier: String { transaction.originalTransactionId ?? "" }
  /// The ``originalTransactionIdentifier``.
  public var id: String { originalTransactionIdentifier }
  /// The group.
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
}
