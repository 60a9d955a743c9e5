// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Something known of a line of purchases. Of two facts of a type the higher one is kept; the order is total
/// over the facts' bytes, so that which came first cannot matter.
protocol PurchaseFact: JSONObject {
  /// Whether the other one is kept instead; `nil` where the meaning does not decide.
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

/// A snapshot of a transaction. The latest purchase of the line counts; of its snapshots the one signed last.
struct TransactionFact: PurchaseFact, Sendable, Hashable {
  var signedDate: Timestamp?
  var transaction = JWSTransaction()
  var unknownFields: [JSONMember] = []

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

  enum Field: String, CaseIterable { case signedDate, transaction }
  static let fieldNames = JSONFieldNames<Field>(required: [.transaction])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .signedDate: try coder.code(&signedDate)
    case .transaction: try coder.code(&transaction)
    }
  }
}

/// A snapshot of the renewal information. The one signed last counts.
struct RenewalFact: PurchaseFact, Sendable, Hashable {
  var signedDate: Timestamp?
  var renewalInfo = JWSRenewalInfo()
  var unknownFields: [JSONMember] = []

  func isLower(than other: Self) -> Bool? { FactOrder.isLower(signedDate, other.signedDate) }

  enum Field: String, CaseIterable { case signedDate, renewalInfo }
  static let fieldNames = JSONFieldNames<Field>(required: [.renewalInfo])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .signedDate: try coder.code(&signedDate)
    case .renewalInfo: try coder.code(&renewalInfo)
    }
  }
}

/// What the App Store called the state of the subscription. The latest counts.
struct StatusFact: PurchaseFact, Sendable, Hashable {
  var signedDate: Timestamp?
  var status = SubscriptionStatus(rawValue: 0)
  var unknownFields: [JSONMember] = []

  func isLower(than other: Self) -> Bool? {
    if let isLower = FactOrder.isLower(signedDate, other.signedDate) { return isLower }
    return status == other.status ? nil : status.rawValue < other.status.rawValue
  }

  enum Field: String, CaseIterable { case signedDate, status }
  static let fieldNames = JSONFieldNames<Field>(required: [.status])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .signedDate: try coder.code(&signedDate)
    case .status: try coder.code(&status)
    }
  }
}
