// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec

/// A product as the store knows it: in every language, with all its terms.
public struct CatalogProduct: Sendable, Hashable, Identifiable {
  /// The string agreed upon with the store (`productID`).
  public var productIdentifier: String
  /// Consumable, non-consumable, auto-renewable or non-renewing.
  public var type: ProductType
  /// The name that developers see.
  public var referenceName: String
  /// The price for one, in ``currency``.
  public var price: Decimal
  /// The currency, by ISO 4217, such as `EUR`.
  public var currency: String
  /// Titles and descriptions; see ``localized(preferredLocales:storefrontLocale:)`` for which one a customer sees.
  public var localizations: [ProductLocalization]
  /// Whether the buyer's family may share it (`isFamilyShareable`).
  public var isFamilyShareable: Bool
  /// Whether a finished purchase can be restored; fixed when the product is created. By default only
  /// non-consumables are.
  public var isRestorable: Bool
  /// Whether it can be bought now.
  public var isForSale: Bool
  /// Identifiers of the same purchase in the vendor's other apps: bought once, it is bought there, too.
  public var relatedProductIdentifiers: Set<String>
  /// Files that come with it.
  public var downloads: [DownloadableContent]
  /// The terms of an auto-renewable subscription; `nil` for all else.
  public var subscription: SubscriptionTerms?

  /// ``productIdentifier``.
  public var id: String { productIdentifier }

  /// Creates a product.
  public init(
    productIdentifier: String, type: ProductType, referenceName: String = "", price: Decimal,
    currency: String = "USD", localizations: [ProductLocalization] = [], isFamilyShareable: Bool = false,
    isRestorable: Bool? = nil, isForSale: Bool = true, relatedProductIdentifiers: Set<String> = [],
    downloads: [DownloadableContent] = [], subscription: SubscriptionTerms? = nil
  ) {
    self.productIdentifier = productIdentifier
    self.type = type
    self.referenceName = referenceName
    self.price = price
    self.currency = currency
    self.localizations = localizations
    self.isFamilyShareable = isFamilyShareable
    self.isRestorable = isRestorable ?? (type == .nonConsumable)
    self.isForSale = isForSale
    self.relatedProductIdentifiers = relatedProductIdentifiers
    self.downloads = downloads
    self.subscription = subscription
  }
}
