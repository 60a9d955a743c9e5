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
    try changePurchase(of: transactionIdentifier) { engine, sales, now throws(SubscriptionError) in
      var events: [StoreEvent] = []
      for (index, sale) in sales.enumerated() {
        if index > 0, sale.transaction.revocationDate != nil { continue }
        if index > 0, sale.sharedFrom != nil {
          events += engine.unshare(sale.transaction, account: sale.account, at: Self.later(now, by: index))
        } else {
          events += try engine.refund(
            sale.transaction, account: sale.account, reason: reason, amount: amount,
            at: Self.later(now, by: index))
        }
      }
      return events
    }
  }

  /// Reverses a refund.
  ///
  /// - Returns: `REFUND_REVERSED`, and the notifications of sharing it again.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func reverseRefund(_ transactionIdentifier: String) throws(LocalStoreError) -> [SignedNotification] {
    try changePurchase(of: transactionIdentifier) { engine, sales, now throws(SubscriptionError) in
      var events: [StoreEvent] = []
      for (index, sale) in sales.enumerated() {
        if index > 0, sale.sharedFrom != nil || sale.transaction.revocationDate == nil { continue }
        events += try engine.reverseRefund(
          of: sale.transaction, account: sale.account, at: Self.later(now, by: index))
      }
      if let first = sales.first(where: { $0.identifier == $0.originalIdentifier }),
        isShareable(first.transaction)
      {
        for member in engine.family(of: first.account) {
          events += engine.share(first.transaction, with: member, at: now)
        }
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
    let sale = try knownSale(transactionIdentifier)
    return try operate { engine, now throws(SubscriptionError) in
      engine.declineRefund(of: sale.transaction, account: sale.account, at: now)
    }
  }

  /// Records that the customer requested a refund, and requests consumption information.
  ///
  /// - Returns: `CONSUMPTION_REQUEST`.
  /// - Throws: ``LocalStoreError`` with `not-found`.
  @discardableResult
  public func requestConsumption(
    _ transactionIdentifier: String, reason: ConsumptionRequestReason = .other
  ) throws(LocalStoreError) -> [SignedNotification] {
    let sale = try knownSale(transactionIdentifier)
    return try operate { engine, now throws(SubscriptionError) in
      engine.requestConsumption(for: sale.transaction, account: sale.account, reason: reason, at: now)
    }
  }

  func knownSale(_ identifier: String) throws(LocalStoreError) -> StoreSaleRecord {
    try catchUp()
    guard let sale = try sale(identifier) else {
      throw LocalStoreError(.notFound, at: identifier, "The store has sold nothing with this identifier.")
    }
    return sale
  }

  /// Runs an operation on the transactions of a purchase: the given one first and, for a one-time purchase, its
  /// repurchases, restorations and shares.
  private func changePurchase(
    of identifier: String,
    _ body: (inout SubscriptionEngine, [StoreSaleRecord], Timestamp) throws(SubscriptionError) -> [StoreEvent]
  ) throws(LocalStoreError) -> [SignedNotification] {
    let sale = try knownSale(identifier)
    var sales = [sale]
    if sale.transaction.type != .autoRenewableSubscription, sale.sharedFrom == nil {
      for other in try transactions(ofPurchase: sale.originalIdentifier) where other.identifier != identifier
      {
        sales.append(other)
      }
    }
    return try operate(sharedFrom: sale.originalIdentifier) { engine, now throws(SubscriptionError) in
      // Later than every signed transaction of the purchase.
      let last = sales.compactMap(\.transaction.signedDate).max() ?? now
      return try body(&engine, sales, max(now, Self.later(last, by: 1)))
    }
  }

  /// No two transactions of one purchase are signed in the same millisecond.
  private static func later(_ now: Timestamp, by milliseconds: Int) -> Timestamp {
    Timestamp(millisecondsSince1970: now.millisecondsSince1970 + Double(milliseconds))
  }

  /// The transactions of a one-time purchase.
  func transactions(ofPurchase originalIdentifier: String) throws(LocalStoreError) -> [StoreSaleRecord] {
    var sales: [StoreSaleRecord] = []
    if let first = try sale(originalIdentifier) { sales.append(first) }
    var position: String?
    while true {
      let page = try keys(
        in: .storeLines, with: originalIdentifier, after: position, limit: Self.greatestPage)
      guard let last = page.last else { return sales }
      position = last
      // Stores of versions 1 and 2 have the first one among them.
      for identifier in page where identifier != originalIdentifier {
        if let sale = try sale(identifier) { sales.append(sale) }
      }
    }
  }
}
