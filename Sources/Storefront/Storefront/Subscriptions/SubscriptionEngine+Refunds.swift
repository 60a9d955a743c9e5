// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// Refunds. The caller stores the transactions and passes them in, because the engine has only the latest one of a
/// subscription. Refunding an earlier one does not change the subscription's state.
extension SubscriptionEngine {
  /// Emits a notification about a purchase without changing it: `CONSUMPTION_REQUEST`, `REFUND_DECLINED`.
  package mutating func notify(
    _ type: NotificationType, about transaction: JWSTransaction, account: String,
    reason: ConsumptionRequestReason? = nil
  ) {
    amend(transaction, account: account, type, reason: reason, at: now)
  }

  /// Refunds a purchase: `REFUND`, and `REVOKE` for members of the family. If it is the latest purchase of a
  /// subscription, service, renewal and sharing end now.
  package mutating func refund(
    _ transaction: JWSTransaction, account: String, reason: RevocationReason = .other,
    amount: RefundAmount = .full
  ) throws(SubscriptionError) {
    let identifier = transaction.transactionId ?? ""
    guard transaction.revocationDate == nil else {
      throw SubscriptionError(.alreadyRefunded, at: identifier, "It was refunded or revoked already.")
    }
    guard transaction.inAppOwnershipType == .purchased else {
      throw SubscriptionError(.familyShared, at: identifier, "Another member of the family paid for it.")
    }
    switch amount {
    case .full:
      revoke(transaction, account: account, .refundFull, reason: reason, percentage: 100_000, at: now)
    case .prorated(let part):
      try SubscriptionError.require(
        1...99_999 ~= part, .invalidValue, at: identifier,
        "Part of a price is 1 to 99,999 thousandths of a per cent.")
      revoke(transaction, account: account, .refundProrated, reason: reason, percentage: part, at: now)
    }
    if var subscription = presentSubscription(of: transaction) { stopSharing(&subscription, at: now) }
  }

  /// Reverses a refund: `REFUND_REVERSED`. The customer gets the purchase back. A subscription continues to the end of
  /// its period, without renewal.
  package mutating func reverseRefund(
    of transaction: JWSTransaction, account: String
  ) throws(SubscriptionError) {
    guard transaction.revocationDate != nil, transaction.revocationType != .familyRevoke else {
      throw SubscriptionError(.notRefunded, at: transaction.transactionId ?? "", "It was not refunded.")
    }
    amend(
      transaction, account: account, .refundReversed, at: now, { restored, _ in restored.removeRevocation() },
      subscription: { subscription, stamp in
        if stamp < subscription.expiresDate {
          subscription.dueDate = subscription.expiresDate
        } else if subscription.expirationIntent == nil {
          subscription.expirationIntent = .cancelled
        }
      })
    if var subscription = presentSubscription(of: transaction) {
      followFamily(of: &subscription, .subscribed, .resubscribe, isNewTransaction: true)
    }
  }

  /// Revokes the purchase of a family member.
  mutating func stopSharing(_ transaction: JWSTransaction, account: String, at now: Timestamp) {
    revoke(transaction, account: account, .familyRevoke, reason: .other, percentage: nil, at: now)
  }

  private mutating func revoke(
    _ transaction: JWSTransaction, account: String, _ type: RevocationType, reason: RevocationReason,
    percentage: Int64?, at now: Timestamp
  ) {
    amend(
      transaction, account: account, type == .familyRevoke ? .revoke : .refund, at: now,
      { revoked, stamp in
        revoked.revocationDate = stamp
        revoked.revocationReason = reason
        revoked.revocationType = type
        revoked.revocationPercentage = percentage
      },
      subscription: { subscription, _ in subscription.endRenewal() })
  }

  /// Changes a purchase, signs it again, and emits the event. The second closure changes the subscription, if this is
  /// its latest transaction.
  private mutating func amend(
    _ transaction: JWSTransaction, account: String, _ type: NotificationType,
    reason: ConsumptionRequestReason? = nil, at now: Timestamp,
    _ change: (inout JWSTransaction, Timestamp) -> Void = { _, _ in },
    subscription changeSubscription: (inout Subscription, Timestamp) -> Void = { _, _ in }
  ) {
    var amended = transaction
    guard var subscription = subscription(of: transaction) else {
      let stamp = Self.later(than: transaction.signedDate, now)
      amended.signedDate = stamp
      change(&amended, stamp)
      return emitOneTime(type, amended, account: account, reason: reason)
    }
    let stamp = Self.stamp(&subscription, at: now)
    guard subscription.transaction.transactionId == transaction.transactionId else {
      amended.signedDate = stamp
      change(&amended, stamp)
      return emit(type, of: &subscription, at: stamp, about: amended, reason: reason)
    }
    change(&subscription.transaction, stamp)
    changeSubscription(&subscription, stamp)
    emit(type, of: &subscription, at: stamp, reason: reason)
  }

  func subscription(of transaction: JWSTransaction) -> Subscription? {
    transaction.originalTransactionId.flatMap { self[$0] }
  }

  /// The subscription of a transaction, if this is its latest one.
  func presentSubscription(of transaction: JWSTransaction) -> Subscription? {
    subscription(of: transaction)
      .flatMap { $0.transaction.transactionId == transaction.transactionId ? $0 : nil }
  }
}
