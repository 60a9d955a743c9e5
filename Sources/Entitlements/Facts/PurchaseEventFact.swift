// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension NoticeFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(signedDate, other.signedDate)
      ?? FactOrder.isLower(notificationUUID?.rawValue, other.notificationUUID?.rawValue)
  }
}

extension PurchaseEventFact: PurchaseFact {
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
}
