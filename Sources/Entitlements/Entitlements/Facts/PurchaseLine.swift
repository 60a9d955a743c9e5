// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension PurchaseLine {
  /// Takes the higher fact of each type.
  mutating func join(_ other: PurchaseLine) {
    transaction = .higher(transaction, other.transaction)
    renewalInfo = .higher(renewalInfo, other.renewalInfo)
    status = .higher(status, other.status)
    notice = .higher(notice, other.notice)
    refund = .higher(refund, other.refund)
    revocation = .higher(revocation, other.revocation)
    reversal = .higher(reversal, other.reversal)
    revocationOfLine = .later(revocationOfLine, other.revocationOfLine)
    reversalOfLine = .later(reversalOfLine, other.reversalOfLine)
  }

  /// What one signed source says. The date is that of the source itself, for parts that state none of their
  /// own.
  init(
    transaction: JWSTransaction?, renewalInfo: JWSRenewalInfo?, status: SubscriptionStatus?,
    signedDate: Timestamp?
  ) {
    if var transaction {
      // Fields that this version does not know cannot matter to it, and have no bound.
      transaction.unknownFields = []
      self.transaction = TransactionFact(
        signedDate: transaction.signedDate ?? signedDate, transaction: transaction)
      if !transaction.isOfPeriod, let date = transaction.revocationDate {
        revocationOfLine = PurchaseEventFact(
          purchaseDate: transaction.purchaseDate, transactionId: transaction.transactionId, date: date,
          notificationType: transaction.isSharingWithdrawn == true ? .revoke : .refund, reason: nil)
      }
    }
    if var renewalInfo {
      renewalInfo.unknownFields = []
      self.renewalInfo = RenewalFact(
        signedDate: renewalInfo.signedDate ?? signedDate, renewalInfo: renewalInfo)
    }
    if let status { self.status = StatusFact(signedDate: signedDate, status: status) }
  }

  /// What a notification says.
  init(
    _ notification: Notification, transaction: JWSTransaction?, renewalInfo: JWSRenewalInfo?,
    signedDate: Timestamp?
  ) {
    self.init(
      transaction: transaction, renewalInfo: renewalInfo, status: notification.data?.status,
      signedDate: signedDate)
    notice = NoticeFact(
      signedDate: signedDate, notificationType: notification.notificationType,
      subtype: notification.subtype, notificationUUID: notification.notificationUUID)
    guard let transaction, let type = notification.notificationType else { return }
    let event = PurchaseEventFact(
      purchaseDate: transaction.purchaseDate, transactionId: transaction.transactionId,
      date: [signedDate, transaction.signedDate].compactMap(\.self).max(), notificationType: type,
      reason: notification.data?.consumptionRequestReason)
    switch type {
    case .consumptionRequest, .refundDeclined: refund = event
    case .refund: (refund, revocation) = (event, event)
    case .revoke: revocation = event
    case .refundReversed: (refund, reversal) = (event, event)
    default: break
    }
    guard !transaction.isOfPeriod else { return }
    revocationOfLine = .later(revocationOfLine, revocation)
    reversalOfLine = reversal
  }
}

extension JWSTransaction {
  /// Whether it pays for a period, after which another transaction of the same line pays for the next: a refund of one says
  /// nothing of the other. All transactions of a line that does not renew are of one purchase; those after the first
  /// restored it.
  var isOfPeriod: Bool { type == .autoRenewableSubscription || type == nil }

  /// Whether what was revoked is no longer shared with this customer, rather than refunded; `nil` if it does not say.
  var isSharingWithdrawn: Bool? {
    switch revocationType {
    case .some(.familyRevoke), .some(.assignmentRevoke): true
    case .some: false
    case nil: nil
    }
  }
}
