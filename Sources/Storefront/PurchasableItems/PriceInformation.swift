// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// What an item costs (`CalStorePriceInfo`), and all else that the store says of its product.
public struct PriceInformation: Sendable, Hashable {
  /// The product.
  public let product: Product

  /// The price for one, in ``currency``.
  public var price: Decimal { product.price }

  /// How the price is written: the store's way, not the user's.
  public var priceLocale: Locale { product.priceLocale }

  /// The currency, by ISO 4217.
  public var currency: String { product.currency }
}
