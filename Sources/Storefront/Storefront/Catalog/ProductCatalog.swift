// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

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

  /// The products by identifier. Only a catalogue built in code can have duplicates; the first one is used.
  var productsByIdentifier: [String: CatalogProduct] {
    Dictionary(products.map { ($0.productIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension CatalogProduct {
  /// `true` if a finished purchase can be restored; by default only non-consumables can.
  package var isRestorable: Bool {
    get { restorability ?? (type == .nonConsumable) }
    set { restorability = newValue }
  }
}

extension OfferEligibility: Comparable {
  /// Orders types by their names.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension Product {
  /// The product without its offer codes, as customers see it. Anyone who knows a code may redeem it.
  var withoutCodes: Product {
    with { product in
      for index in (product.subscription?.offers ?? []).indices {
        product.subscription?.offers[index].codes = []
      }
    }
  }
}

extension CatalogProduct: Identifiable {
  /// The ``productIdentifier``.
  public var id: String { productIdentifier }
}

extension Product: Identifiable {
  /// The ``productIdentifier``.
  public var id: String { productIdentifier }
}

extension SubscriptionGroup: Identifiable {}
