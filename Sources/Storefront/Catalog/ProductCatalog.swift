// SPDX-License-Identifier: Apache-2.0

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

/// A group of auto-renewable subscriptions.
public struct SubscriptionGroup: Sendable, Hashable, Identifiable {
  /// `subscriptionGroupIdentifier`.
  public var id: String
  /// The name that developers see.
  public var referenceName: String
  /// Names that customers see.
  public var localizations: [ProductLocalization]

  /// Creates a group.
  public init(id: String, referenceName: String = "", localizations: [ProductLocalization] = []) {
    self.id = id
    self.referenceName = referenceName
    self.localizations = localizations
  }
}

/// Title and description in one language.
public struct ProductLocalization: Sendable, Hashable {
  /// The language, such as `en_US` or `de`.
  public var locale: String
  /// The title (`displayName`).
  public var title: String
  /// The description.
  public var description: String

  /// Creates one.
  public init(locale: String, title: String, description: String = "") {
    self.locale = locale
    self.title = title
    self.description = description
  }
}
