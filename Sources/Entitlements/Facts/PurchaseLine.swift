// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// All that is kept of one original transaction: the highest fact of each type. What a notification says is
/// such a line, too, and to learn from it is to join the two. Joining takes the higher fact of each type, and
/// the higher of two in a total order is commutative, associative and idempotent: neither order nor repetition
/// nor grouping of deliveries can matter, and what was dropped could not have mattered.
struct PurchaseLine: Sendable, Hashable {
  var transaction: TransactionFact?
  var renewalInfo: RenewalFact?
  var status: StatusFact?
  var notice: NoticeFact?
  /// The latest about a refund of the latest purchase that was notified about.
  var refund: PurchaseEventFact?
  /// Of these, the latest that took the purchase away…
  var revocation: PurchaseEventFact?
  /// …and the latest that gave it back.
  var reversal: PurchaseEventFact?
  var unknownFields: [JSONMember] = []

  mutating func join(_ other: PurchaseLine) {
    transaction = .higher(transaction, other.transaction)
    renewalInfo = .higher(renewalInfo, other.renewalInfo)
    status = .higher(status, other.status)
    notice = .higher(notice, other.notice)
    refund = .higher(refund, other.refund)
    revocation = .higher(revocation, other.revocation)
    reversal = .higher(reversal, other.reversal)
  }
}

extension PurchaseLine {
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
  }
}

extension PurchaseLine: JSONObject {
  enum Field: String, CaseIterable {
    case transaction, renewalInfo, status, notice, refund, revocation, reversal
  }

  static let fieldNames = JSONFieldNames<Field>()

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .transaction: try coder.code(&transaction)
    case .renewalInfo: try coder.code(&renewalInfo)
    case .status: try coder.code(&status)
    case .notice: try coder.code(&notice)
    case .refund: try coder.code(&refund)
    case .revocation: try coder.code(&revocation)
    case .reversal: try coder.code(&reversal)
    }
  }
}
