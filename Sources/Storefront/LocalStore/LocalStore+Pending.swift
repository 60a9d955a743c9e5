// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A payment that is waiting for approval.
public struct PendingPurchase: Sendable, Hashable {
  /// The account of the buyer.
  public let account: String
  /// The ``PurchaseRequest/id``.
  public let requestIdentifier: String
  /// The payment.
  public let payment: Payment
  /// The date of the request.
  public let date: Timestamp
}

extension LocalStore {
  /// The pending payments, in the order of account and request.
  ///
  /// - Parameters:
  ///   - purchase: The purchase before the first one.
  ///   - limit: The greatest number of payments.
  /// - Returns: At most `limit` payments.
  /// - Throws: ``LocalStoreError`` with `storage` or `corrupt`.
  public func pendingPurchases(
    after purchase: PendingPurchase? = nil, limit: Int = 256
  ) throws(LocalStoreError) -> [PendingPurchase] {
    let key = purchase.map { StoreKey.joined($0.account, $0.requestIdentifier) }
    var found: [PendingPurchase] = []
    for record in try records(in: .storePending, after: key, limit: max(1, limit)) {
      let pending: StorePendingRecord = try Self.decode(record.value, at: "store-pending/\(record.key)")
      found.append(
        PendingPurchase(
          account: pending.account, requestIdentifier: pending.requestIdentifier,
          payment: pending.payment, date: pending.date))
    }
    return found
  }

  /// Approves a pending payment: the product is sold now, and delivered with the unfinished transactions.
  ///
  /// - Returns: The outcome; the payment fails if the product is no longer for sale.
  /// - Throws: ``LocalStoreError`` with `not-found` where nothing waits.
  @discardableResult
  public func approve(
    _ requestIdentifier: String, account: String
  ) throws(LocalStoreError) -> PurchaseOutcome {
    let now = clock()
    try catchUp(to: now)
    let request = try pendingRequest(requestIdentifier, account: account)
    defer { signalChange(of: account) }
    if let refusal = refusal(of: request.payment) { return try fail(request, account: account, refusal) }
    return try sell(request, account: account, at: now)
  }

  /// Declines a pending payment.
  ///
  /// - Parameters:
  ///   - requestIdentifier: The request.
  ///   - account: The account of the buyer.
  ///   - error: The error that the customer receives.
  /// - Throws: ``LocalStoreError`` with `not-found` where nothing waits.
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
    guard let bytes = try value(of: key, in: .storePending) else {
      throw LocalStoreError(.notFound, at: requestIdentifier, "No payment of this request waits.")
    }
    let pending: StorePendingRecord = try Self.decode(bytes, at: "store-pending/\(key)")
    return PurchaseRequest(
      id: requestIdentifier, payment: pending.payment)
  }
}
