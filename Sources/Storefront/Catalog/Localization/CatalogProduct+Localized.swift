// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import FoundationInternationalization

extension CatalogProduct {
  /// The product as a customer sees it.
  ///
  /// The title and description are in the first preferred language that has them: in exactly that language and region,
  /// else in that language and script, else in that language. Where no preferred language has them they are in
  /// `en_US`, else in the first language of the catalogue; a product without any has its reference name, or its
  /// identifier.
  ///
  /// The price is the catalogue's, in the catalogue's currency, and is never converted. The storefront decides how it
  /// is written, not the customer's language.
  ///
  /// - Parameters:
  ///   - preferredLocales: The languages that the customer reads, best first.
  ///   - storefrontLocale: How the customer's store writes prices; see ``StorefrontRegion/locale``.
  /// - Returns: The product.
  public func localized(preferredLocales: [Locale], storefrontLocale: Locale) -> Product {
    localized(
      in: preferredLocales.compactMap { LanguageTag($0) },
      priceLocale: storefrontLocale.withCurrency(currency))
  }

  func localized(in languages: [LanguageTag], priceLocale: Locale) -> Product {
    let best = LanguageMatch.index(of: languages, among: localizations.map { LanguageTag($0.locale) })
      .map { localizations[$0] }
    let name = referenceName.isEmpty ? productIdentifier : referenceName
    return Product(
      productIdentifier: productIdentifier, localizedTitle: best?.title ?? name,
      localizedDescription: best?.description ?? "", price: price, priceLocale: priceLocale,
      currency: currency, type: type, isFamilyShareable: isFamilyShareable,
      relatedProductIdentifiers: relatedProductIdentifiers, subscription: subscription
    ).withoutCodes
  }
}

extension ProductCatalog {
  /// The response to a products request: the requested products that are for sale, in the catalogue's order, and the
  /// other identifiers, sorted.
  ///
  /// - Parameters:
  ///   - identifiers: The requested products. No call lists all products of a store.
  ///   - preferredLocales: The languages that the customer reads, best first.
  ///   - storefrontLocale: How the customer's store writes prices.
  /// - Returns: The response.
  public func response(
    for identifiers: Set<String>, preferredLocales: [Locale], storefrontLocale: Locale
  ) -> ProductsResponse {
    let languages = preferredLocales.compactMap { LanguageTag($0) }
    var priceLocales: [String: Locale] = [:]
    var found: [Product] = []
    var missing = identifiers
    for product in products where product.isForSale && missing.contains(product.productIdentifier) {
      missing.remove(product.productIdentifier)
      let priceLocale = priceLocales[product.currency] ?? storefrontLocale.withCurrency(product.currency)
      priceLocales[product.currency] = priceLocale
      found.append(product.localized(in: languages, priceLocale: priceLocale))
    }
    return ProductsResponse(products: found, invalidProductIdentifiers: missing.sorted())
  }
}

extension Locale {
  /// The same locale with this currency.
  func withCurrency(_ code: String) -> Locale {
    guard currency?.identifier.uppercased() != code else { return self }
    var components = Locale.Components(locale: self)
    components.currency = Locale.Currency(code)
    return Locale(components: components)
  }
}
