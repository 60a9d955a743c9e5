// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A fact about a series of purchases.
///
/// Of two facts of a type the higher one is kept. The order is total over the facts' bytes, so the order of arrival
/// does not matter.
protocol PurchaseFact: JSONObject {
  /// Returns `true` if the other fact is kept instead; `nil` if the facts' meaning does not decide.
  func isLower(than other: Self) -> Bool?
}

extension PurchaseFact {
  /// Returns the higher of two facts; facts with equal bytes are the same.
  static func higher(_ left: Self?, _ right: Self?) -> Self? {
    guard let left else { return right }
    guard let right else { return left }
    if let isLower = left.isLower(than: right) { return isLower ? right : left }
    return left.encodedJSON().lexicographicallyPrecedes(right.encodedJSON()) ? right : left
  }
}

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
