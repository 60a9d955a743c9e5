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
    guard let product = transaction.productId, let identifier = transaction.transactionId else { return nil }
    self.init(
      productIdentifier: product, transactionIdentifier: identifier, expiresAt: transaction.expiresDate,
      revokedAt: transaction.revocationDate, isUpgraded: transaction.isUpgraded ?? false,
      isConsumable: transaction.type == .consumable)
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
