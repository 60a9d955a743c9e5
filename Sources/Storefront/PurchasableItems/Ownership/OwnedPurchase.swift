// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A purchase whose receipt has been verified. Make one only from a verified receipt: it unlocks content.
public struct OwnedPurchase: Sendable, Hashable {
  /// The product in the verified receipt.
  public var productIdentifier: String
  /// The transaction in the verified receipt.
  public var transactionIdentifier: String
  /// The expiry date of a subscription; `nil` for a one-time purchase.
  public var expiresAt: Timestamp?
  /// The end of the grace period of a subscription whose renewal failed.
  public var gracePeriodEndsAt: Timestamp?
  /// Whether the store is still trying to renew a subscription.
  public var isInBillingRetry: Bool
  /// The date of its refund or revocation, if any.
  public var revokedAt: Timestamp?
  /// Whether another subscription of its group replaced it.
  public var isUpgraded: Bool
  /// Whether it is used up: a record does not remember it once its transaction is finished.
  public var isConsumable: Bool

  /// Creates one from a verified receipt, and possibly from newer information of a server.
  public init(
    productIdentifier: String, transactionIdentifier: String, expiresAt: Timestamp? = nil,
    gracePeriodEndsAt: Timestamp? = nil, isInBillingRetry: Bool = false, revokedAt: Timestamp? = nil,
    isUpgraded: Bool = false, isConsumable: Bool = false
  ) {
    self.productIdentifier = productIdentifier
    self.transactionIdentifier = transactionIdentifier
    self.expiresAt = expiresAt
    self.gracePeriodEndsAt = gracePeriodEndsAt
    self.isInBillingRetry = isInBillingRetry
    self.revokedAt = revokedAt
    self.isUpgraded = isUpgraded
    self.isConsumable = isConsumable
  }

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

  /// Whether the customer is entitled to it at an instant: not revoked, not upgraded, and paid for or in its grace
  /// period.
  public func isOwned(at instant: Timestamp) -> Bool {
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
