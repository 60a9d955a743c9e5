// SPDX-License-Identifier: Apache-2.0

/// The purchases of a queue with valid receipts, and those of another record.
///
/// A queue forgets finished transactions. Before you finish one, store the contents of its verified receipt, and return
/// them from the other record.
///
/// ```swift
/// let record = QueuePurchaseRecord(queue, remembering: database) { transaction in
///   guard let sale = transaction.storeTransaction else { return nil }
///   switch verifier.verify(sale.receipt) {
///   case .valid(let receipt): return receipt.transactions.first.flatMap { OwnedPurchase(verified: $0) }
///   case .invalid: return nil
///   case .undetermined: throw NotCheckedYet()
///   }
/// }
/// ```
public actor QueuePurchaseRecord: PurchaseRecord {
  /// Verifies the receipt of a transaction that is purchased or restored.
  ///
  /// It returns the purchase in the receipt, or `nil` if the receipt is invalid, and throws if it could not be
  /// verified.
  public typealias Verify = @Sendable (PaymentTransaction) async throws -> OwnedPurchase?

  private let queue: PaymentQueue
  private let others: (any PurchaseRecord)?
  private let verify: Verify
  /// The purchases of unfinished transactions; `nil` for an invalid receipt.
  private var verified: [PaymentTransaction.ID: OwnedPurchase?] = [:]

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - queue: The queue with unfinished transactions.
  ///   - others: The purchases that were finished before.
  ///   - verify: Verifies a receipt. Its result is cached, unless it throws.
  public init(
    _ queue: PaymentQueue, remembering others: (any PurchaseRecord)? = nil, verify: @escaping Verify
  ) {
    self.queue = queue
    self.others = others
    self.verify = verify
  }

  /// The purchases of the queue and of the other record.
  public func purchases(of productIdentifiers: Set<String>) async throws -> [OwnedPurchase] {
    var purchases = try await others?.purchases(of: productIdentifiers) ?? []
    var unfinished: Set<PaymentTransaction.ID> = []
    for transaction in await queue.transactions where transaction.storeTransaction != nil {
      unfinished.insert(transaction.id)
      guard productIdentifiers.contains(transaction.payment.productIdentifier) else { continue }
      if let purchase = try await purchase(of: transaction.id) { purchases.append(purchase) }
    }
    verified = verified.filter { unfinished.contains($0.key) }
    return purchases
  }

  private func purchase(of id: PaymentTransaction.ID) async throws -> OwnedPurchase? {
    if let known = verified[id] { return known }
    guard let transaction = try await queue.transaction(id) else { return nil }
    let purchase = try await verify(transaction)
    verified[id] = .some(purchase)
    return purchase
  }
}
