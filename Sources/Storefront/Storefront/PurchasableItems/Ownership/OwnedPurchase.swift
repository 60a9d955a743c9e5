// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension OwnedPurchase {
  /// Creates one from a verified transaction; `nil` if it has no product or transaction identifier.
  ///
  /// - Parameter transaction: A transaction from a verified receipt, and from nowhere else.
  public init?(verified transaction: Transaction) {
    guard let product = transaction.productId, let identifier = transaction.transactionId else { return nil }
    self.init(
      productIdentifier: product, transactionIdentifier: identifier, expiresAt: transaction.expiresDate,
      revokedAt: transaction.revocationDate)
  }

  /// Creates one from a verified signed transaction; `nil` if it has no product or transaction identifier.
  ///
  /// - Parameter transaction: A transaction from a verified receipt, and from nowhere else.
  public init?(verified transaction: JWSTransaction) {
    guard let product = transaction.productId, let identifier = transaction.transactionId else { return nil }
    self.init(
      productIdentifier: product, transactionIdentifier: identifier, expiresAt: transaction.expiresDate,
      revokedAt: transaction.revocationDate, isUpgraded: transaction.isUpgraded ?? false,
      isConsumable: transaction.type == .consumable)
  }

  /// Indicates whether the customer is entitled to it at an instant: not revoked, not upgraded, and paid for or in its
  /// grace period.
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
  /// - Throws: Any error, if a purchase could not be verified: it then counts neither as owned nor as not owned.
  func purchases(of productIdentifiers: Set<String>) async throws -> [OwnedPurchase]

  /// The products whose purchases have changed for another reason than a transaction in the queue, such as a refund.
  ///
  /// - Returns: The products of each change; `nil`, the default, for a record that does not tell.
  func changes() async -> AsyncStream<Set<String>>?
}

extension PurchaseRecord {
  /// None.
  public func changes() async -> AsyncStream<Set<String>>? { nil }
}
