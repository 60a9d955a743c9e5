// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension TransactionFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? {
    let (left, right) = (transaction, other.transaction)
    return FactOrder.isLower(left.purchaseDate, right.purchaseDate)
      ?? FactOrder.isLower(identifier: left.transactionId, right.transactionId)
      ?? FactOrder.isLower(signedDate, other.signedDate)
      // Of two versions signed in the same millisecond, the one with a revocation or an upgrade is later.
      ?? FactOrder.isLower(left.revocationDate, right.revocationDate)
      ?? FactOrder.isLower(left.isUpgraded == true, right.isUpgraded == true)
      ?? FactOrder.isLower(left.expiresDate, right.expiresDate)
  }
}

extension RenewalFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(signedDate, other.signedDate) }
}

extension ConsentFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(signedDate, other.signedDate) }
}

extension StatusFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? {
    if let isLower = FactOrder.isLower(signedDate, other.signedDate) { return isLower }
    return status == other.status ? nil : status.rawValue < other.status.rawValue
  }
}

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
