// SPDX-License-Identifier: Apache-2.0

/// Why an item was not purchased, or its price not fetched.
public struct PurchasableItemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable code.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The item is not for sale by itself.
    case notPurchasable = "not-purchasable"
    /// It is purchased already, here or in a sibling app.
    case alreadyPurchased = "already-purchased"
    /// It is being purchased.
    case beingPurchased = "being-purchased"
    /// The store did not sell it; ``PurchasableItemError/storeError`` says why.
    case notSold = "not-sold"
    /// Its price is being fetched.
    case alreadyFetching = "already-fetching"
    /// The store does not know the product.
    case unknownProduct = "unknown-product"
    /// The store did not return a price; ``PurchasableItemError/storeError`` says why.
    case notFetched = "not-fetched"
    /// Fetching was cancelled.
    case cancelled
  }

  /// The kind of refusal.
  public let code: Code
  /// The identifier of the item.
  public let place: String
  /// What happened and what to do, on one line.
  public let message: String
  /// The store's error, for ``Code/notSold`` and ``Code/notFetched``.
  public let storeError: StoreError?

  /// Creates an error.
  package init(_ code: Code, at place: String, _ message: String, storeError: StoreError? = nil) {
    self.code = code
    self.place = place
    self.message = message
    self.storeError = storeError
  }

  /// The code, the item and the message, on one line.
  public var description: String { "\(code.rawValue) at \(place): \(message)" }
}
