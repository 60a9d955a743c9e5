// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Something known of a line of purchases. Of two facts of a type the higher one is kept; the order is total
/// over the facts' bytes, so that which came first cannot matter.
protocol PurchaseFact: JSONObject {
  /// Whether the other one is kept instead; `nil` if the meaning does not decide.
  func isLower(than other: Self) -> Bool?
}

extension PurchaseFact {
  /// The higher of two facts. Facts whose bytes are equal are the same.
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
      // Signed in the same millisecond: what came of the purchase is later than the purchase.
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
