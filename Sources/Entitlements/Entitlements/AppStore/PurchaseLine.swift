// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension PurchaseLine: LineFacts {
  /// Keeps the higher fact of each type.
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

  static func decode(_ record: LedgerRecord) -> (Entitlement.ID, Self)? {
    Entitlement.ID(
      environment: ReceiptEnvironment.Category(rawValue: record.environment), bundleId: record.bundleId,
      identifier: record.originalTransactionId
    ).map { ($0, record.facts) }
  }

  func record(_ id: Entitlement.ID) -> LedgerRecord {
    LedgerRecord(
      environment: id.environment.rawValue, bundleId: id.bundleId,
      originalTransactionId: id.originalTransactionId, facts: self)
  }

  var withdrawals: PurchaseLine? {
    guard
      revocation != nil || revocationOfLine != nil || transaction?.transaction.revocationDate != nil
    else { return nil }
    var kept = PurchaseLine()
    kept.transaction = transaction.map {
      TransactionFact(signedDate: $0.signedDate, transaction: $0.transaction.withoutCustomer)
    }
    kept.revocation = revocation.map(\.withoutReason)
    kept.reversal = reversal.map(\.withoutReason)
    kept.revocationOfLine = revocationOfLine.map(\.withoutReason)
    kept.reversalOfLine = reversalOfLine.map(\.withoutReason)
    return kept
  }

  /// Creates the facts of one signed source.
  ///
  /// `signedDate` is the source's own date, for parts that state no date.
  init(
    transaction: JWSTransaction?, renewalInfo: JWSRenewalInfo?, status: SubscriptionStatus?,
    signedDate: Timestamp?
  ) {
    if var transaction {
      // Unknown fields have no effect in this version, and their size has no limit.
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

  /// Creates the facts of a notification.
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
  /// `true` if the transaction pays for a period, after which another transaction of the same series pays for the next.
  ///
  /// A refund of one such transaction does not affect the other. If a series does not renew, all its transactions
  /// belong to one purchase; those after the first restored it.
  var isOfPeriod: Bool { type == .autoRenewableSubscription || type == nil }

  /// `true` if the revocation withdrew sharing with this customer, `false` if it was a refund; `nil` if it does not
  /// say.
  var isSharingWithdrawn: Bool? {
    switch revocationType {
    case .some(.familyRevoke), .some(.assignmentRevoke): true
    case .some: false
    case nil: nil
    }
  }
  /// The transaction with only the members that determine access.
  fileprivate var withoutCustomer: JWSTransaction {
    var transaction = JWSTransaction()
    transaction.originalTransactionId = originalTransactionId
    transaction.transactionId = transactionId
    transaction.bundleId = bundleId
    transaction.productId = productId
    transaction.purchaseDate = purchaseDate
    transaction.expiresDate = expiresDate
    transaction.type = type
    transaction.inAppOwnershipType = inAppOwnershipType
    transaction.signedDate = signedDate
    transaction.revocationReason = revocationReason
    transaction.revocationDate = revocationDate
    transaction.revocationType = revocationType
    transaction.revocationPercentage = revocationPercentage
    transaction.isUpgraded = isUpgraded
    transaction.environment = environment
    return transaction
  }
}

extension PurchaseEventFact {
  /// The event without the customer's reason.
  fileprivate var withoutReason: PurchaseEventFact { with { $0.reason = nil } }
}
