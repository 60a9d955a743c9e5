// SPDX-License-Identifier: Apache-2.0

/// The typed contents of a transaction receipt's signed inner property list, which describes one purchase.
///
/// A field is `nil` if the receipt has no such key.
public struct TransactionReceiptPurchaseInfo: Sendable, Hashable, FieldwiseBuildable {
  /// The bundle identifier of the app, `bid`.
  public var bundleId: String?
  /// The version of the app, `bvrs`.
  package var applicationVersion: String?
  /// The product identifier, `product-id`.
  public var productId: String?
  /// The identifier of the product in the App Store, `item-id`.
  package var itemId: String?
  /// The identifier of the app in the App Store, `app-item-id`.
  package var appItemId: String?
  /// The identifier of the app's version in the App Store, `version-external-identifier`.
  package var versionExternalIdentifier: String?
  /// The quantity purchased, `quantity`.
  public var quantity: Int64?
  /// The identifier of this purchase, `transaction-id`.
  public var transactionId: String?
  /// The identifier of the original purchase that was renewed or restored, `original-transaction-id`.
  public var originalTransactionId: String?
  /// The identifier of the device, `unique-identifier`.
  package var uniqueIdentifier: String?
  /// `identifierForVendor` of the device, `unique-vendor-identifier`.
  package var uniqueVendorIdentifier: String?
  /// The identifier of the subscription period that was purchased, `web-order-line-item-id`.
  package var webOrderLineItemId: String?
  /// The date of the purchase, `purchase-date-ms`, or else `purchase-date`.
  public var purchaseDate: Timestamp?
  /// The date of the original purchase, `original-purchase-date-ms`, or else `original-purchase-date`.
  public var originalPurchaseDate: Timestamp?
  /// The date on which the subscription expires, `expires-date` (in milliseconds), or else `expires-date-formatted`.
  public var expiresDate: Timestamp?
  /// All other entries, in order, such as `is-trial-period` and `in-app-ownership-type`.
  package var additionalEntries: [PropertyList.Entry] = []

  /// Creates purchase information, to be signed, from a transaction, the model that all receipt formats share.
  public init(transaction: Transaction = Transaction()) {
    productId = transaction.productId
    quantity = transaction.quantity
    transactionId = transaction.transactionId
    originalTransactionId = transaction.originalTransactionId
    purchaseDate = transaction.purchaseDate
    originalPurchaseDate = transaction.originalPurchaseDate
    expiresDate = transaction.expiresDate
  }

  /// The purchase as a transaction, the model that all receipt formats share. This format has no revocation date.
  package var transaction: Transaction {
    Transaction(
      transactionId: transactionId, originalTransactionId: originalTransactionId, productId: productId,
      quantity: quantity, purchaseDate: purchaseDate, originalPurchaseDate: originalPurchaseDate,
      expiresDate: expiresDate)
  }
}
