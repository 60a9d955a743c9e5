// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A notification, as far as it happened to a line of purchases. The one signed last counts.
struct NoticeFact: PurchaseFact, Sendable, Hashable {
  var signedDate: Timestamp?
  var notificationType: NotificationType?
  var subtype: NotificationSubtype?
  var notificationUUID: UUIDString?
  var unknownFields: [JSONMember] = []

  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(signedDate, other.signedDate)
      ?? FactOrder.isLower(notificationUUID?.rawValue, other.notificationUUID?.rawValue)
  }

  enum Field: String, CaseIterable { case signedDate, notificationType, subtype, notificationUUID }
  static let fieldNames = JSONFieldNames<Field>()
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .signedDate: try coder.code(&signedDate)
    case .notificationType: try coder.code(&notificationType)
    case .subtype: try coder.code(&subtype)
    case .notificationUUID: try coder.code(&notificationUUID)
    }
  }
}

/// What was notified about one purchase of a line: a refund asked for, granted, declined or undone, or family
/// sharing withdrawn. Those about the latest purchase count; of them the one signed last.
struct PurchaseEventFact: PurchaseFact, Sendable, Hashable {
  var purchaseDate: Timestamp?
  var transactionId: String?
  /// No earlier than the transaction in the notification was signed.
  var date: Timestamp?
  var notificationType = NotificationType(rawValue: "")
  var reason: ConsumptionRequestReason?
  var unknownFields: [JSONMember] = []

  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(purchaseDate, other.purchaseDate)
      ?? FactOrder.isLower(identifier: transactionId, other.transactionId)
      ?? FactOrder.isLower(date, other.date)
      ?? (rank == other.rank ? nil : rank < other.rank)
  }

  /// In the order in which they happen, for those signed in the same millisecond.
  private var rank: Int {
    switch notificationType {
    case .consumptionRequest: 1
    case .refundDeclined: 2
    case .refund: 3
    case .refundReversed: 4
    case .revoke: 5
    default: 0
    }
  }

  /// Whether it is about the purchase in this transaction.
  func isAbout(_ transaction: JWSTransaction) -> Bool {
    FactOrder.isLower(purchaseDate, transaction.purchaseDate) == nil
      && FactOrder.isLower(transactionId, transaction.transactionId) == nil
  }

  enum Field: String, CaseIterable { case purchaseDate, transactionId, date, notificationType, reason }
  static let fieldNames = JSONFieldNames<Field>(required: [.notificationType])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .purchaseDate: try coder.code(&purchaseDate)
    case .transactionId: try coder.code(&transactionId)
    case .date: try coder.code(&date)
    case .notificationType: try coder.code(&notificationType)
    case .reason: try coder.code(&reason)
    }
  }
}
