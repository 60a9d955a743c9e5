// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// A transaction in the purchase history of an account.
public struct RecordedPurchase: Sendable, Hashable {
  /// The transaction at the time of the sale.
  public let transaction: StoreTransaction
  /// Its current state, such as refunded or revoked.
  package let current: JWSTransaction
  /// `true` if the customer's queue finished it.
  package let isFinished: Bool
  /// `true` if it restores an earlier purchase.
  package let isRestoration: Bool
  /// The charged amount, which is price times quantity, in thousandths of the transaction's currency. It is 0 for a
  /// repurchase and for a shared purchase.
  package var charged: Int64 {
    let (total, isTooGreat) = (current.price ?? 0).multipliedReportingOverflow(by: current.quantity ?? 1)
    return isTooGreat ? .max : total
  }
}

/// The purchase history. A vendor's server uses it to restore purchases that StoreKit does not restore.
extension LocalStore {
  /// All transactions of an account, oldest first, including consumables and subscriptions. The page begins after the
  /// given transaction and has at most `limit` transactions, and at most 256.
  public func purchaseRecord(
    of account: String, after transactionIdentifier: String? = nil, limit: Int = 256
  ) throws(LocalStoreError) -> [RecordedPurchase] {
    try catchUp()
    let keys = try durable.records(
      in: .storeAccounts, with: account, after: transactionIdentifier,
      limit: min(max(1, limit), StoredRecords.pageSize)
    ).map(\.key)
    var found: [RecordedPurchase] = []
    for sale in try sales(keys) { found.append(try recorded(sale)) }
    return found
  }

  /// One transaction; `nil` if the store does not know it.
  package func purchase(_ transactionIdentifier: String) throws(LocalStoreError) -> RecordedPurchase? {
    try currentSale(transactionIdentifier).map { (sale) throws(LocalStoreError) in try recorded(sale) }
  }

  private func recorded(_ sale: StoreSaleRecord) throws(LocalStoreError) -> RecordedPurchase {
    RecordedPurchase(
      transaction: try storeTransaction(sale), current: sale.transaction, isFinished: sale.isFinished,
      isRestoration: sale.isRestoration)
  }

  /// The current state of a transaction, newly signed, as servers receive it.
  ///
  /// - Returns: The compact JWS.
  /// - Throws: ``LocalStoreError`` with `not-found`.
  package func signedTransaction(_ transactionIdentifier: String) throws(LocalStoreError) -> String {
    var transaction = try knownSale(transactionIdentifier).transaction
    transaction.signedDate = SubscriptionEngine.later(than: transaction.signedDate, clock())
    return try sign(transaction)
  }

  /// The current state of the subscription with an original transaction.
  package func subscription(
    _ originalTransactionIdentifier: String
  ) throws(LocalStoreError) -> Subscription? {
    try catchUp()
    return try read { $0[originalTransactionIdentifier] }
  }

  /// The subscriptions of an account, both its own and shared ones.
  public func subscriptions(of account: String) throws(LocalStoreError) -> [Subscription] {
    try catchUp()
    return try read { $0.subscriptions(of: account) }
  }
}
