// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The operator's interface. Each operation returns the notifications that it produced; they are also in the outbox.
extension LocalStore {
  /// A change without effect. It makes a commit write the store's header, which contains prices, for example.
  private static let nothing = RecordChange.remove(.storeHeader, key: "nothing")

  /// Performs everything that is due, and then an operation, whose changes are made in one commit.
  func operate(
    _ body: (inout SubscriptionEngine) throws(SubscriptionError) -> Void
  ) throws(LocalStoreError) -> [SignedNotification] {
    let now = try catchUp()
    return try change { engine, change throws(LocalStoreError) in
      let events: [StoreEvent]
      do throws(SubscriptionError) { events = try engine.operate(at: now, body) } catch {
        throw LocalStoreError(error)
      }
      try record(events, in: &change)
      if change.records.isEmpty { change.records.append(Self.nothing) }
      return change.notifications
    }
  }

  /// Performs a change by a customer or the vendor.
  ///
  /// - Returns: The notifications that ``SubscriptionChange`` documents.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func perform(_ change: SubscriptionChange) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine throws(SubscriptionError) in try engine.perform(change) }
  }

  /// Posts a notification about a subscription after a change to it, as for a call of the Advanced Commerce API.
  package func report(
    _ type: NotificationType, of originalTransactionIdentifier: String, renewingTo product: String? = nil,
    price: Int64? = nil
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine throws(SubscriptionError) in
      engine.report(type, of: originalTransactionIdentifier) { subscription in
        if let product { subscription.autoRenewProductIdentifier = product }
        if let price { subscription.renewalPrice = price }
      }
    }
  }

  // MARK: Pending payments

  /// The pending payments after the given one, in the order of account and request, at most `limit`.
  public func pendingPurchases(
    after purchase: PendingPurchase? = nil, limit: Int = 256
  ) throws(LocalStoreError) -> [PendingPurchase] {
    let key = purchase.map { StoreKey.joined($0.account, $0.requestIdentifier) }
    return try durable.records(in: .storePending, after: key, limit: max(1, limit))
      .map { (record) throws(LocalStoreError) in try StoredRecords.decode(record, in: .storePending) }
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
