// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Refunds.
extension LocalStore {
  /// Refunds a purchase. For a one-time purchase, its restorations and the family's shares are revoked with it.
  ///
  /// - Parameters:
  ///   - transactionIdentifier: Any transaction of the purchase; for a subscription, of the period.
  ///   - reason: The reason.
  ///   - amount: The refunded part of the price.
  /// - Returns: `REFUND`, and `REVOKE` for members of the family.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func refund(
    _ transactionIdentifier: String, reason: RevocationReason = .other, amount: RefundAmount = .full
  ) throws(LocalStoreError) -> [SignedNotification] {
    try changePurchase(of: transactionIdentifier) { engine, sale, isGiven, now throws(SubscriptionError) in
      if !isGiven, sale.transaction.revocationDate != nil { return [] }
      if !isGiven, sale.sharedFrom != nil {
        return engine.unshare(sale.transaction, account: sale.account, at: now)
      }
      return try engine.refund(
        sale.transaction, account: sale.account, reason: reason, amount: amount, at: now)
    }
  }

  /// Reverses a refund.
  ///
  /// - Returns: `REFUND_REVERSED`, and the notifications of sharing it again.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func reverseRefund(_ transactionIdentifier: String) throws(LocalStoreError) -> [SignedNotification] {
    try changePurchase(of: transactionIdentifier) { engine, sale, isGiven, now throws(SubscriptionError) in
      if !isGiven, sale.sharedFrom != nil || sale.transaction.revocationDate == nil { return [] }
      var events = try engine.reverseRefund(of: sale.transaction, account: sale.account, at: now)
      if sale.identifier == sale.originalIdentifier {
        events += share(sale.transaction, of: sale.account, &engine, at: now)
      }
      return events
    }
  }

  /// Declines a requested refund.
  ///
  /// - Returns: `REFUND_DECLINED`.
  /// - Throws: ``LocalStoreError`` with `not-found`.
  @discardableResult
  public func declineRefund(_ transactionIdentifier: String) throws(LocalStoreError) -> [SignedNotification] {
    try notify(.refundDeclined, about: transactionIdentifier)
  }

  /// Records that the customer requested a refund, and requests consumption information.
  ///
  /// - Returns: `CONSUMPTION_REQUEST`.
  /// - Throws: ``LocalStoreError`` with `not-found`.
  @discardableResult
  public func requestConsumption(
    _ transactionIdentifier: String, reason: ConsumptionRequestReason = .other
  ) throws(LocalStoreError) -> [SignedNotification] {
    try notify(.consumptionRequest, about: transactionIdentifier, reason: reason)
  }

  private func notify(
    _ type: NotificationType, about identifier: String, reason: ConsumptionRequestReason? = nil
  ) throws(LocalStoreError) -> [SignedNotification] {
    let sale = try knownSale(identifier)
    return try operate { engine, now throws(SubscriptionError) in
      engine.notify(type, about: sale.transaction, account: sale.account, reason: reason, at: now)
    }
  }

  /// Runs an operation on each transaction of a purchase: the given one first and, for a one-time purchase, its
  /// repurchases, restorations and shares.
  private func changePurchase(
    of identifier: String,
    _ body: (
      inout SubscriptionEngine, StoreSaleRecord, _ isGiven: Bool, Timestamp
    ) throws(SubscriptionError) -> [StoreEvent]
  ) throws(LocalStoreError) -> [SignedNotification] {
    let sale = try knownSale(identifier)
    var sales = [sale]
    if sale.transaction.type != .autoRenewableSubscription, sale.sharedFrom == nil {
      sales += try transactions(ofPurchase: sale.originalIdentifier).filter { $0.identifier != identifier }
    }
    return try operate { engine, now throws(SubscriptionError) in
      // Later than every signed transaction of the purchase; no two are signed in the same millisecond.
      var last = sales.compactMap(\.transaction.signedDate).max()
      var events: [StoreEvent] = []
      for (index, sale) in sales.enumerated() {
        let instant = SubscriptionEngine.later(than: last, now)
        events += try body(&engine, sale, index == 0, instant)
        last = instant
      }
      return events
    }
  }

  /// The transactions of a one-time purchase.
  func transactions(ofPurchase originalIdentifier: String) throws(LocalStoreError) -> [StoreSaleRecord] {
    var identifiers = [originalIdentifier]
    try durable.forEach(in: .storeLines, with: originalIdentifier) { line in
      // Stores of versions 1 and 2 have the first one among them.
      if line.key != originalIdentifier { identifiers.append(line.key) }
    }
    return try sales(identifiers)
  }
}
