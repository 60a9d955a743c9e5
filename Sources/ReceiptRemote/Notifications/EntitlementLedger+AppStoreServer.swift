// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What an ``AppStoreServerClient`` answers, folded in.
extension EntitlementLedger {
  /// Folds in a transaction of the transaction history.
  ///
  /// - Returns: The original transaction concerned.
  /// - Throws: ``EntitlementError`` with `incomplete` for a transaction that does not state app, environment and
  ///   original transaction.
  @discardableResult
  public mutating func apply(
    _ transaction: VerifiedPayload<JWSTransaction>
  ) throws(EntitlementError) -> Entitlement.ID {
    try apply(transaction: transaction.receipt)
  }

  /// Folds in the status of a subscription, with its last transaction and its renewal information.
  ///
  /// - Returns: The original transaction concerned.
  /// - Throws: ``EntitlementError`` with `incomplete`, or `different-purchases`.
  @discardableResult
  public mutating func apply(
    _ subscription: VerifiedSubscription
  ) throws(EntitlementError) -> Entitlement.ID {
    try apply(
      transaction: subscription.transaction.receipt, renewalInfo: subscription.renewalInfo?.receipt,
      status: subscription.status)
  }

  /// Folds in a notification of the notification history.
  ///
  /// - Returns: The original transaction concerned, or `nil` for a notification that is about none.
  @discardableResult
  public mutating func apply(_ notification: SentNotification) -> Entitlement.ID? {
    apply(AppStoreNotification(notification.notification))
  }
}

extension AppStoreNotification {
  /// Takes a notification that a client verified.
  public init(_ notification: VerifiedPayload<Notification>) {
    self.init(notification.payload, receipt: notification.receipt)
  }
}
