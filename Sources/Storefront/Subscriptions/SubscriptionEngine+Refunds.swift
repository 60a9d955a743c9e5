// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The refunded part of a price.
public enum RefundAmount: Sendable, Hashable {
  /// All.
  case full
  /// A part, in thousandths of a per cent: 1 to 99,999.
  case prorated(Int64)
}

/// Refunds. The caller stores the transactions and passes them in: the engine knows only the latest one of a
/// subscription. A refund of an earlier one does not change its state.
extension SubscriptionEngine {
  /// Requests consumption information, because the customer requested a refund.
  ///
  /// - Returns: `CONSUMPTION_REQUEST`.
  package mutating func requestConsumption(
    for transaction: JWSTransaction, account: String, reason: ConsumptionRequestReason, at instant: Timestamp
  ) -> [StoreEvent] {
    let now = begin(at: instant)
    notify(.consumptionRequest, about: transaction, account: account, at: now, reason: reason)
    return finish()
  }

  /// Declines a refund.
  ///
  /// - Returns: `REFUND_DECLINED`.
  package mutating func declineRefund(
    of transaction: JWSTransaction, account: String, at instant: Timestamp
  ) -> [StoreEvent] {
    let now = begin(at: instant)
    notify(.refundDeclined, about: transaction, account: account, at: now)
    return finish()
  }

  /// Refunds a purchase. If it is the latest one of a subscription, service, renewal and sharing end now.
  ///
  /// - Parameters:
  ///   - transaction: The purchase, as it is now.
  ///   - account: The account of the purchase.
  ///   - reason: The reason.
  ///   - amount: The refunded part of the price.
  ///   - instant: When.
  /// - Returns: `REFUND`, and `REVOKE` for members of the family.
  /// - Throws: ``SubscriptionError`` with `already-refunded`, `family-shared` or `invalid-value`.
  package mutating func refund(
    _ transaction: JWSTransaction, account: String, reason: RevocationReason = .other,
    amount: RefundAmount = .full, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    let now = begin(at: instant)
    let identifier = transaction.transactionId ?? ""
    guard transaction.revocationDate == nil else {
      throw SubscriptionError(.alreadyRefunded, at: identifier, "It was refunded or revoked already.")
    }
    guard transaction.inAppOwnershipType == .purchased else {
      throw SubscriptionError(.familyShared, at: identifier, "Another member of the family paid for it.")
    }
    let percentage: Int64
    switch amount {
    case .full: percentage = 100_000
    case .prorated(let part):
      guard 1...99_999 ~= part else {
        throw SubscriptionError(
          .invalidValue, at: identifier, "Part of a price is 1 to 99,999 thousandths of a per cent.")
      }
      percentage = part
    }
    revoke(
      transaction, account: account, at: now, reason: reason,
      type: percentage == 100_000 ? .refundFull : .refundProrated, percentage: percentage)
    return finish()
  }

  /// Reverses a refund: the customer gets the purchase back; a subscription continues to the end of its period, without
  /// renewal.
  ///
  /// - Returns: `REFUND_REVERSED`.
  /// - Throws: ``SubscriptionError`` with `not-refunded`.
  package mutating func reverseRefund(
    of transaction: JWSTransaction, account: String, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    let now = begin(at: instant)
    guard transaction.revocationDate != nil, transaction.revocationType != .familyRevoke else {
      throw SubscriptionError(.notRefunded, at: transaction.transactionId ?? "", "It was not refunded.")
    }
    var restored = transaction
    restored.revocationDate = nil
    restored.revocationReason = nil
    restored.revocationType = nil
    restored.revocationPercentage = nil
    guard var subscription = subscription(of: restored) else {
      restored.signedDate = Self.later(than: transaction.signedDate, now)
      emitOneTime(.refundReversed, restored, account: account)
      return finish()
    }
    let stamp = Self.stamp(&subscription, at: now)
    guard subscription.transaction.transactionId == restored.transactionId else {
      restored.signedDate = stamp
      emit(.refundReversed, of: &subscription, at: stamp, about: restored)
      return finish()
    }
    restored.expiresDate = subscription.expiresDate
    subscription.transaction = restored
    if stamp < subscription.expiresDate {
      subscription.dueDate = subscription.expiresDate
    } else if subscription.expirationIntent == nil {
      subscription.expirationIntent = .cancelled
    }
    emit(.refundReversed, of: &subscription, at: stamp)
    followFamily(of: &subscription, .subscribed, .resubscribe, isNewTransaction: true)
    return finish()
  }

  /// The subscription that a transaction belongs to.
  func subscription(of transaction: JWSTransaction) -> Subscription? {
    transaction.originalTransactionId.flatMap { self[$0] }
  }

  static func later(than signedDate: Timestamp?, _ now: Timestamp) -> Timestamp {
    Timestamp(
      millisecondsSince1970: max(
        now.millisecondsSince1970, (signedDate?.millisecondsSince1970 ?? 0) + 1))
  }

  /// Revokes a purchase.
  mutating func revoke(
    _ transaction: JWSTransaction, account: String, at now: Timestamp, reason: RevocationReason,
    type: RevocationType, percentage: Int64?
  ) {
    let isSharing = type == .familyRevoke
    func revoked(_ transaction: JWSTransaction, _ stamp: Timestamp) -> JWSTransaction {
      var revoked = transaction
      revoked.signedDate = stamp
      revoked.revocationDate = stamp
      revoked.revocationReason = reason
      revoked.revocationType = type
      revoked.revocationPercentage = percentage
      return revoked
    }
    let notice: NotificationType = isSharing ? .revoke : .refund
    guard var subscription = subscription(of: transaction) else {
      let stamp = Self.later(than: transaction.signedDate, now)
      return emitOneTime(notice, revoked(transaction, stamp), account: account)
    }
    let stamp = Self.stamp(&subscription, at: now)
    guard subscription.transaction.transactionId == transaction.transactionId else {
      return emit(notice, of: &subscription, at: stamp, about: revoked(transaction, stamp))
    }
    subscription.transaction = revoked(subscription.transaction, stamp)
    subscription.autoRenews = false
    subscription.isInBillingRetry = false
    subscription.gracePeriodExpiresDate = nil
    subscription.renewalOffer = nil
    subscription.dueDate = nil
    emit(notice, of: &subscription, at: stamp)
    if !isSharing { stopSharing(&subscription, at: now) }
  }

  /// Emits a notification about a purchase without changing it.
  private mutating func notify(
    _ type: NotificationType, about transaction: JWSTransaction, account: String, at now: Timestamp,
    reason: ConsumptionRequestReason? = nil
  ) {
    var transaction = transaction
    guard var subscription = subscription(of: transaction) else {
      transaction.signedDate = Self.later(than: transaction.signedDate, now)
      return emitOneTime(type, transaction, account: account, reason: reason)
    }
    let stamp = Self.stamp(&subscription, at: now)
    transaction.signedDate = stamp
    let isPresent = subscription.transaction.transactionId == transaction.transactionId
    emit(type, of: &subscription, at: stamp, about: isPresent ? nil : transaction, reason: reason)
  }
}
