// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension LocalStore {
  /// Refunds a purchase, given any of its transactions. For a subscription, the period of that transaction is
  /// refunded. For a one-time purchase, its restorations and the family's shares are revoked too.
  ///
  /// - Returns: `REFUND`, and `REVOKE` for members of the family.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func refund(
    _ transactionIdentifier: String, reason: RevocationReason = .other, amount: RefundAmount = .full
  ) throws(LocalStoreError) -> [SignedNotification] {
    try changePurchase(of: transactionIdentifier) { engine, purchase throws(SubscriptionError) in
      for (sale, date) in purchase {
        let isGiven = sale.identifier == transactionIdentifier
        if !isGiven, sale.transaction.revocationDate != nil { continue }
        engine.begin(at: date)
        if !isGiven, sale.sharedFrom != nil {
          engine.stopSharing(sale.transaction, account: sale.account, at: engine.now)
        } else {
          try engine.refund(sale.transaction, account: sale.account, reason: reason, amount: amount)
        }
      }
    }
  }

  /// Reverses a refund: `REFUND_REVERSED`, and the notifications of sharing the purchase again.
  @discardableResult
  package func reverseRefund(_ transactionIdentifier: String) throws(LocalStoreError) -> [SignedNotification]
  {
    try changePurchase(of: transactionIdentifier) { engine, purchase throws(SubscriptionError) in
      for (sale, date) in purchase {
        let isGiven = sale.identifier == transactionIdentifier
        if !isGiven, sale.sharedFrom != nil || sale.transaction.revocationDate == nil { continue }
        engine.begin(at: date)
        try engine.reverseRefund(of: sale.transaction, account: sale.account)
      }
      if let (sale, date) = purchase.first(where: { $0.sale.identifier == $0.sale.originalIdentifier }) {
        engine.begin(at: date)
        share(sale.transaction, of: sale.account, &engine)
      }
    }
  }

  /// Declines a requested refund: `REFUND_DECLINED`.
  @discardableResult
  package func declineRefund(_ transactionIdentifier: String) throws(LocalStoreError) -> [SignedNotification]
  {
    try notify(.refundDeclined, about: transactionIdentifier)
  }

  /// Records that the customer requested a refund, and requests consumption information: `CONSUMPTION_REQUEST`.
  @discardableResult
  package func requestConsumption(
    _ transactionIdentifier: String, reason: ConsumptionRequestReason = .other
  ) throws(LocalStoreError) -> [SignedNotification] {
    try notify(.consumptionRequest, about: transactionIdentifier, reason: reason)
  }

  private func notify(
    _ type: NotificationType, about identifier: String, reason: ConsumptionRequestReason? = nil
  ) throws(LocalStoreError) -> [SignedNotification] {
    let sale = try knownSale(identifier)
    return try operate { engine throws(SubscriptionError) in
      engine.notify(type, about: sale.transaction, account: sale.account, reason: reason)
    }
  }

  /// Runs an operation on the transactions of a purchase, each with its signing date. The given transaction is first.
  /// For a one-time purchase its repurchases, restorations and shares follow.
  private func changePurchase(
    of identifier: String,
    _ body: (
      inout SubscriptionEngine, [(sale: StoreSaleRecord, date: Timestamp)]
    ) throws(SubscriptionError) -> Void
  ) throws(LocalStoreError) -> [SignedNotification] {
    let sale = try knownSale(identifier)
    var sales = [sale]
    if sale.transaction.type != .autoRenewableSubscription, sale.sharedFrom == nil {
      sales += try transactions(ofPurchase: sale.originalIdentifier).filter { $0.identifier != identifier }
    }
    return try operate { engine throws(SubscriptionError) in
      // The dates are later than those of all signed transactions of the purchase, and no two are equal.
      var date = sales.compactMap(\.transaction.signedDate).max()
      var purchase: [(sale: StoreSaleRecord, date: Timestamp)] = []
      for sale in sales {
        let next = SubscriptionEngine.later(than: date, engine.now)
        purchase.append((sale, next))
        date = next
      }
      try body(&engine, purchase)
    }
  }

  func transactions(ofPurchase originalIdentifier: String) throws(LocalStoreError) -> [StoreSaleRecord] {
    var identifiers = [originalIdentifier]
    try durable.forEach(in: .storeLines, with: originalIdentifier) { line in
      // Stores of versions 1 and 2 include the first transaction here.
      if line.key != originalIdentifier { identifiers.append(line.key) }
    }
    return try sales(identifiers)
  }
}
