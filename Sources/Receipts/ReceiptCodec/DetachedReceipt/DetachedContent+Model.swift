// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The claims that all kinds share. A claim is `nil` or empty if the data does not contain it.
extension DetachedContent {
  /// The purchases that had been paid for when the data was signed. Purchases that were cancelled, refunded or not yet
  /// paid for at that time are only in the content.
  package var transactions: [Transaction] {
    switch self {
    case .googlePlayPurchase(let purchase): purchase.isPaid ? purchase.transactions : []
    case .googlePlayOrders(let list): list.orders.filter(\.isPaid).flatMap(\.transactions)
    case .googlePlayLicense: []
    case .huaweiPurchase(let purchase): purchase.isPaid ? [purchase.transaction] : []
    }
  }

  /// The environment; `nil` for Google Play, whose data does not state one. At Huawei, `purchaseType` 0 is the sandbox.
  /// A real purchase has no such member.
  package var environment: ReceiptEnvironment? {
    guard case .huaweiPurchase(let purchase) = self else { return nil }
    switch purchase.purchaseType {
    case .sandbox: return .sandbox
    case .promotional, nil: return .production
    case .unknown: return nil
    }
  }

  /// The closest known date to the signing: the latest purchase date, or the licence response's timestamp.
  package var signedDate: Timestamp? {
    switch self {
    case .googlePlayPurchase(let purchase): purchase.purchaseTime
    case .googlePlayOrders(let list): list.orders.compactMap(\.purchaseTime).max()
    case .googlePlayLicense(let license): license.timestamp
    case .huaweiPurchase(let purchase): purchase.purchaseTime ?? purchase.purchaseTimeMillis
    }
  }

  /// The customer's account identifier, as the app obfuscated it.
  package var obfuscatedAccountId: String? {
    guard case .googlePlayPurchase(let purchase) = self else { return nil }
    return purchase.obfuscatedAccountId
  }
}

extension GooglePlayPurchase {
  /// `true` if the purchase had been paid for when it was signed. A missing state counts as paid, because the test data
  /// of some libraries has none.
  package var isPaid: Bool { purchaseState == nil || purchaseState == .purchased }

  /// The distinct products of the order. Google states one (`productId`), several (`productIds`), or both.
  package var products: [String] {
    var products: [String] = []
    for product in (productId.map { [$0] } ?? []) + (productIds ?? [])
    where !product.isEmpty && !products.contains(where: { UTF8Text.isIdentical($0, product) }) {
      products.append(product)
    }
    return products
  }

  /// The purchases as transactions, the model that all receipt formats share: one for each product of the order. All
  /// have the order's identifier, purchase token, date and quantity. The format has no expiration or revocation date.
  package var transactions: [Transaction] {
    var transaction = Transaction(
      transactionId: orderId?.isEmpty == true ? nil : orderId, productId: productId, quantity: quantity,
      purchaseDate: purchaseTime, type: autoRenewing == nil ? nil : .autoRenewableSubscription,
      appAccountToken: obfuscatedAccountId, purchaseToken: purchaseToken)
    let products = products
    // The test data of some libraries names no product.
    guard !products.isEmpty else { return [transaction] }
    return products.map { product in
      transaction.productId = product
      return transaction
    }
  }
}

extension HuaweiPurchase {
  /// `true` if the purchase had been paid for when it was signed, or if the data does not state it.
  package var isPaid: Bool { purchaseState == nil || purchaseState == .purchased }

  /// The purchase as a transaction, the model that all receipt formats share.
  package var transaction: Transaction {
    Transaction(
      transactionId: orderId, originalTransactionId: oriSubscriptionId ?? subscriptionId,
      productId: productId, quantity: quantity, purchaseDate: purchaseTime ?? purchaseTimeMillis,
      originalPurchaseDate: oriPurchaseTime, expiresDate: expirationDate, type: kind?.productType,
      price: hundredths.map { $0 * 10 }, currency: currency, purchaseToken: purchaseToken)
  }

  /// The price times 100; `nil` for a price beyond a million million, which cannot be one.
  private var hundredths: Int64? {
    guard let hundredths = price?.int64 ?? price?.string.flatMap({ Int64($0) }),
      hundredths.magnitude <= 100_000_000_000_000
    else { return nil }
    return hundredths
  }
}

extension HuaweiProductKind {
  fileprivate var productType: ProductType? {
    switch self {
    case .consumable: .consumable
    case .nonConsumable: .nonConsumable
    case .subscription: .autoRenewableSubscription
    case .unknown: nil
    }
  }
}

extension GooglePlayLicense: Encodable {
  package var jsonValue: JSONValue {
    .members(
      ("responseCode", .integer(responseCode.rawValue)), ("nonce", .integer(nonce)),
      ("packageName", .string(packageName)), ("versionCode", .string(versionCode)),
      ("userId", .string(userId)), ("timestamp", .string(timestamp.iso8601)),
      ("extras", extras.map { .string($0) }))
  }

  /// Encodes the fields by name; the date is in ISO 8601.
  ///
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws { try jsonValue.encode(to: encoder) }
}

extension DetachedContent: Encodable {
  /// Returns the data as JSON: the signed data if it is JSON, or else the fields by name.
  package func jsonValue(of bytes: [UInt8]) -> JSONValue {
    guard case .googlePlayLicense(let license) = self else {
      return (try? JSONValue(parsing: bytes)) ?? .null
    }
    return license.jsonValue
  }

  /// Encodes the data as the store signs it, and a licence response as its fields by name.
  ///
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .googlePlayPurchase(let purchase): try purchase.encode(to: encoder)
    case .googlePlayOrders(let orders): try orders.encode(to: encoder)
    case .googlePlayLicense(let license): try license.encode(to: encoder)
    case .huaweiPurchase(let purchase): try purchase.encode(to: encoder)
    }
  }
}
