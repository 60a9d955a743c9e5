// SPDX-License-Identifier: Apache-2.0

/// One purchase event, in the terms that every kind of receipt shares.
///
/// A field is `nil` if the receipt does not state it: an app receipt from Xcode, for example, has no
/// original transaction identifier.
public struct Transaction: Sendable, Hashable {
  /// Unique identifier of this purchase event (`transactionId`, attribute 1703, `transaction-id`,
  /// `orderId` of other stores).
  public var transactionId: String?
  /// Identifier of the first transaction in a line of renewals or restores (`originalTransactionId`,
  /// attribute 1705, `original-transaction-id`).
  public var originalTransactionId: String?
  /// The product that was bought (`productId`, attribute 1702, `product-id`).
  public var productId: String?
  /// The number of were bought (`quantity`, attribute 1701).
  public var quantity: Int64?
  /// When the store charged for this event (`purchaseDate`, attribute 1704, `purchase-date-ms`).
  public var purchaseDate: Timestamp?
  /// When the original transaction was made (`originalPurchaseDate`, attribute 1706).
  public var originalPurchaseDate: Timestamp?
  /// When the subscription expires or renews (`expiresDate`, attribute 1708, `expires-date`).
  public var expiresDate: Timestamp?
  /// When the store refunded or revoked it (`revocationDate`, attribute 1712).
  public var revocationDate: Timestamp?
  /// The identifier of the purchase, and of a subscription with its renewals, in the interfaces of Google Play and Huawei
  /// (`purchaseToken`).
  public var purchaseToken: String?

  /// Creates a transaction from whatever fields are known.
  public init(
    transactionId: String? = nil, originalTransactionId: String? = nil, productId: String? = nil,
    quantity: Int64? = nil, purchaseDate: Timestamp? = nil, originalPurchaseDate: Timestamp? = nil,
    expiresDate: Timestamp? = nil, revocationDate: Timestamp? = nil, purchaseToken: String? = nil
  ) {
    self.transactionId = transactionId
    self.originalTransactionId = originalTransactionId
    self.productId = productId
    self.quantity = quantity
    self.purchaseDate = purchaseDate
    self.originalPurchaseDate = originalPurchaseDate
    self.expiresDate = expiresDate
    self.revocationDate = revocationDate
    self.purchaseToken = purchaseToken
  }
}
