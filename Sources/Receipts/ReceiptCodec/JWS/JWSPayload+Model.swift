// SPDX-License-Identifier: Apache-2.0

/// The claims that all kinds share.
extension JWSPayload {
  /// The purchases in the payload. A transaction has one. Renewal information and a realtime request identify their
  /// subscription by original transaction and product. An app transaction and a notification have none; a
  /// notification's purchases are in its own signed parts.
  package var transactions: [Transaction] {
    switch self {
    case .transaction(let payload): [payload.transaction]
    case .renewalInfo(let payload):
      [Transaction(originalTransactionId: payload.originalTransactionId, productId: payload.productId)]
    case .realtimeRequest(let payload):
      [Transaction(originalTransactionId: payload.originalTransactionId, productId: payload.productId)]
    case .appTransaction, .notification: []
    }
  }

  /// The store environment that the payload states. In an app transaction it is `receiptType`. In a notification it is
  /// the environment of the notification's subject.
  package var environment: ReceiptEnvironment? {
    switch self {
    case .transaction(let payload): payload.environment
    case .renewalInfo(let payload): payload.environment
    case .appTransaction(let payload): payload.receiptType
    case .notification(let payload): payload.environment
    case .realtimeRequest(let payload): payload.environment
    }
  }

  /// The app's bundle identifier; `nil` for renewal information and realtime requests, which have none.
  package var bundleId: String? {
    switch self {
    case .transaction(let payload): payload.bundleId
    case .appTransaction(let payload): payload.bundleId
    case .notification(let payload): payload.bundleId
    case .renewalInfo, .realtimeRequest: nil
    }
  }

  /// The app's identifier in the App Store; `nil` for transactions and renewal information, which have none.
  package var appAppleId: Int64? {
    switch self {
    case .appTransaction(let payload): payload.appAppleId
    case .notification(let payload): payload.appAppleId
    case .realtimeRequest(let payload): payload.appAppleId
    case .transaction, .renewalInfo: nil
    }
  }

  /// The date on which the payload was signed (`receiptCreationDate` in an app transaction). Notifications of early
  /// 2022 have no date.
  package var signedDate: Timestamp? {
    switch self {
    case .transaction(let payload): payload.signedDate
    case .renewalInfo(let payload): payload.signedDate
    case .appTransaction(let payload): payload.receiptCreationDate
    case .notification(let payload): payload.signedDate
    case .realtimeRequest(let payload): payload.signedDate
    }
  }
}

extension Notification {
  /// The environment of the notification's subject.
  package var environment: ReceiptEnvironment? {
    data?.environment ?? summary?.environment ?? appData?.environment ?? externalPurchaseToken?.environment
  }

  package var bundleId: String? {
    data?.bundleId ?? summary?.bundleId ?? appData?.bundleId ?? externalPurchaseToken?.bundleId
  }

  package var appAppleId: Int64? {
    data?.appAppleId ?? summary?.appAppleId ?? appData?.appAppleId ?? externalPurchaseToken?.appAppleId
  }
}

extension JWSTransaction {
  /// The fields that all receipt formats share.
  package var transaction: Transaction {
    Transaction(
      transactionId: transactionId, originalTransactionId: originalTransactionId, productId: productId,
      quantity: quantity, purchaseDate: purchaseDate, originalPurchaseDate: originalPurchaseDate,
      expiresDate: expiresDate, revocationDate: revocationDate, type: type,
      appAccountToken: appAccountToken?.rawValue, price: price, currency: currency, offerType: offerType,
      offerIdentifier: offerIdentifier, offerDiscountType: offerDiscountType,
      inAppOwnershipType: inAppOwnershipType)
  }

  /// Creates a payload from the fields that all receipt formats share.
  package init(_ transaction: Transaction) {
    self.init()
    originalTransactionId = transaction.originalTransactionId
    transactionId = transaction.transactionId
    productId = transaction.productId
    purchaseDate = transaction.purchaseDate
    originalPurchaseDate = transaction.originalPurchaseDate
    expiresDate = transaction.expiresDate
    quantity = transaction.quantity
    revocationDate = transaction.revocationDate
    type = transaction.type
    appAccountToken = transaction.appAccountToken.map { UUIDString(rawValue: $0) }
    price = transaction.price
    currency = transaction.currency
    offerType = transaction.offerType
    offerIdentifier = transaction.offerIdentifier
    offerDiscountType = transaction.offerDiscountType
    inAppOwnershipType = transaction.inAppOwnershipType
  }
}

extension ExternalPurchaseToken {
  /// The environment that the form of the token implies.
  package var environment: ReceiptEnvironment? {
    externalPurchaseId.map { $0.utf8.starts(with: "SANDBOX".utf8) ? .sandbox : .production }
  }
}
