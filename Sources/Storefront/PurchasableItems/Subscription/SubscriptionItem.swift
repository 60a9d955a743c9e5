// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The app's auto-renewable subscription, as an item (`CalStoreSubscription`).
public struct SubscriptionItem: Sendable {
  /// How it stands.
  public enum Status: Sendable, Hashable {
    /// Never bought, or nothing is known of it.
    case none
    /// Paid for until then.
    case active(until: Timestamp)
    /// It could not be renewed, and goes on until then all the same.
    case inGracePeriod(until: Timestamp)
    /// It could not be renewed, and has stopped; the store still tries.
    case inBillingRetry(since: Timestamp)
    /// It ended then.
    case expired(at: Timestamp)
    /// It was refunded or taken away then.
    case revoked(at: Timestamp)

    /// Whether the customer has it now.
    public var isSubscribed: Bool {
      switch self {
      case .active, .inGracePeriod: true
      case .none, .inBillingRetry, .expired, .revoked: false
      }
    }
  }

  /// What is sold: its price, whether it is purchased or being purchased.
  public let item: PurchasableItem
  private let items: PurchasableItems

  init(_ item: PurchasableItem, items: PurchasableItems) {
    self.item = item
    self.items = items
  }

  /// How it stands now, here and in sibling apps.
  ///
  /// - Throws: What keeps the record from knowing.
  public var status: Status {
    get async throws {
      let (purchases, now) = try await items.purchases(of: item.allProductIdentifiers)
      return Self.status(purchases.filter { $0.expiresAt != nil && !$0.isUpgraded }, at: now)
    }
  }

  /// The best that any of the purchases gives; where none gives anything, the latest says why.
  static func status(_ purchases: [OwnedPurchase], at now: Timestamp) -> Status {
    let owned = purchases.filter { $0.isOwned(at: now) }
    if let paid = owned.compactMap(\.expiresAt).max(), now < paid { return .active(until: paid) }
    if let end = owned.compactMap(\.gracePeriodEndsAt).max() { return .inGracePeriod(until: end) }
    let latest = purchases.max { ($0.expiresAt ?? now) < ($1.expiresAt ?? now) }
    guard let latest, let end = latest.expiresAt else { return .none }
    if let revokedAt = latest.revokedAt { return .revoked(at: revokedAt) }
    return latest.isInBillingRetry ? .inBillingRetry(since: end) : .expired(at: end)
  }
}
