// SPDX-License-Identifier: Apache-2.0

/// The claims that the kinds have in common. What the data does not state is absent.
extension DetachedContent {
  /// The purchases that were paid for. Those that were cancelled, refunded or not yet paid for when the data was signed
  /// are in the content alone.
  package var transactions: [Transaction] {
    switch self {
    case .googlePlayPurchase(let purchase): purchase.isPaid ? [purchase.transaction] : []
    case .googlePlayOrders(let list): list.orders.filter(\.isPaid).map(\.transaction)
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
  /// Whether it was paid for when it was signed; the member is absent from some libraries' test data.
  package var isPaid: Bool { purchaseState == nil || purchaseState == .purchased }

  /// The purchase in the terms that all kinds of receipt share. The format has no expiry and no revocation date.
  public var transaction: Transaction {
    Transaction(
      transactionId: orderId?.isEmpty == true ? nil : orderId, productId: productId ?? productIds?.first,
      quantity: quantity, purchaseDate: purchaseTime, purchaseToken: purchaseToken)
  }
}

extension HuaweiPurchase {
  /// Whether it was paid for when it was signed.
  package var isPaid: Bool { purchaseState == nil || purchaseState == .purchased }

  /// The purchase in the terms that all kinds of receipt share.
  public var transaction: Transaction {
    Transaction(
      transactionId: orderId, originalTransactionId: oriSubscriptionId ?? subscriptionId,
      productId: productId, quantity: quantity, purchaseDate: purchaseTime ?? purchaseTimeMillis,
      originalPurchaseDate: oriPurchaseTime, expiresDate: expirationDate, purchaseToken: purchaseToken)
  }
}
