// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension OwnedPurchase {
  /// Creates a purchase from a verified transaction; `nil` if that has no product or transaction identifier.
  ///
  /// - Parameter transaction: A transaction from a verified receipt, and from no other source.
  public init?(verified transaction: Transaction) {
    guard let product = transaction.productId, let identifier = transaction.transactionId else { return nil }
    self.init(
      productIdentifier: product, transactionIdentifier: identifier, expiresAt: transaction.expiresDate,
      revokedAt: transaction.revocationDate)
  }

  /// Creates a purchase from a verified signed transaction; `nil` if that has no product or transaction identifier.
  ///
  /// - Parameter transaction: A transaction from a verified receipt, and from no other source.
  public init?(verified transaction: JWSTransaction) {
    self.init(verified: transaction.transaction)
    isUpgraded = transaction.isUpgraded ?? false
    isConsumable = transaction.type == .consumable
  }

  /// Returns `true` if the customer is entitled to it at an instant: it is not revoked, not upgraded, and paid for or
  /// in its grace period.
  package func isOwned(at instant: Timestamp) -> Bool {
    guard revokedAt == nil, !isUpgraded else { return false }
    guard let expiresAt else { return true }
    return instant < max(expiresAt, gracePeriodEndsAt ?? expiresAt)
  }
}

/// The verified purchases of a customer.
public protocol PurchaseRecord: Sendable {
  /// The purchases of some products, current and past.
  ///
  /// - Parameter productIdentifiers: The products. The result may contain others, which are ignored.
  /// - Returns: The purchases.
  /// - Throws: Any error if a purchase could not be verified. That purchase then counts neither as owned nor as not
  ///   owned.
  func purchases(of productIdentifiers: Set<String>) async throws -> [OwnedPurchase]

  /// The products whose purchases changed for a reason other than a transaction in the queue, such as a refund.
  ///
  /// - Returns: The products of each change. The default is `nil`, for a record that does not report changes.
  func changes() async -> AsyncStream<Set<String>>?
}

extension PurchaseRecord {
  /// Returns `nil`: changes are not reported.
  public func changes() async -> AsyncStream<Set<String>>? { nil }
}

