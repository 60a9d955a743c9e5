// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// All products of a store. It is read from our own JSON format, or from an Xcode `.storekit` file.
public struct ProductCatalog: Sendable, Hashable {
  /// The products, in the order of the file.
  public var products: [CatalogProduct]
  /// The groups of auto-renewable subscriptions. A customer has at most one active subscription per group.
  public var subscriptionGroups: [SubscriptionGroup]

  /// Creates a catalogue.
  public init(products: [CatalogProduct] = [], subscriptionGroups: [SubscriptionGroup] = []) {
    self.products = products
    self.subscriptionGroups = subscriptionGroups
  }

  /// The product with this identifier.
  public func product(_ productIdentifier: String) -> CatalogProduct? {
    products.first { $0.productIdentifier == productIdentifier }
  }
}

extension CatalogProduct {
  /// Whether a finished purchase can be restored; by default only non-consumables are.
  public var isRestorable: Bool {
    get { restorability ?? (type == .nonConsumable) }
    set { restorability = newValue }
  }
}

extension SubscriptionOffer {
  /// A kind of customer, as `.storekit` files name them.
  public struct Eligibility: JSONEnumeration, Sendable, Hashable, Comparable {
    /// The name.
    public let rawValue: String

    /// Creates a kind from any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Never subscribed in the group.
    public static let new = Eligibility(rawValue: "new")
    /// Subscribed now.
    public static let existing = Eligibility(rawValue: "existing")
    /// Subscribed before, but not now.
    public static let expired = Eligibility(rawValue: "expired")

    /// The order of the names.
    public static func < (left: Eligibility, right: Eligibility) -> Bool { left.rawValue < right.rawValue }
  }
}

extension Product {
  /// The product as customers see it: anyone who knows a code may redeem it.
  var withoutCodes: Product {
    with { product in
      for index in (product.subscription?.offers ?? []).indices {
        product.subscription?.offers[index].codes = []
      }
    }
  }
}

extension CatalogProduct: Identifiable {
  /// ``productIdentifier``.
  public var id: String { productIdentifier }
}

extension Product: Identifiable {
  /// ``productIdentifier``.
  public var id: String { productIdentifier }
}

extension SubscriptionGroup: Identifiable {}

/// The store's response to a products request (`SKProductsResponse`).
public struct ProductsResponse: Sendable, Hashable {
  /// A product for each valid identifier (`products`).
  public let products: [Product]
  /// Identifiers that the store does not know (`invalidProductIdentifiers`); normally none.
  public let invalidProductIdentifiers: [String]

  /// Creates a response.
  public init(products: [Product], invalidProductIdentifiers: [String] = []) {
    self.products = products
    self.invalidProductIdentifiers = invalidProductIdentifiers
  }
}
