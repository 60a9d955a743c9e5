// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec

/// A product as a customer sees it (`SKProduct`): in one language, with the price in the currency of the customer's
/// store.
public struct Product: Sendable, Hashable, Identifiable {
  /// The string agreed upon with the store (`productIdentifier`).
  public let productIdentifier: String
  /// Its name in the customer's language (`localizedTitle`).
  public let localizedTitle: String
  /// What it is, in the customer's language (`localizedDescription`).
  public let localizedDescription: String
  /// The price for one, in the currency of ``priceLocale`` (`price`).
  public let price: Decimal
  /// The locale and currency that the price is formatted with (`priceLocale`). It is the storefront's, not the user's:
  /// a price is never converted.
  public let priceLocale: Locale
  /// The currency, by ISO 4217.
  public let currency: String
  /// Consumable, non-consumable, auto-renewable or non-renewing.
  public let type: ProductType
  /// Whether the buyer's family may share it (`isFamilyShareable`).
  public let isFamilyShareable: Bool
  /// Identifiers of the same purchase in the vendor's other apps.
  public let relatedProductIdentifiers: Set<String>
  /// The terms of an auto-renewable subscription.
  public let subscription: SubscriptionTerms?

  /// ``productIdentifier``.
  public var id: String { productIdentifier }

  /// Creates a product; stores do.
  public init(
    productIdentifier: String, localizedTitle: String, localizedDescription: String, price: Decimal,
    priceLocale: Locale, currency: String, type: ProductType, isFamilyShareable: Bool = false,
    relatedProductIdentifiers: Set<String> = [], subscription: SubscriptionTerms? = nil
  ) {
    self.productIdentifier = productIdentifier
    self.localizedTitle = localizedTitle
    self.localizedDescription = localizedDescription
    self.price = price
    self.priceLocale = priceLocale
    self.currency = currency
    self.type = type
    self.isFamilyShareable = isFamilyShareable
    self.relatedProductIdentifiers = relatedProductIdentifiers
    self.subscription = subscription
  }
}

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
