// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import FoundationInternationalization

extension CatalogProduct {
  /// The product as a customer sees it. Its title and description are in the first preferred language that has them,
  /// otherwise in `en_US`, otherwise in the first language of the catalogue; ``LanguageMatch`` chooses. A product
  /// without localisations has its reference name, or its identifier. The price is the catalogue's, in its currency,
  /// and is never converted; its format is that of the storefront's locale (``StorefrontRegion/locale``).
  package func localized(preferredLocales: [Locale], storefrontLocale: Locale) -> Product {
    let languages = preferredLocales.compactMap { LanguageTag($0) }
    let best = LanguageMatch.index(of: languages, among: localizations.map { LanguageTag($0.locale) })
      .map { localizations[$0] }
    let name = referenceName.isEmpty ? productIdentifier : referenceName
    return Product(
      productIdentifier: productIdentifier, localizedTitle: best?.title ?? name,
      localizedDescription: best?.description ?? "", price: price,
      priceLocale: storefrontLocale.withCurrency(currency),
      currency: currency, type: type, isFamilyShareable: isFamilyShareable,
      relatedProductIdentifiers: relatedProductIdentifiers, subscription: subscription
    ).withoutCodes
  }
}

extension ProductCatalog {
  /// The response to a products request: the requested products that are for sale, in the catalogue's order, and the
  /// other identifiers, sorted. No request lists all products of a store.
  public func response(
    for identifiers: Set<String>, preferredLocales: [Locale], storefrontLocale: Locale
  ) -> ProductsResponse {
    let found = products.filter { $0.isForSale && identifiers.contains($0.id) }
    return ProductsResponse(
      products: found.map {
        $0.localized(preferredLocales: preferredLocales, storefrontLocale: storefrontLocale)
      }, invalidProductIdentifiers: identifiers.subtracting(found.map(\.id)).sorted())
  }
}

extension Locale {
  func withCurrency(_ code: String) -> Locale {
    guard currency?.identifier.uppercased() != code else { return self }
    var components = Locale.Components(locale: self)
    components.currency = Locale.Currency(code)
    return Locale(components: components)
  }
}

/// The language, script and region that select a localisation.
struct LanguageTag: Hashable {
  let language: String
  /// The script. If the tag names none, the usual script of the language: `zh_TW` is written in `Hant`.
  let script: String
  /// The region, if the tag names one.
  let region: String?

  init?(_ locale: Locale) {
    guard let language = locale.language.languageCode?.identifier, !language.isEmpty else { return nil }
    self.language = language.lowercased()
    script = locale.language.script?.identifier ?? ""
    region = locale.region?.identifier
  }

  /// Reads `en_US`, `de`, `zh-Hans`.
  init?(_ identifier: String) {
    guard !identifier.isEmpty, identifier.utf8.count <= 64 else { return nil }
    self.init(Locale(identifier: identifier))
  }
}

/// Chooses the best of several localisations.
enum LanguageMatch {
  /// The language of products that are not localised for the customer.
  static let fallback = LanguageTag("en_US")

  /// The index of the best localisation; `nil` only if there are no localisations.
  ///
  /// Each preferred language is tried in order: an exact match, then the same language and script (preferably without
  /// a region), then the same language. If none matches, `en_US` is chosen, or else the first.
  static func index(of preferred: [LanguageTag], among available: [LanguageTag?]) -> Int? {
    for wanted in preferred {
      if let index = available.firstIndex(of: wanted) { return index }
      let related = available.indices.filter { available[$0]?.language == wanted.language }
      let written = related.filter { available[$0]?.script == wanted.script }
      if let index = written.first(where: { available[$0]?.region == nil }) ?? written.first ?? related.first
      {
        return index
      }
    }
    return available.firstIndex(of: fallback) ?? available.indices.first
  }
}

extension Product {
  /// The price as the store writes it, such as `4,99 €`: formatted by ``priceLocale``, never converted and never
  /// rounded.
  ///
  /// (In StoreKit: an `NSNumberFormatter` of behaviour 10.4 and currency style with the locale `priceLocale`.)
  public var localizedPrice: String {
    var style = Decimal.FormatStyle.Currency(code: currency, locale: priceLocale)
    // Rounding to the currency's minor unit would show a price that is not the charged one.
    let needed = PriceText.decimalPlaces(price)
    if needed > PriceText.decimalPlaces(ofCurrency: currency) {
      style = style.precision(.fractionLength(needed))
    }
    return price.formatted(style)
  }
}

extension PriceText {
  fileprivate static func decimalPlaces(_ price: Decimal) -> Int { decimalPlaces(price.description) }

  /// The usual number of decimal places in a currency.
  fileprivate static func decimalPlaces(ofCurrency currency: String) -> Int {
    decimalPlaces(Decimal(0).formatted(.currency(code: currency).locale(Locale(identifier: "en_US_POSIX"))))
  }

  private static func decimalPlaces(_ text: String) -> Int {
    guard let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return 0 }
    return text.utf8[text.utf8.index(after: point)...].count
  }
}
