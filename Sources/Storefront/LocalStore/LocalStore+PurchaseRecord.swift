// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptSigning

/// A transaction in the record of everything that an account bought.
public struct RecordedPurchase: Sendable, Hashable {
  /// As it was sold.
  public let transaction: StoreTransaction
  /// As it is now: refunded or revoked, for example.
  public let current: JWSTransaction
  /// Whether the customer's queue has finished it.
  public let isFinished: Bool
  /// Whether it gives again what was bought before.
  public let isRestoration: Bool
  /// What was charged, times 1000, in the currency of the transaction: the price of all that the payment bought; 0 for what
  /// the customer had already, and for what the family shares.
  public var charged: Int64 {
    let (total, isTooGreat) = (current.price ?? 0).multipliedReportingOverflow(by: current.quantity ?? 1)
    return isTooGreat ? .max : total
  }
}

/// The record: what StoreKit does not restore, a vendor's server restores from it.
extension LocalStore {
  /// Everything that an account ever bought, oldest first: consumables and subscriptions, too.
  ///
  /// - Parameters:
  ///   - account: Whose.
  ///   - transactionIdentifier: Only what came after this one.
  ///   - limit: At most so many, and never more than 256.
  /// - Returns: Some of it.
  /// - Throws: ``LocalStoreError`` with `storage` or `corrupt`.
  public func purchaseRecord(
    of account: String, after transactionIdentifier: String? = nil, limit: Int = 256
  ) throws(LocalStoreError) -> [RecordedPurchase] {
    try catchUp()
    let limit = min(max(1, limit), Self.greatestPage)
    var found: [RecordedPurchase] = []
    for identifier in try keys(in: .storeAccounts, with: account, after: transactionIdentifier, limit: limit)
    {
      if let sale = try sale(identifier) { found.append(try recorded(sale)) }
    }
    return found
  }

  /// One transaction of the record; `nil` if the store never sold it.
  ///
  /// - Throws: ``LocalStoreError`` with `storage` or `corrupt`.
  public func purchase(_ transactionIdentifier: String) throws(LocalStoreError) -> RecordedPurchase? {
    try catchUp()
    guard let sale = try sale(transactionIdentifier) else { return nil }
    return try recorded(sale)
  }

  private func recorded(_ sale: StoreSaleRecord) throws(LocalStoreError) -> RecordedPurchase {
    RecordedPurchase(
      transaction: try storeTransaction(sale), current: sale.transaction, isFinished: sale.isFinished,
      isRestoration: sale.isRestoration)
  }

  /// A transaction as it is now, signed now: what a server is told that asks for it.
  ///
  /// - Returns: The compact JWS.
  /// - Throws: ``LocalStoreError`` with `not-found`.
  public func signedTransaction(_ transactionIdentifier: String) throws(LocalStoreError) -> String {
    var transaction = try knownSale(transactionIdentifier).transaction
    transaction.signedDate = SubscriptionEngine.later(than: transaction.signedDate, clock())
    do throws(SigningError) {
      return try signer.sign(transaction)
    } catch {
      throw LocalStoreError(error)
    }
  }

  /// The subscription of an original transaction, as it is now.
  ///
  /// - Throws: ``LocalStoreError`` with `storage` or `corrupt`.
  public func subscription(
    _ originalTransactionIdentifier: String
  ) throws(LocalStoreError) -> Subscription? {
    try catchUp()
    return try loaded().engine[originalTransactionIdentifier]
  }

  /// The subscriptions of an account, its own and those that the family shares.
  ///
  /// - Throws: ``LocalStoreError`` with `storage` or `corrupt`.
  public func subscriptions(of account: String) throws(LocalStoreError) -> [Subscription] {
    try catchUp()
    return try loaded().engine.subscriptions(of: account)
  }
}
