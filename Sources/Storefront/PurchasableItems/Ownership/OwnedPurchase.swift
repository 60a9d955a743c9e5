// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A purchase whose receipt has been verified. Make one only from a verified receipt: it unlocks content.
public struct OwnedPurchase: Sendable, Hashable {
  /// The product, as the verified receipt says.
  public var productIdentifier: String
  /// The transaction, as the verified receipt says.
  public var transactionIdentifier: String
  /// Until when a subscription is paid for; `nil` for what is bought once.
  public var expiresAt: Timestamp?
  /// Until when a subscription that could not be renewed goes on all the same.
  public var gracePeriodEndsAt: Timestamp?
  /// Whether the store still tries to renew a subscription that it could not.
  public var isInBillingRetry: Bool
  /// When it was refunded or taken away; `nil` if it was not.
  public var revokedAt: Timestamp?
  /// Whether another subscription of its group has taken its place.
  public var isUpgraded: Bool

  /// Creates one from what a verified receipt says, and perhaps a server that knows more.
  public init(
    productIdentifier: String, transactionIdentifier: String, expiresAt: Timestamp? = nil,
    gracePeriodEndsAt: Timestamp? = nil, isInBillingRetry: Bool = false, revokedAt: Timestamp? = nil,
    isUpgraded: Bool = false
  ) {
    self.productIdentifier = productIdentifier
    self.transactionIdentifier = transactionIdentifier
    self.expiresAt = expiresAt
    self.gracePeriodEndsAt = gracePeriodEndsAt
    self.isInBillingRetry = isInBillingRetry
    self.revokedAt = revokedAt
    self.isUpgraded = isUpgraded
  }

  /// Takes over what a verified receipt says of a purchase; `nil` where it names no product or no transaction.
  ///
  /// - Parameter transaction: From a verified receipt, and from nothing else.
  public init?(verified transaction: Transaction) {
    guard let product = transaction.productId, let identifier = transaction.transactionId else { return nil }
    self.init(
      productIdentifier: product, transactionIdentifier: identifier, expiresAt: transaction.expiresDate,
      revokedAt: transaction.revocationDate)
  }

  /// Whether the customer has it at an instant: not taken away, not upgraded, and paid for or in its grace period.
  public func isOwned(at instant: Timestamp) -> Bool {
    guard revokedAt == nil, !isUpgraded else { return false }
    guard let expiresAt else { return true }
    return instant < max(expiresAt, gracePeriodEndsAt ?? expiresAt)
  }
}

/// What is known of a customer's purchases, all of it verified.
public protocol PurchaseRecord: Sendable {
  /// The purchases of some products, present and past.
  ///
  /// - Parameter productIdentifiers: Which products. Others may come, too, and are not looked at.
  /// - Returns: The purchases.
  /// - Throws: What keeps it from knowing. What could not be checked is neither owned nor not.
  func purchases(of productIdentifiers: Set<String>) async throws -> [OwnedPurchase]
}
