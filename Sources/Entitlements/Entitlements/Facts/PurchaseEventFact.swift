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
      // A restored purchase has several transactions.
      ?? (purchaseDate == nil ? FactOrder.isLower(identifier: transactionId, other.transactionId) : nil)
      ?? isEarlier(than: other)
  }

  private func isEarlier(than other: Self) -> Bool? {
    FactOrder.isLower(date, other.date) ?? (rank == other.rank ? nil : rank < other.rank)
  }

  /// Returns the later of two facts, regardless of the transactions that they are about.
  static func later(_ left: Self?, _ right: Self?) -> Self? {
    guard let left, let right, let isEarlier = left.isEarlier(than: right) else {
      return .higher(left, right)
    }
    return isEarlier ? right : left
  }

  /// The sequence in which such events happen, for events signed in the same millisecond.
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

  /// Returns `true` if the event is about the purchase in this transaction.
  func isAbout(_ transaction: JWSTransaction) -> Bool {
    FactOrder.isLower(purchaseDate, transaction.purchaseDate) == nil
      && (purchaseDate != nil || FactOrder.isLower(transactionId, transaction.transactionId) == nil)
  }
}
