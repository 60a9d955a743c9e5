// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning

/// Stores the results of events: transactions to deliver, and notifications to send.
extension LocalStore {
  /// Signs events, and adds their transactions and notifications to a change. A new transaction of `account` is
  /// assigned to `request`; transactions of other accounts have no request.
  func record(
    _ events: [StoreEvent], in change: inout Change, answering request: PurchaseRequest? = nil,
    of account: String? = nil
  ) throws(LocalStoreError) {
    for event in events {
      let signed = try LocalStoreError.signing(try signer.sign(event))
      var receipt: String?
      if event.isNewTransaction {
        var sale = StoreSaleRecord(
          account: event.account, transaction: event.transaction, sharedFrom: event.sharedFrom)
        if let request, event.account == account {
          sale.payment = request.payment
          sale.requestIdentifier = request.id
        } else {
          sale.payment.setProduct(of: event.transaction)
          sale.payment.applicationUsername = event.applicationUsername
        }
        receipt = try self.receipt(of: event.transaction, signed.transaction)
        sale.receipt = receipt
        add(sale, to: &change)
      } else {
        try replace(event.transaction, in: &change)
      }
      if let replaced = event.replacedTransaction { try replace(replaced, in: &change) }
      let notification = SignedNotification(
        number: event.number, account: event.account, type: event.type, subtype: event.subtype,
        uuid: event.uuid, signedDate: event.signedDate,
        transactionIdentifier: event.transaction.transactionId ?? "",
        originalTransactionIdentifier: event.originalTransactionIdentifier,
        signedPayload: signed.notification)
      post(notification, receipt: receipt, in: &change)
    }
  }

  private func replace(_ transaction: JWSTransaction, in change: inout Change) throws(LocalStoreError) {
    guard let identifier = transaction.transactionId, var sale = try sale(identifier, in: change) else {
      return
    }
    sale.transaction = transaction
    change.sales[identifier] = sale
  }

  /// Puts a notification into the outbox. If the store sends notifications, plans the first attempt.
  func post(_ notification: SignedNotification, receipt: String? = nil, in change: inout Change) {
    change.notifications.append(notification)
    put(notification, receipt: receipt, in: &change)
    if sendsNotifications {
      // Events of the same millisecond have ascending dates, so the last one may be later than now.
      let date = min(notification.signedDate, clock())
      change.records.append(
        .put(.storeDueDeliveries, key: StoreKey.dated(date, notification.number), value: []))
    }
  }

  func put(_ notification: SignedNotification, receipt: String? = nil, in change: inout Change) {
    change.records += [
      .put(
        .storeOutbox, key: StoreKey.number(notification.number),
        value: notification.record(&change.texts, receipt: receipt)), Self.date(notification),
    ]
  }

  /// Adds a new transaction of an account for delivery.
  func add(_ sale: StoreSaleRecord, to change: inout Change) {
    change.sales[sale.identifier] = sale
    if let name = sale.transaction.appTransactionId, sale.identifier == sale.originalIdentifier {
      change.records.append(.put(.storeNames, key: name, value: Array(sale.account.utf8)))
    }
    let key = StoreKey.joined(sale.account, sale.identifier)
    change.records.append(.put(.storeAccounts, key: key, value: []))
    // The queue that requested a restoration stores its transaction, so the store does not deliver it again.
    if !sale.isRestoration { change.records.append(.put(.storeUnfinished, key: key, value: [])) }
    guard sale.transaction.type != .autoRenewableSubscription else { return }
    for purchase in [sale.originalIdentifier, sale.sharedFrom].compactMap(\.self)
    where purchase != sale.identifier {
      change.records.append(.put(.storeLines, key: StoreKey.joined(purchase, sale.identifier), value: []))
    }
  }

  func receipt(of transaction: JWSTransaction, _ signed: String? = nil) throws(LocalStoreError) -> String {
    guard let receiptSigner else {
      if let signed { return signed }
      return try sign(transaction)
    }
    let info = TransactionReceiptPurchaseInfo(transaction: transaction.transaction).with {
      $0.bundleId = options.engine.bundleIdentifier
      $0.webOrderLineItemId = transaction.webOrderLineItemId
    }
    let receipt = try LocalStoreError.signing(
      try receiptSigner.sign(info, environment: options.engine.environment))
    return String(decoding: receipt, as: UTF8.self)
  }

  func sign(_ transaction: JWSTransaction) throws(LocalStoreError) -> String {
    try LocalStoreError.signing(try signer.sign(transaction))
  }

  /// The transaction as the payment queue receives it. The receipt of an imported purchase is signed now.
  func storeTransaction(_ sale: StoreSaleRecord) throws(LocalStoreError) -> StoreTransaction {
    let issued: String = if let receipt = sale.receipt { receipt } else { try receipt(of: sale.transaction) }
    return StoreTransaction(
      transactionIdentifier: sale.identifier, originalTransactionIdentifier: sale.originalIdentifier,
      transactionDate: sale.transaction.purchaseDate ?? Timestamp(millisecondsSince1970: 0),
      payment: sale.payment, requestIdentifier: sale.requestIdentifier, receipt: Array(issued.utf8),
      downloads: products[sale.transaction.productId ?? ""]?.downloads ?? [])
  }
}

extension Payment {
  /// Sets the payment of a transaction that no request caused, such as a renewal.
  mutating func setProduct(of transaction: JWSTransaction) {
    productIdentifier = transaction.productId ?? ""
    quantity = Int(clamping: transaction.quantity ?? 1)
  }
}
