// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Refunds.
extension LocalStore {
  /// Pays a purchase back. With what was bought once go its restorations, and what the family has of it.
  ///
  /// - Parameters:
  ///   - transactionIdentifier: Any transaction of the purchase; of a subscription, of the period.
  ///   - reason: Why.
  ///   - amount: How much of the price.
  /// - Returns: `REFUND`, and `REVOKE` for members of the family.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func refund(
    _ transactionIdentifier: String, reason: RevocationReason = .other, amount: RefundAmount = .full
  ) throws(LocalStoreError) -> [SignedNotification] {
    try withLine(of: transactionIdentifier) { engine, sales, now throws(SubscriptionError) in
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

  /// Undoes a refund.
  ///
  /// - Returns: `REFUND_REVERSED`; what the family has of it comes again.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func reverseRefund(_ transactionIdentifier: String) throws(LocalStoreError) -> [SignedNotification] {
    try withLine(of: transactionIdentifier) { engine, sales, now throws(SubscriptionError) in
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

  /// Says that a refund that was asked for is not granted.
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

  /// Says that the customer asked for a refund, and asks what was consumed.
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

  /// An operation on a purchase and all that came of it: of what was bought once, repurchases, restorations and what
  /// the family has. The first is the one that was asked for.
  private func withLine(
    of identifier: String,
    _ body: (inout SubscriptionEngine, [StoreSaleRecord], Timestamp) throws(SubscriptionError) -> [StoreEvent]
  ) throws(LocalStoreError) -> [SignedNotification] {
    let sale = try knownSale(identifier)
    var sales = [sale]
    if sale.transaction.type != .autoRenewableSubscription, sale.sharedFrom == nil {
      for other in try line(of: sale.originalIdentifier) where other.identifier != identifier {
        sales.append(other)
      }
    }
    return try operate(sharedFrom: sale.originalIdentifier) { engine, now throws(SubscriptionError) in
      // After all that was signed of the line.
      let last = sales.compactMap(\.transaction.signedDate).max() ?? now
      return try body(&engine, sales, max(now, Self.later(last, by: 1)))
    }
  }

  /// Of one line nothing is signed in the same millisecond.
  private static func later(_ now: Timestamp, by milliseconds: Int) -> Timestamp {
    Timestamp(millisecondsSince1970: now.millisecondsSince1970 + Double(milliseconds))
  }

  /// The transactions of what was bought once.
  func line(of originalIdentifier: String) throws(LocalStoreError) -> [StoreSaleRecord] {
    var sales: [StoreSaleRecord] = []
    var position: String?
    while true {
      let page = try keys(
        in: .storeLines, with: originalIdentifier, after: position, limit: Self.greatestPage)
      guard let last = page.last else { return sales }
      position = last
      for identifier in page { if let sale = try sale(identifier) { sales.append(sale) } }
    }
  }
}
