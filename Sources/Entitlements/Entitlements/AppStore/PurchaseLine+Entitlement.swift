// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension PurchaseLine {
  /// Returns the entitlement that the facts give; `nil` until a transaction is known.
  func line(_ id: Entitlement.ID) -> Entitlement? {
    guard let transaction = transaction?.transaction else { return nil }
    return Entitlement(
      id: id, transaction: transaction, renewalInfo: renewalInfo?.renewalInfo,
      renewalInfoSignedDate: renewalInfo?.signedDate, reportedStatus: status?.status,
      latestNotice: notice.map {
        Entitlement.Notice(
          type: $0.notificationType, subtype: $0.subtype, uuid: $0.notificationUUID,
          signedDate: $0.signedDate)
      },
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
      ?? [.familyShared, .assigned].contains(transaction.inAppOwnershipType)
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
