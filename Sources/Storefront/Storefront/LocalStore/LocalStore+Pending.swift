// SPDX-License-Identifier: Apache-2.0

extension LocalStore {
  /// The pending payments after the given one, in the order of account and request, at most `limit`.
  public func pendingPurchases(
    after purchase: PendingPurchase? = nil, limit: Int = 256
  ) throws(LocalStoreError) -> [PendingPurchase] {
    let key = purchase.map { StoreKey.joined($0.account, $0.requestIdentifier) }
    var found: [PendingPurchase] = []
    for record in try durable.records(in: .storePending, after: key, limit: max(1, limit)) {
      found.append(try StoredRecords.decode(record.value, at: "store-pending/\(record.key)"))
    }
    return found
  }

  /// Approves a pending payment. The product is sold now, and delivered with the unfinished transactions.
  ///
  /// - Returns: The outcome. The payment fails if the product is no longer for sale.
  /// - Throws: ``LocalStoreError`` with `not-found` if there is no such pending payment.
  @discardableResult
  public func approve(
    _ requestIdentifier: String, account: String
  ) throws(LocalStoreError) -> PurchaseOutcome {
    let now = try catchUp()
    let request = try pendingRequest(requestIdentifier, account: account)
    defer { signalChange(of: account) }
    if let refusal = refusal(of: request.payment) { return try fail(request, account: account, refusal) }
    return try sell(request, account: account, at: now)
  }

  /// Declines a pending payment. The customer receives the error.
  ///
  /// - Throws: ``LocalStoreError`` with `not-found` if there is no such pending payment.
  public func decline(
    _ requestIdentifier: String, account: String,
    with error: StoreError = StoreError(.paymentCancelled, "The purchase was not approved.")
  ) throws(LocalStoreError) {
    _ = try fail(pendingRequest(requestIdentifier, account: account), account: account, error)
    signalChange(of: account)
  }

  private func pendingRequest(
    _ requestIdentifier: String, account: String
  ) throws(LocalStoreError) -> PurchaseRequest {
    let key = StoreKey.joined(account, requestIdentifier)
    guard let pending: PendingPurchase = try durable.row(key, in: .storePending) else {
      throw LocalStoreError(.notFound, at: requestIdentifier, "No payment of this request waits.")
    }
    return PurchaseRequest(id: requestIdentifier, payment: pending.payment)
  }
}
