// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import Synchronization

extension SubscriptionItem {
  /// The current status, in this app and in sibling apps.
  ///
  /// - Throws: Errors of the record.
  public var status: Status {
    get async throws {
      let (purchases, now) = try await items.purchases(of: item.allProductIdentifiers)
      return Self.status(purchases.filter { $0.expiresAt != nil && !$0.isUpgraded }, at: now)
    }
  }

  /// The best status of all purchases. If no purchase is active, that of the latest one.
  static func status(_ purchases: [OwnedPurchase], at now: Timestamp) -> Status {
    let owned = purchases.filter { $0.isOwned(at: now) }
    if let paid = owned.compactMap(\.expiresAt).max(), now < paid { return .active(until: paid) }
    if let end = owned.compactMap(\.gracePeriodEndsAt).max() { return .inGracePeriod(until: end) }
    let latest = purchases.max { ($0.expiresAt ?? now) < ($1.expiresAt ?? now) }
    guard let latest, let end = latest.expiresAt else { return .notPurchased }
    if let revokedAt = latest.revokedAt { return .revoked(at: revokedAt) }
    return latest.isInBillingRetry ? .inBillingRetry(since: end) : .expired(at: end)
  }
}

extension SubscriptionItem.Status {
  /// `true` if the customer has service now.
  public var isSubscribed: Bool {
    switch self {
    case .active, .inGracePeriod: true
    case .notPurchased, .inBillingRetry, .expired, .revoked: false
    }
  }
}

/// Provides the app's auto-renewable subscription (`CalStoreSubscriptionHandler`).
public struct SubscriptionHandler: Sendable {
  private static let configured = Mutex<SubscriptionHandler?>(nil)

  /// The shared handler of the app; `nil` until ``configureShared(_:)`` sets it.
  public static var shared: SubscriptionHandler? { configured.withLock { $0 } }

  /// Sets the shared handler of the app. Libraries should create their own or take one as a parameter.
  ///
  /// - Parameter handler: The handler; `nil` to remove it.
  public static func configureShared(_ handler: SubscriptionHandler?) { configured.withLock { $0 = handler } }

  /// The subscription (`sharedSubscription`).
  public let subscription: SubscriptionItem

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - items: Creates and sells the item.
  ///   - identifier: The identifier of the item.
  ///   - productIdentifier: The subscription's product.
  ///   - relatedProductIdentifiers: The product identifiers of the same subscription in sibling apps.
  public init(
    _ items: PurchasableItems, identifier: String, productIdentifier: String,
    relatedProductIdentifiers: Set<String>? = nil
  ) async {
    let item = await items.item(
      identifier, productIdentifier: productIdentifier, relatedProductIdentifiers: relatedProductIdentifiers)
    subscription = SubscriptionItem(item, items: items)
  }
}
