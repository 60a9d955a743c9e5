// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning

/// Stores the results of events: transactions to deliver, and notifications to send.
extension LocalStore {
  /// Signs events, and adds their transactions and notifications to a change. The new transaction of `account` belongs
  /// to `payment` and `request`; others belong to no request. Those of family members are shared from `shared`.
  func record(
    _ events: [StoreEvent], in change: inout Change, payment: Payment? = nil, request: String? = nil,
    of account: String? = nil, sharedFrom shared: String? = nil
  ) throws(LocalStoreError) {
    for event in events {
      let signed: SignedStoreEvent
      do throws(SigningError) { signed = try signer.sign(event) } catch { throw LocalStoreError(error) }
      var receipt: String?
      let identifier = event.transaction.transactionId ?? ""
      if event.isNewTransaction {
        var sale = StoreSaleRecord()
        sale.account = event.account
        sale.transaction = event.transaction
        let isAnswer = payment != nil && event.account == account
        sale.payment =
          isAnswer ? payment ?? Payment() : Self.payment(of: event)
        sale.requestIdentifier = isAnswer ? request : nil
        if event.transaction.inAppOwnershipType == .familyShared { sale.sharedFrom = shared }
        let issued = try self.receipt(of: event.transaction, signed.transaction)
        receipt = issued
        add(sale, receipt: issued, to: &change)
      } else if var sale = try sale(identifier, in: change) {
        sale.transaction = event.transaction
        change.sales[identifier] = sale
      }
      if let replaced = event.replacedTransaction, let identifier = replaced.transactionId,
        var sale = try sale(identifier, in: change)
      {
        sale.transaction = replaced
        change.sales[identifier] = sale
      }
      post(Self.notification(event, signed.notification), receipt: receipt, in: &change)
    }
  }

  /// Puts a notification into the outbox, and where the store sends notifications, plans its first attempt.
  func post(_ notification: SignedNotification, receipt: String? = nil, in change: inout Change) {
    change.notifications.append(notification)
    change.records += [
      .put(
        .storeOutbox, key: StoreKey.number(notification.number),
        value: notification.record(&change.texts, receipt: receipt)),
      Self.date(notification),
    ]
    if sendsNotifications {
      // Events of one millisecond are dated one after the other, the last of them later than now.
      let date = min(notification.signedDate, clock())
      change.records.append(
        .put(.storeDueDeliveries, key: StoreKey.dated(date, notification.number), value: []))
    }
  }

  /// Adds a new transaction of an account, to be delivered.
  func add(_ sale: StoreSaleRecord, receipt: String, to change: inout Change) {
    change.sales[sale.identifier] = sale
    change.records.append(
      .put(.storeReceipts, key: sale.identifier, value: PackedText.pack(receipt, &change.texts)))
    if let name = sale.transaction.appTransactionId, sale.identifier == sale.originalIdentifier {
      change.records.append(.put(.storeNames, key: name, value: Array(sale.account.utf8)))
    }
    let key = StoreKey.joined(sale.account, sale.identifier)
    change.records.append(.put(.storeAccounts, key: key, value: []))
    // The queue that requested a restoration keeps it; the store does not deliver it again.
    if !sale.isRestoration { change.records.append(.put(.storeUnfinished, key: key, value: [])) }
    if sale.transaction.type != .autoRenewableSubscription {
      if sale.identifier != sale.originalIdentifier {
        change.records.append(
          .put(.storeLines, key: StoreKey.joined(sale.originalIdentifier, sale.identifier), value: []))
      }
      if let shared = sale.sharedFrom {
        change.records.append(.put(.storeLines, key: StoreKey.joined(shared, sale.identifier), value: []))
      }
    }
  }

  /// The payment of a transaction that no request caused, such as a renewal.
  private static func payment(of event: StoreEvent) -> Payment {
    var payment = Payment()
    payment.productIdentifier = event.transaction.productId ?? ""
    payment.quantity = Int(clamping: event.transaction.quantity ?? 1)
    payment.applicationUsername = event.applicationUsername
    return payment
  }

  private static func notification(_ event: StoreEvent, _ payload: String) -> SignedNotification {
    var notification = SignedNotification()
    notification.number = event.number
    notification.account = event.account
    notification.type = event.type
    notification.subtype = event.subtype
    notification.uuid = event.uuid
    notification.signedDate = event.signedDate
    notification.transactionIdentifier = event.transaction.transactionId ?? ""
    notification.originalTransactionIdentifier = event.originalTransactionIdentifier
    notification.signedPayload = payload
    return notification
  }

  /// The receipt of a transaction, in the store's format.
  func receipt(of transaction: JWSTransaction, _ signed: String) throws(LocalStoreError) -> String {
    guard let receiptSigner else { return signed }
    let info = TransactionReceiptPurchaseInfo(
      transaction: Transaction(
        transactionId: transaction.transactionId, originalTransactionId: transaction.originalTransactionId,
        productId: transaction.productId, quantity: transaction.quantity,
        purchaseDate: transaction.purchaseDate, originalPurchaseDate: transaction.originalPurchaseDate,
        expiresDate: transaction.expiresDate)
    ).with {
      $0.bundleId = options.engine.bundleIdentifier
      $0.webOrderLineItemId = transaction.webOrderLineItemId
    }
    do throws(SigningError) {
      return String(
        decoding: try receiptSigner.sign(info, environment: options.engine.environment), as: UTF8.self)
    } catch {
      throw LocalStoreError(error)
    }
  }

  /// The receipt as it was issued; that of an import is signed now.
  private func issuedReceipt(_ sale: StoreSaleRecord) throws(LocalStoreError) -> String {
    if let receipt = sale.receipt, !receipt.isEmpty { return receipt }
    if sale.isImported != true, let receipt = try storedReceipt(sale.identifier) {
      return String(decoding: receipt, as: UTF8.self)
    }
    let signed: String
    do throws(SigningError) { signed = try signer.sign(sale.transaction) } catch {
      throw LocalStoreError(error)
    }
    return try receipt(of: sale.transaction, signed)
  }

  /// The receipt of a transaction as it was issued; `nil` for an import.
  func storedReceipt(_ identifier: String) throws(LocalStoreError) -> [UInt8]? {
    guard let packed = try value(of: identifier, in: .storeReceipts) else { return nil }
    guard let text = PackedText.unpack(packed, try loaded().texts) else {
      throw LocalStoreError(.corrupt, at: "store-receipts/\(identifier)", "The receipt is damaged.")
    }
    return text
  }

  /// The transaction as the payment queue receives it.
  func storeTransaction(_ sale: StoreSaleRecord) throws(LocalStoreError) -> StoreTransaction {
    StoreTransaction(
      transactionIdentifier: sale.identifier, originalTransactionIdentifier: sale.originalIdentifier,
      transactionDate: sale.transaction.purchaseDate ?? Timestamp(millisecondsSince1970: 0),
      payment: sale.payment,
      requestIdentifier: sale.requestIdentifier,
      receipt: Array(try issuedReceipt(sale).utf8),
      downloads: products[sale.transaction.productId ?? ""]?.downloads ?? [])
  }
}
