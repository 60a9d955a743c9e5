// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A payment that waits for somebody's approval.
public struct PendingPurchase: Sendable, Hashable {
  /// Who wants to buy.
  public let account: String
  /// The ``PurchaseRequest/id``.
  public let requestIdentifier: String
  /// What.
  public let payment: Payment
  /// Since when.
  public let date: Timestamp
}

extension LocalStore {
  /// The payments that wait, by account and request.
  ///
  /// - Parameters:
  ///   - purchase: Only those after this one.
  ///   - limit: At most so many.
  /// - Returns: Some of them.
  /// - Throws: ``LocalStoreError`` with `storage` or `corrupt`.
  public func pendingPurchases(
    after purchase: PendingPurchase? = nil, limit: Int = 256
  ) throws(LocalStoreError) -> [PendingPurchase] {
    let key = purchase.map { StoreKey.joined($0.account, $0.requestIdentifier) }
    var found: [PendingPurchase] = []
    for record in try Self.records(in: .storePending, after: key, limit: max(1, limit), of: storage) {
      let pending: StorePendingRecord = try Self.decode(record.value, at: "store-pending/\(record.key)")
      found.append(
        PendingPurchase(
          account: pending.account, requestIdentifier: pending.requestIdentifier,
          payment: try self.payment(pending.payment, of: "store-pending/\(record.key)"), date: pending.date))
    }
    return found
  }

  /// Approves a payment that waits: it is sold now, and delivered with the unfinished transactions.
  ///
  /// - Returns: What came of it: it may fail still, when the product was taken from sale.
  /// - Throws: ``LocalStoreError`` with `not-found` where nothing waits.
  @discardableResult
  public func approve(
    _ requestIdentifier: String, account: String
  ) throws(LocalStoreError) -> PurchaseOutcome {
    let now = clock()
    try catchUp(to: now)
    let request = try pendingRequest(requestIdentifier, account: account)
    if let refusal = refusal(of: request.payment) { return try fail(request, account: account, refusal) }
    return try sell(request, account: account, at: now)
  }

  /// Declines a payment that waits.
  ///
  /// - Parameters:
  ///   - requestIdentifier: The request.
  ///   - account: Who wants to buy.
  ///   - error: What the customer is told.
  /// - Throws: ``LocalStoreError`` with `not-found` where nothing waits.
  public func decline(
    _ requestIdentifier: String, account: String,
    with error: StoreError = StoreError(.paymentCancelled, "The purchase was not approved.")
  ) throws(LocalStoreError) {
    _ = try fail(pendingRequest(requestIdentifier, account: account), account: account, error)
  }

  private func pendingRequest(
    _ requestIdentifier: String, account: String
  ) throws(LocalStoreError) -> PurchaseRequest {
    let key = StoreKey.joined(account, requestIdentifier)
    guard let bytes = try value(of: key, in: .storePending) else {
      throw LocalStoreError(.notFound, at: requestIdentifier, "No payment of this request waits.")
    }
    let pending: StorePendingRecord = try Self.decode(bytes, at: "store-pending/\(key)")
    return PurchaseRequest(
      id: requestIdentifier, payment: try payment(pending.payment, of: "store-pending/\(key)"))
  }
}
