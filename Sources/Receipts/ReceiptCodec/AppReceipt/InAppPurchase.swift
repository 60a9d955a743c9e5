// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// An in-app purchase of an app receipt: the set of attributes in an attribute of type 17.
///
/// A field is `nil` if the purchase has no such attribute, or an empty date. Apple does not document the types marked
/// †. Two purchases are equal if they encode to the same bytes.
public struct InAppPurchase: Sendable, FieldwiseBuildable {
  /// The quantity purchased, type 1701.
  public var quantity: Int64? { didSet { isChanged = true } }
  /// The product identifier, type 1702.
  public var productId: String? { didSet { isChanged = true } }
  /// The identifier of this purchase, type 1703.
  public var transactionId: String? { didSet { isChanged = true } }
  /// The date of the purchase, type 1704.
  public var purchaseDate: Timestamp? { didSet { isChanged = true } }
  /// The identifier of the original purchase that was renewed or restored, type 1705.
  public var originalTransactionId: String? { didSet { isChanged = true } }
  /// The date of the original purchase, type 1706.
  public var originalPurchaseDate: Timestamp? { didSet { isChanged = true } }
  /// The type of product, type 1707 †.
  public var productType: AppReceiptProductType? { didSet { isChanged = true } }
  /// The date on which the subscription expires or renews, type 1708.
  public var expiresDate: Timestamp? { didSet { isChanged = true } }
  /// The identifier of the subscription period that was purchased, type 1711; 0 for other products.
  public var webOrderLineItemId: Int64? { didSet { isChanged = true } }
  /// The date on which the store cancelled or refunded the purchase, type 1712.
  public var cancellationDate: Timestamp? { didSet { isChanged = true } }
  /// `true` if the purchase is a free trial, type 1713 †.
  public var isTrialPeriod: Bool? { didSet { isChanged = true } }
  /// `true` if the purchase is a period at an introductory price, type 1719.
  public var isInIntroOfferPeriod: Bool? { didSet { isChanged = true } }
  /// The identifier of the promotional offer that was redeemed, type 1721 †.
  public var promotionalOfferId: String? { didSet { isChanged = true } }
  /// Further attributes to write, besides those that have a field.
  ///
  /// The attributes of a decoded purchase are in ``attributes``, and they stay if a field is changed.
  package var additionalAttributes: [AppReceiptAttribute] = [] { didSet { isChanged = true } }

  /// The decoded set, exactly as signed.
  let source: ArraySlice<UInt8>?
  /// Indicates whether a field was set after decoding, so that ``source`` is out of date.
  private(set) var isChanged = false

  /// Creates a purchase from a transaction, the model that all receipt formats share.
  ///
  /// ``Transaction/revocationDate`` is the cancellation date.
  public init(transaction: Transaction = Transaction()) {
    quantity = transaction.quantity
    productId = transaction.productId
    transactionId = transaction.transactionId
    purchaseDate = transaction.purchaseDate
    originalTransactionId = transaction.originalTransactionId
    originalPurchaseDate = transaction.originalPurchaseDate
    expiresDate = transaction.expiresDate
    cancellationDate = transaction.revocationDate
    source = nil
  }

  /// The purchase as a transaction, the model that all receipt formats share.
  package var transaction: Transaction {
    Transaction(
      transactionId: transactionId, originalTransactionId: originalTransactionId, productId: productId,
      quantity: quantity, purchaseDate: purchaseDate, originalPurchaseDate: originalPurchaseDate,
      expiresDate: expiresDate, revocationDate: cancellationDate)
  }

  /// Creates an empty purchase to be decoded with ``decode(_:likely:at:within:_:_:)``.
  init(source: ArraySlice<UInt8>) { self.source = source }

  /// Decodes the set of attributes at `range` of a payload; ``source`` holds the same bytes.
  ///
  /// It is not an initializer, because a throwing initializer copies the value it made.
  mutating func decode(
    _ range: Range<Int>, likely: inout LikelyTexts, at index: Int, within payload: ReceiptASN1Reader,
    _ budget: inout AttributeBudget, _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) {
    var top = try payload.nested(range)
    var set = try top.enter(.set, bytes)
    var seen = SeenAttributeTypes(base: InAppAttributeType.quantity)
    while try !set.isAtEnd(bytes) {
      let attribute = try RawAttribute(reading: &set, inAppIndex: index, bytes)
      try budget.takeOne()
      guard seen.insert(attribute.type) else {
        throw attribute.failure(.duplicate, "The attribute occurs twice.")
      }
      switch attribute.type {
      case InAppAttributeType.quantity: quantity = try attribute.int64(bytes)
      case InAppAttributeType.productId: productId = try attribute.text(bytes, likely: &likely.productId)
      case InAppAttributeType.transactionId: transactionId = try attribute.text(bytes)
      case InAppAttributeType.purchaseDate: purchaseDate = try attribute.date(bytes)
      case InAppAttributeType.originalTransactionId:
        originalTransactionId = try attribute.text(bytes, likely: &likely.originalTransactionId)
      case InAppAttributeType.originalPurchaseDate: originalPurchaseDate = try attribute.date(bytes)
      case InAppAttributeType.productType:
        productType = AppReceiptProductType(rawValue: try attribute.int64(bytes))
      case InAppAttributeType.expiresDate: expiresDate = try attribute.date(bytes)
      case InAppAttributeType.webOrderLineItemId: webOrderLineItemId = try attribute.int64(bytes)
      case InAppAttributeType.cancellationDate: cancellationDate = try attribute.date(bytes)
      case InAppAttributeType.isTrialPeriod: isTrialPeriod = try attribute.flag(bytes)
      case InAppAttributeType.isInIntroOfferPeriod: isInIntroOfferPeriod = try attribute.flag(bytes)
      case InAppAttributeType.promotionalOfferId: promotionalOfferId = try attribute.text(bytes)
      default: break
      }
    }
    try top.leave(set, bytes)
    try top.requireEnd(bytes)
    isChanged = false
  }
}

/// The texts of the preceding purchases, which the next purchase probably repeats.
struct LikelyTexts {
  var productId: String?
  var originalTransactionId: String?
}

/// The number of attributes that may still be read.
struct AttributeBudget {
  private var remaining: Int
  private let limit: Int

  init(_ limits: ReceiptLimits) {
    limit = limits.maximumElementCount
    remaining = limit
  }

  @inline(__always)
  mutating func takeOne() throws(MalformedReceipt) {
    guard remaining > 0 else {
      throw MalformedReceipt(
        .tooLarge, at: .whole, "There are more attributes than the limit of \(limit).")
    }
    remaining -= 1
  }
}
