// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptVerification

extension PurchaseLine: LineFacts {
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

extension PurchaseLine {
  func line(_ id: Entitlement.ID) -> Entitlement? {
    guard let transaction = transaction?.transaction else { return nil }
    return Entitlement(
      id: id, transaction: transaction, renewalInfo: renewalInfo?.renewalInfo,
      renewalInfoSignedDate: renewalInfo?.signedDate, reportedStatus: status?.status,
      refund: currentRefund, revocation: currentRevocation)
  }

  private var currentRefund: Entitlement.Refund? {
    guard let transaction = transaction?.transaction, let refund, refund.isAbout(transaction) else {
      return nil
    }
    let progress: Entitlement.Refund.Progress
    switch refund.notificationType {
    case .consumptionRequest: progress = .requested
    case .refundDeclined: progress = .declined
    case .refund: progress = .granted
    case .refundReversed: progress = .reversed
    default: return nil
    }
    return Entitlement.Refund(progress: progress, date: refund.date, reason: refund.reason)
  }

  /// The revocation of the latest transaction; `nil` if it is not revoked.
  ///
  /// The latest transaction states its own revocation. Notifications count if they contradict it: after `REFUND` and
  /// `REVOKE`, a transaction without a revocation counts only if it was signed later, and `REFUND_REVERSED` undoes
  /// every earlier revocation.
  private var currentRevocation: Entitlement.Revocation? {
    guard let fact = transaction else { return nil }
    let transaction = fact.transaction
    let notified = notifiedRevocation(of: transaction)
    let date: Timestamp
    if let stated = transaction.revocationDate {
      date = stated
    } else if let notified, FactOrder.isLower(notified.date, fact.signedDate) != true {
      date =
        notified.date ?? transaction.purchaseDate ?? Timestamp(millisecondsSince1970: 0)
    } else {
      return nil
    }
    if let reversal = notifiedReversal(of: transaction), FactOrder.isLower(reversal.date, date) != true,
      FactOrder.isLower(reversal.date, notified?.date) != true
    {
      return nil
    }
    let isSharingWithdrawn =
      transaction.isSharingWithdrawn ?? notified.map { $0.notificationType == .revoke }
      ?? transaction.isShared
    return Entitlement.Revocation(
      date: date, reason: transaction.revocationReason, type: transaction.revocationType,
      percentage: transaction.revocationPercentage, isSharingWithdrawn: isSharingWithdrawn)
  }

  /// Returns the latest event that revoked the purchase.
  ///
  /// A purchase that does not renew is revoked with any of its transactions, even with the first if the latest restored
  /// it before. If it was bought again afterwards, that is another purchase.
  private func notifiedRevocation(of transaction: JWSTransaction) -> PurchaseEventFact? {
    let ownRevocation = revocation?.isAbout(transaction) == true ? revocation : nil
    guard !transaction.isOfPeriod, let any = PurchaseEventFact.later(revocationOfLine, revocation),
      FactOrder.isLower(any.date, transaction.purchaseDate) != true
    else { return ownRevocation }
    return .later(ownRevocation, any)
  }

  /// Returns the latest event that reversed a revocation of the purchase.
  private func notifiedReversal(of transaction: JWSTransaction) -> PurchaseEventFact? {
    guard transaction.isOfPeriod else { return .later(reversalOfLine, reversal) }
    return reversal?.isAbout(transaction) == true ? reversal : nil
  }
}

extension JWSTransaction {
  /// `true` if the transaction pays for a period, after which another transaction of the same series pays for the next.
  ///
  /// A refund of one such transaction does not affect the other. If a series does not renew, all its transactions
  /// belong to one purchase; those after the first restored it.
  var isOfPeriod: Bool { type == .autoRenewableSubscription || type == nil }

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
  fileprivate var withoutReason: PurchaseEventFact { with { $0.reason = nil } }
}
