// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Provides the app's auto-renewable subscription (`CalStoreSubscriptionHandler`).
public struct SubscriptionHandler: Sendable {
  private static let configured = Mutex<SubscriptionHandler?>(nil)

  /// The shared handler of the app; `nil` until ``configureShared(_:)`` sets it.
  public static var shared: SubscriptionHandler? { configured.withLock { $0 } }

  /// Sets the shared handler of the app. Libraries should create their own or take one as a parameter.
  ///
  /// - Parameter handler: The handler; `nil` for none.
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
