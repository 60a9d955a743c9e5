// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import Entitlements
import ReceiptVerification

/// The other way to the state of a subscription, for comparison: keep everything, and play it back in the order
/// of signing, where each event overwrites what it speaks of. It needs distinct signing dates.
struct SigningOrderReplay {
  private var transaction: JWSTransaction?
  private var renewalInfo: JWSRenewalInfo?
  /// Of the present transaction.
  private var revokedAt: Timestamp?
  private var isWithdrawn = false
  private var reversedAt: Timestamp?
  private var noticedAt: (date: Timestamp, type: NotificationType)?

  init(_ events: [StreamEvent], of id: Entitlement.ID) {
    let mine = events.filter { $0.id == id }
    for event in mine.sorted(by: { $0.signed < $1.signed }) { play(event) }
  }

  private mutating func play(_ event: StreamEvent) {
    renewalInfo = event.renewalInfo ?? renewalInfo
    guard let news = event.transaction, let purchaseDate = news.purchaseDate else { return }
    if let present = transaction, let presentDate = present.purchaseDate {
      if purchaseDate < presentDate { return }
      if purchaseDate > presentDate { (revokedAt, reversedAt, noticedAt) = (nil, nil, nil) }
    }
    transaction = news
    let type = event.notification.notificationType
    switch type {
    case .refund, .revoke:
      revokedAt = news.revocationDate ?? event.signed
      noticedAt = (event.signed, type ?? .refund)
    case .refundReversed:
      revokedAt = nil
      reversedAt = event.signed
    default:
      guard let stated = news.revocationDate else {
        revokedAt = nil
        break
      }
      // A revocation from before it was reversed, still stated.
      if let reversedAt, stated <= reversedAt, noticedAt.map({ $0.date < reversedAt }) ?? true {
        revokedAt = nil
      } else {
        revokedAt = stated
      }
    }
    isWithdrawn =
      noticedAt.map { $0.type == .revoke } ?? (news.inAppOwnershipType == .familyShared)
  }

  func state(at instant: Timestamp) -> Entitlement.State? {
    guard let transaction, let expiresDate = transaction.expiresDate else { return nil }
    // At its signing the renewal information spoke of a period after the one that had ended.
    if let renewalInfo, renewalInfo.isInBillingRetryPeriod != true, let signed = renewalInfo.signedDate,
      let renewalDate = renewalInfo.renewalDate, expiresDate <= signed, signed < renewalDate,
      expiresDate <= instant, revokedAt == nil || !isWithdrawn
    {
      return renewalDate > instant ? .active : .expired
    }
    if let revokedAt, instant >= revokedAt { return isWithdrawn ? .revoked : .refunded }
    if transaction.isUpgraded == true { return .upgraded }
    if instant < expiresDate { return .active }
    guard let renewalInfo, renewalInfo.isInBillingRetryPeriod == true, let signed = renewalInfo.signedDate,
      signed >= expiresDate.addingSeconds(-2 * 86_400), signed >= (transaction.purchaseDate ?? signed)
    else { return .expired }
    if let grace = renewalInfo.gracePeriodExpiresDate, instant < grace { return .inGracePeriod }
    return instant < expiresDate.addingSeconds(60 * 86_400) ? .inBillingRetry : .expired
  }
}

extension StreamEvent {
  fileprivate var signed: Timestamp {
    notification.signedDate ?? Timestamp(millisecondsSince1970: 0)
  }
}

extension Sequence<AppStoreNotification> {
  /// Returns the notifications in the order of signing, regardless of the order of delivery.
  ///
  /// Of two signed in the same millisecond, the one with the lower `notificationUUID` comes first. A notification
  /// without a date comes before all others.
  func inSigningOrder() -> [AppStoreNotification] {
    sorted { left, right in
      FactOrder.isLower(left.signedDate, right.signedDate)
        ?? FactOrder.isLower(left.uuid?.rawValue, right.uuid?.rawValue) ?? false
    }
  }
}
