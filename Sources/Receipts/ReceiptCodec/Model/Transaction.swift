// SPDX-License-Identifier: Apache-2.0

/// A purchase event, in the model that all receipt formats share.
///
/// A field is `nil` if the receipt does not contain it. An app receipt from Xcode, for example, has no original
/// transaction identifier.
public struct Transaction: Sendable, Hashable {
  /// The unique identifier of the purchase event (`transactionId`, attribute 1703, `transaction-id`; `orderId` in other
  /// stores).
  public var transactionId: String?
  /// The identifier of the original transaction, which later ones renew or restore (`originalTransactionId`, attribute
  /// 1705, `original-transaction-id`).
  public var originalTransactionId: String?
  /// The identifier of the product (`productId`, attribute 1702, `product-id`).
  public var productId: String?
  /// The quantity purchased (`quantity`, attribute 1701).
  public var quantity: Int64?
  /// The date on which the store charged for the event (`purchaseDate`, attribute 1704, `purchase-date-ms`).
  public var purchaseDate: Timestamp?
  /// The date of the original transaction (`originalPurchaseDate`, attribute 1706).
  public var originalPurchaseDate: Timestamp?
  /// The date on which the subscription expires or renews (`expiresDate`, attribute 1708, `expires-date`).
  public var expiresDate: Timestamp?
  /// The date on which the store refunded or revoked the purchase (`revocationDate`, attribute 1712).
  public var revocationDate: Timestamp?
  /// The identifier of the purchase in the APIs of Google Play and Huawei (`purchaseToken`).
  ///
  /// For a subscription it also covers the renewals.
  public var purchaseToken: String?

  /// Creates a transaction from the known fields.
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
