// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension EmulatorState {
  /// Adds a purchase, or replaces the one with its transaction identifier. It becomes the latest in the history.
  ///
  /// - Parameters:
  ///   - transaction: The transaction. Without a transaction identifier nothing is added.
  ///   - customer: Any name; by default the customer of the original transaction or of the app transaction, or
  ///     a new one.
  ///   - orderId: The order on the customer's invoice.
  public mutating func add(transaction: JWSTransaction, customer: String? = nil, orderId: String? = nil) {
    guard let transactionId = transaction.transactionId else { return }
    var transaction = transaction
    let original = transaction.originalTransactionId ?? transactionId
    transaction.originalTransactionId = original
    let index =
      transactions[transactionId]?.customer
      ?? self.customer(
        named: [customer, transaction.appTransactionId, original].compactMap { $0 })
    remove(transactionId, from: index)
    modifications += 1
    var record = TransactionRecord(
      transaction: transaction, orderId: orderId, customer: index, modification: modifications)
    if let before = transactions[transactionId] {
      record.orderId = orderId ?? before.orderId
      record.isFinished = before.isFinished
      record.consumption = before.consumption
    } else if let orderId {
      orders[orderId, default: []].append(transactionId)
    }
    transactions[transactionId] = record
    customers[index].transactionIds.append(transactionId)
    for name in [original, transaction.appTransactionId].compactMap({ $0 }) where customerIndices[name] == nil
    {
      customerIndices[name] = index
    }
    if !customers[index].originalTransactionIds.contains(original) {
      customers[index].originalTransactionIds.append(original)
    }
  }

  /// Adds a subscription by its latest purchase.
  public mutating func addSubscription(
    _ transaction: JWSTransaction, renewalInfo: JWSRenewalInfo, status: SubscriptionStatus = .active,
    customer: String? = nil, orderId: String? = nil
  ) {
    guard let transactionId = transaction.transactionId else { return }
    add(transaction: transaction, customer: customer, orderId: orderId)
    let original = transaction.originalTransactionId ?? transactionId
    subscriptions[original] = Subscription(
      status: status, renewalInfo: renewalInfo, latestTransactionId: transactionId)
  }

  /// Adds a download of the app.
  public mutating func add(appTransaction: AppTransaction, customer: String? = nil) {
    let names = [customer, appTransaction.appTransactionId].compactMap { $0 }
    guard !names.isEmpty else { return }
    let index = self.customer(named: names)
    customers[index].appTransaction = appTransaction
    if let name = appTransaction.appTransactionId { customerIndices[name] = index }
  }

  /// Adds many purchases of one customer: renewals of the transaction, a month apart, with consecutive identifiers.
  public mutating func addHistory(of transaction: JWSTransaction, count: Int, customer: String) {
    guard let first = transaction.transactionId.flatMap({ Int64($0) }), count > 0 else { return }
    let month = 30.0 * 86_400
    var transaction = transaction
    for offset in 0..<min(count, 1_000_000) {
      transaction.transactionId = String(first &+ Int64(offset))
      add(transaction: transaction, customer: customer)
      transaction.purchaseDate = transaction.purchaseDate?.addingSeconds(month)
      transaction.expiresDate = transaction.expiresDate?.addingSeconds(month)
      transaction.transactionReason = .renewal
    }
  }

  /// Changes a purchase, which becomes the latest in the history.
  public mutating func update(
    transaction transactionId: String, _ change: (inout JWSTransaction) -> Void
  ) {
    guard var transaction = transactions[transactionId]?.transaction else { return }
    change(&transaction)
    transaction.transactionId = transactionId
    add(transaction: transaction)
  }

  /// Refunds a purchase.
  public mutating func refund(
    _ transactionId: String, at instant: Timestamp, reason: RevocationReason = .other
  ) {
    update(transaction: transactionId) {
      $0.revocationDate = instant
      $0.revocationReason = reason
    }
    guard let original = transactions[transactionId]?.transaction.originalTransactionId,
      subscriptions[original]?.latestTransactionId == transactionId
    else { return }
    subscriptions[original]?.status = .revoked
  }

  /// The history of a customer, in the order of modification.
  func history(of customer: Int) -> [String] { customers[customer].transactionIds }

  private mutating func customer(named names: [String]) -> Int {
    let known = names.compactMap { customerIndices[$0] }.first
    let index = known ?? customers.count
    if known == nil { customers.append(Customer()) }
    for name in names where customerIndices[name] == nil { customerIndices[name] = index }
    return index
  }

  private mutating func remove(_ transactionId: String, from customer: Int) {
    guard transactions[transactionId] != nil,
      let place = customers[customer].transactionIds.firstIndex(of: transactionId)
    else { return }
    customers[customer].transactionIds.remove(at: place)
  }
}