/// The verified purchases of a queue, finished or not. They are kept in the storage of the queue. With
/// `SQLiteRecordStorage`, an item is still purchased after a relaunch.
///
/// Create it at launch, before the first transaction is finished. From then on, the commit that removes a finished
/// transaction from the queue leaves the receipt to the record. The record verifies the receipt at its next query, and
/// then keeps the ``OwnedPurchase`` instead.
///
/// ```swift
/// let record = QueuePurchaseRecord(queue) { transaction in
///   guard let sale = transaction.storeTransaction else { return nil }
///   switch verifier.verify(sale.receipt) {
///   // The record evaluates the standing.
///   case .valid(let receipt): return receipt.purchases.first.flatMap { OwnedPurchase(verified: $0.transaction) }
///   case .invalid: return nil
///   case .undetermined: throw NotCheckedYet()
///   }
/// }
/// ```
///
/// The record evaluates the standing of what it remembers: a purchase that has expired or was refunded is not owned. If a
/// server or a notification reports a refund, a revocation or a renewal, pass it to ``remember(_:)``.
public actor QueuePurchaseRecord: PurchaseRecord {
  private let queue: PaymentQueue
  private let others: (any PurchaseRecord)?
  private let verify: @Sendable (PaymentTransaction) async throws -> OwnedPurchase?
  /// The purchases of unfinished transactions; `nil` for a transaction with an invalid receipt.
  private var verified: [PaymentTransaction.ID: OwnedPurchase?] = [:]
  /// The remembered purchases, by transaction; `nil` until they are read.
  private var remembered: [String: OwnedPurchase]?
  private var listeners: [UInt64: AsyncStream<Set<String>>.Continuation] = [:]
  private var listenerCount: UInt64 = 0

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - others: Purchases from another source, such as the vendor's server.
  ///   - verify: Verifies the receipt of a transaction that is purchased or restored. It returns the purchase in the
  ///     receipt, or `nil` if the receipt is invalid. It throws if the receipt could not be verified. Its result is
  ///     cached.
  public init(
    _ queue: PaymentQueue, remembering others: (any PurchaseRecord)? = nil,
    verify: @escaping @Sendable (PaymentTransaction) async throws -> OwnedPurchase?
  ) {
    self.queue = queue
    self.others = others
    self.verify = verify
    queue.keepPurchases()
  }

  deinit { for listener in listeners.values { listener.finish() } }

  /// The purchases of the queue, the remembered ones, and those of the other record. If a transaction is remembered,
  /// its remembered state takes precedence over its receipt.
  public func purchases(of productIdentifiers: Set<String>) async throws -> [OwnedPurchase] {
    var purchases = try await others?.purchases(of: productIdentifiers) ?? []
    var unfinished: Set<PaymentTransaction.ID> = []
    var current: [OwnedPurchase] = []
    for transaction in await queue.transactions where transaction.storeTransaction != nil {
      unfinished.insert(transaction.id)
      guard productIdentifiers.contains(transaction.payment.productIdentifier) else { continue }
      if let purchase = try await purchase(of: transaction.id) { current.append(purchase) }
    }
    let remembered = try await verifyFinished(productIdentifiers)
    verified = verified.filter { unfinished.contains($0.key) }
    purchases += current.filter { remembered[$0.transactionIdentifier] == nil }
    purchases += remembered.values.filter { productIdentifiers.contains($0.productIdentifier) }
    return purchases
  }

  /// Remembers the current state of a purchase, such as refunded, revoked or renewed. It takes precedence over the
  /// receipt, and is stored when this returns.
  ///
  /// - Parameter purchase: A purchase from a verified receipt or notification.
  /// - Throws: ``PaymentQueueError`` with `storage` or `corrupt`.
  public func remember(_ purchase: OwnedPurchase) throws {
    var remembered = try readRemembered()
    try PaymentQueueError.wrapping(try queue.storage.commit([Self.put(purchase)]))
    remembered[purchase.transactionIdentifier] = purchase
    self.remembered = remembered
    for listener in listeners.values { listener.yield([purchase.productIdentifier]) }
  }

  /// The product of each purchase that ``remember(_:)`` receives.
  public func changes() async -> AsyncStream<Set<String>>? {
    let (stream, continuation) = AsyncStream.makeStream(of: Set<String>.self)
    listenerCount += 1
    let number = listenerCount
    listeners[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeListener(number) } }
    return stream
  }

  private func removeListener(_ number: UInt64) { listeners[number] = nil }

  private func purchase(of id: PaymentTransaction.ID) async throws -> OwnedPurchase? {
    if let known = verified[id] { return known }
    guard let transaction = try await queue.transaction(id) else { return nil }
    return try await purchase(in: transaction)
  }

  private func purchase(in transaction: PaymentTransaction) async throws -> OwnedPurchase? {
    if let known = verified[transaction.id] { return known }
    let purchase = try await verify(transaction)
    verified[transaction.id] = .some(purchase)
    return purchase
  }

  // MARK: Finished transactions

  /// Verifies newly finished transactions, and returns all remembered purchases.
  private func verifyFinished(_ productIdentifiers: Set<String>) async throws -> [String: OwnedPurchase] {
    var last: PaymentTransaction.ID?
    while true {
      let page = try queue.kept(after: last, limit: 64)
      for transaction in page {
        let purchase: OwnedPurchase?
        do { purchase = try await self.purchase(in: transaction) } catch {
          // The transaction of another product is verified later.
          if productIdentifiers.contains(transaction.payment.productIdentifier) { throw error }
          continue
        }
        var remembered = try readRemembered()
        var changes = PaymentQueue.forgetKept(transaction.id)
        // A state that was remembered meanwhile is newer than the receipt.
        if let purchase, !purchase.isConsumable, remembered[purchase.transactionIdentifier] == nil {
          changes.append(Self.put(purchase))
          remembered[purchase.transactionIdentifier] = purchase
        }
        try PaymentQueueError.wrapping(try queue.storage.commit(changes))
        self.remembered = remembered
      }
      guard let end = page.last else { return try readRemembered() }
      last = end.id
    }
  }

  private func readRemembered() throws(PaymentQueueError) -> [String: OwnedPurchase] {
    if let remembered { return remembered }
    var read: [String: OwnedPurchase] = [:]
    try queue.storage.forEachRecord(in: .ownedPurchases) {
      (stored) throws(PaymentQueueError) in
      read[stored.key] = try OwnedPurchase(
        record: stored.value, at: "\(RecordCollection.ownedPurchases) \(stored.key)")
    }
    remembered = read
    return read
  }

  private static func put(_ purchase: OwnedPurchase) -> RecordChange {
    .put(.ownedPurchases, key: purchase.transactionIdentifier, value: purchase.encodedJSON())
  }
}
