// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Knows the app's auto-renewable subscription (`CalStoreSubscriptionHandler`).
public struct SubscriptionHandler: Sendable {
  private static let configured = Mutex<SubscriptionHandler?>(nil)

  /// The handler that the whole app shares; `nil` until ``configureShared(_:)`` has said which.
  public static var shared: SubscriptionHandler? { configured.withLock { $0 } }

  /// Says which handler the whole app shares. Libraries make handlers of their own, or take one.
  ///
  /// - Parameter handler: The handler; `nil` for none.
  public static func configureShared(_ handler: SubscriptionHandler?) { configured.withLock { $0 = handler } }

  /// The subscription (`sharedSubscription`).
  public let subscription: SubscriptionItem

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - items: What sells it.
  ///   - identifier: Which item it is.
  ///   - productIdentifier: The subscription's product.
  ///   - relatedProductIdentifiers: The same subscription in sibling apps.
  public init(
    _ items: PurchasableItems, identifier: String, productIdentifier: String,
    relatedProductIdentifiers: Set<String>? = nil
  ) async {
    let item = await items.item(
      identifier, productIdentifier: productIdentifier, relatedProductIdentifiers: relatedProductIdentifiers)
    subscription = SubscriptionItem(item, items: items)
  }
}
