// SPDX-License-Identifier: Apache-2.0

/// The claims that the kinds have in common.
extension JWSPayload {
  /// The purchases that the payload states: a transaction's own; for renewal information and a realtime
  /// request the subscription, by original transaction and product. None for an app transaction, nor for a
  /// notification, whose purchases are in signed parts of their own.
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

  /// The store environment that the payload names (`receiptType` in an app transaction; in a notification
  /// that of what it is about).
  package var environment: ReceiptEnvironment? {
    switch self {
    case .transaction(let payload): payload.environment
    case .renewalInfo(let payload): payload.environment
    case .appTransaction(let payload): payload.receiptType
    case .notification(let payload): payload.environment
    case .realtimeRequest(let payload): payload.environment
    }
  }

  /// The app's bundle identifier; renewal information and realtime requests name none.
  package var bundleId: String? {
    switch self {
    case .transaction(let payload): payload.bundleId
    case .appTransaction(let payload): payload.bundleId
    case .notification(let payload): payload.bundleId
    case .renewalInfo, .realtimeRequest: nil
    }
  }

  /// The app's identifier in the App Store; transactions and renewal information name none.
  package var appAppleId: Int64? {
    switch self {
    case .appTransaction(let payload): payload.appAppleId
    case .notification(let payload): payload.appAppleId
    case .realtimeRequest(let payload): payload.appAppleId
    case .transaction, .renewalInfo: nil
    }
  }

  /// When the payload was signed (`receiptCreationDate` in an app transaction). Notifications of early 2022
  /// have no date.
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
  /// The environment of what the notification is about.
  package var environment: ReceiptEnvironment? {
    data?.environment ?? summary?.environment ?? appData?.environment ?? externalPurchaseToken?.environment
  }

  /// The app that the notification is about, by its bundle identifier.
  package var bundleId: String? {
    data?.bundleId ?? summary?.bundleId ?? appData?.bundleId ?? externalPurchaseToken?.bundleId
  }

  /// The app that the notification is about, by its identifier in the App Store.
  package var appAppleId: Int64? {
    data?.appAppleId ?? summary?.appAppleId ?? appData?.appAppleId ?? externalPurchaseToken?.appAppleId
  }
}

extension JWSTransaction {
  /// The fields that every kind of receipt shares.
  public var transaction: Transaction {
    Transaction(
      transactionId: transactionId, originalTransactionId: originalTransactionId, productId: productId,
      quantity: quantity, purchaseDate: purchaseDate, originalPurchaseDate: originalPurchaseDate,
      expiresDate: expiresDate, revocationDate: revocationDate)
  }

  /// Creates a payload from the fields that every kind of receipt shares.
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
  }
}

extension ExternalPurchaseToken {
  /// The environment that the token's spelling implies.
  package var environment: ReceiptEnvironment? {
    externalPurchaseId.map { $0.utf8.starts(with: "SANDBOX".utf8) ? .sandbox : .production }
  }
}
