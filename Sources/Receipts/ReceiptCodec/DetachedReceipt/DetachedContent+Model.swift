// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The claims that the kinds have in common. What the data does not state is absent.
extension DetachedContent {
  /// The purchases that were paid for. Those that were cancelled, refunded or not yet paid for when the data was signed
  /// are in the content alone.
  package var transactions: [Transaction] {
    switch self {
    case .googlePlayPurchase(let purchase): purchase.isPaid ? purchase.transactions : []
    case .googlePlayOrders(let list): list.orders.filter(\.isPaid).flatMap(\.transactions)
    case .googlePlayLicense: []
    case .huaweiPurchase(let purchase): purchase.isPaid ? [purchase.transaction] : []
    }
  }

  /// The environment. Google does not state one. At Huawei `purchaseType` 0 is the sandbox, and a real purchase has no
  /// such member.
  package var environment: ReceiptEnvironment? {
    guard case .huaweiPurchase(let purchase) = self else { return nil }
    switch purchase.purchaseType {
    case .sandbox: return .sandbox
    case .promotional, nil: return .production
    case .unknown: return nil
    }
  }

  /// When it was signed, as nearly as the data says: the latest time of purchase, or the licence's timestamp.
  package var signedDate: Timestamp? {
    switch self {
    case .googlePlayPurchase(let purchase): purchase.purchaseTime
    case .googlePlayOrders(let list): list.orders.compactMap(\.purchaseTime).max()
    case .googlePlayLicense(let license): license.timestamp
    case .huaweiPurchase(let purchase): purchase.purchaseTime ?? purchase.purchaseTimeMillis
    }
  }

  /// The customer's account, as the app obfuscated it.
  package var obfuscatedAccountId: String? {
    guard case .googlePlayPurchase(let purchase) = self else { return nil }
    return purchase.obfuscatedAccountId
  }
}

extension GooglePlayPurchase {
  /// Indicates whether it was paid for when it was signed; the member is absent from some libraries' test data.
  package var isPaid: Bool { purchaseState == nil || purchaseState == .purchased }

  /// The products of the order, each once. Google states one (`productId`), several (`productIds`), or both.
  package var products: [String] {
    var products: [String] = []
    for product in (productId.map { [$0] } ?? []) + (productIds ?? [])
    where !product.isEmpty && !products.contains(where: { UTF8Text.isIdentical($0, product) }) {
      products.append(product)
    }
    return products
  }

  /// The purchases in the terms that all kinds of receipt share: one for each product of the order. All have its order,
  /// purchase token, date and quantity. The format has no expiry and no revocation date.
  public var transactions: [Transaction] {
    var transaction = Transaction(
      transactionId: orderId?.isEmpty == true ? nil : orderId, productId: productId, quantity: quantity,
      purchaseDate: purchaseTime, purchaseToken: purchaseToken)
    let products = products
    // Test data of some libraries names no product.
    guard !products.isEmpty else { return [transaction] }
    return products.map { product in
      transaction.productId = product
      return transaction
    }
  }
}

extension HuaweiPurchase {
  /// Indicates whether it was paid for when it was signed.
  package var isPaid: Bool { purchaseState == nil || purchaseState == .purchased }

  /// The purchase in the terms that all kinds of receipt share.
  public var transaction: Transaction {
    Transaction(
      transactionId: orderId, originalTransactionId: oriSubscriptionId ?? subscriptionId,
      productId: productId, quantity: quantity, purchaseDate: purchaseTime ?? purchaseTimeMillis,
      originalPurchaseDate: oriPurchaseTime, expiresDate: expirationDate, purchaseToken: purchaseToken)
  }
}
