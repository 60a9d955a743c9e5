// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension InAppPurchase {
  /// Creates a purchase from a transaction, the model that all receipt formats share.
  ///
  /// ``Transaction/revocationDate`` is the cancellation date.
  public init(transaction: Transaction = Transaction()) {
    self.init(source: nil)
    self.transaction = transaction
  }

  /// The purchase as a transaction, the model that all receipt formats share.
  public package(set) var transaction: Transaction {
    get {
      Transaction(
        transactionId: transactionId, originalTransactionId: originalTransactionId, productId: productId,
        quantity: quantity, purchaseDate: purchaseDate, originalPurchaseDate: originalPurchaseDate,
        expiresDate: expiresDate, revocationDate: cancellationDate, type: productType?.productType,
        offerType: offerType, offerIdentifier: promotionalOfferId,
        offerDiscountType: isTrialPeriod == true ? .freeTrial : nil)
    }
    set {
      quantity = newValue.quantity
      productId = newValue.productId
      transactionId = newValue.transactionId
      purchaseDate = newValue.purchaseDate
      originalTransactionId = newValue.originalTransactionId
      originalPurchaseDate = newValue.originalPurchaseDate
      expiresDate = newValue.expiresDate
      cancellationDate = newValue.revocationDate
      productType = newValue.type.flatMap(AppReceiptProductType.init)
      promotionalOfferId = newValue.offerIdentifier
    }
  }

  private var offerType: OfferType? {
    if promotionalOfferId != nil { return .promotional }
    return isTrialPeriod == true || isInIntroOfferPeriod == true ? .introductory : nil
  }

  /// Decodes the set of attributes at `range` of a payload; ``source`` holds the same bytes. It is not an initializer,
  /// because a throwing initializer copies the value it made.
  mutating func decode(
    _ range: Range<Int>, likely: inout LikelyTexts, at index: Int, within payload: ReceiptASN1Reader,
    _ budget: inout AttributeBudget, _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) {
    var top = try payload.nested(range)
    var set = try top.enter(.set, bytes)
    var seen = SeenAttributeTypes(base: Self.lowestAttributeType)
    while try !set.isAtEnd(bytes) {
      let attribute = try RawAttribute(reading: &set, inAppIndex: index, bytes)
      try budget.takeOne()
      guard seen.insert(attribute.type) else {
        throw attribute.failure(.duplicate, "The attribute occurs twice.")
      }
      try setField(attribute, likely: &likely, bytes)
    }
    try top.leave(set, bytes)
    try top.requireEnd(bytes)
    isChanged = false
  }
}

extension AppReceiptProductType {
  /// Creates the number of a type of product; `nil` for a type that app receipts do not have.
  package init?(_ type: ProductType) {
    guard let found = Self.productTypes.first(where: { $0.type == type }) else { return nil }
    self = found.number
  }

  /// The type of product as other receipts name it; `nil` for an unknown number.
  package var productType: ProductType? { Self.productTypes.first { $0.number == self }?.type }

  private static let productTypes: [(number: AppReceiptProductType, type: ProductType)] = [
    (.nonConsumable, .nonConsumable), (.consumable, .consumable),
    (.nonRenewingSubscription, .nonRenewingSubscription),
    (.autoRenewableSubscription, .autoRenewableSubscription),
  ]
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
