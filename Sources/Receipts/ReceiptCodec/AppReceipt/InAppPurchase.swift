// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// One in-app purchase of an app receipt: the set of attributes in an attribute of type 17.
///
/// A field is `nil` if the purchase has no such attribute, or an empty date. Types marked † are not
/// documented by Apple. Two purchases are equal when they encode to the same bytes.
public struct InAppPurchase: Sendable, FieldwiseBuildable {
  /// The number of were bought, type 1701.
  public var quantity: Int64? { didSet { isChanged = true } }
  /// The product, type 1702.
  public var productId: String? { didSet { isChanged = true } }
  /// The identifier of this purchase, type 1703.
  public var transactionId: String? { didSet { isChanged = true } }
  /// When it was bought, type 1704.
  public var purchaseDate: Timestamp? { didSet { isChanged = true } }
  /// The identifier of the first purchase of a line of renewals or restores, type 1705.
  public var originalTransactionId: String? { didSet { isChanged = true } }
  /// When that was made, type 1706.
  public var originalPurchaseDate: Timestamp? { didSet { isChanged = true } }
  /// The type of product, type 1707 †.
  public var productType: AppReceiptProductType? { didSet { isChanged = true } }
  /// When the subscription expires or renews, type 1708.
  public var expiresDate: Timestamp? { didSet { isChanged = true } }
  /// The identifier of the subscription period that was bought, type 1711; 0 for other products.
  public var webOrderLineItemId: Int64? { didSet { isChanged = true } }
  /// When the store cancelled or refunded it, type 1712.
  public var cancellationDate: Timestamp? { didSet { isChanged = true } }
  /// Indicates whether it is a free trial, type 1713 †.
  public var isTrialPeriod: Bool? { didSet { isChanged = true } }
  /// Indicates whether it is a period at an introductory price, type 1719.
  public var isInIntroOfferPeriod: Bool? { didSet { isChanged = true } }
  /// The promotional offer that was redeemed, type 1721 †.
  public var promotionalOfferId: String? { didSet { isChanged = true } }
  /// Attributes to write besides those that have a field. Those of a decoded purchase are in ``attributes``,
  /// and stay when a field is changed.
  public var additionalAttributes: [AppReceiptAttribute] = [] { didSet { isChanged = true } }

  /// The set that was decoded, exactly as signed.
  let source: ArraySlice<UInt8>?
  /// Indicates whether a field was set after decoding, so that ``source`` no longer says the same.
  private(set) var isChanged = false

  /// Creates a purchase from the fields that all kinds of receipt share; ``Transaction/revocationDate`` is the
  /// cancellation date.
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

  /// The purchase in the terms that all kinds of receipt share.
  public var transaction: Transaction {
    Transaction(
      transactionId: transactionId, originalTransactionId: originalTransactionId, productId: productId,
      quantity: quantity, purchaseDate: purchaseDate, originalPurchaseDate: originalPurchaseDate,
      expiresDate: expiresDate, revocationDate: cancellationDate)
  }

  /// Creates a purchase without fields, for ``decode(_:likely:at:within:_:_:)``.
  init(source: ArraySlice<UInt8>) { self.source = source }

  /// Decodes the set of attributes at `range` of a payload, which ``source`` is. Not an initializer, since those that
  /// throw copy what they made.
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

/// The texts that purchases had last, which are likely those of the next.
struct LikelyTexts {
  var productId: String?
  var originalTransactionId: String?
}

/// The number of attributes may still be read.
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
