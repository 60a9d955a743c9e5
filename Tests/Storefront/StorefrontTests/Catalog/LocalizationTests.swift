// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import FoundationInternationalization
import ReceiptCodec
import Storefront
import Testing

@Suite struct LocalizationTests {
  private func product(_ languages: [String], referenceName: String = "Reference") -> CatalogProduct {
    CatalogProduct(
      productIdentifier: "coins", type: .consumable, referenceName: referenceName,
      price: Decimal(sign: .plus, exponent: -2, significand: 499), currency: "EUR",
      localizations: languages.map { ProductLocalization(locale: $0, title: $0, description: "\($0)!") })
  }

  private func title(_ preferred: [String], among languages: [String]) -> String {
    let product = product(languages).localized(
      preferredLocales: preferred.map { Locale(identifier: $0) },
      storefrontLocale: Locale(identifier: "de_DE"))
    if !languages.isEmpty { #expect(product.localizedDescription == "\(product.localizedTitle)!") }
    return product.localizedTitle
  }

  @Test func theExactLanguageComesFirst() {
    #expect(title(["fr_CA"], among: ["en_US", "fr_FR", "fr", "fr_CA"]) == "fr_CA")
    #expect(title(["de"], among: ["en_US", "de_AT", "de"]) == "de")
    #expect(title(["en-US"], among: ["de", "en_US"]) == "en_US")
    #expect(title(["zh-Hant-TW"], among: ["zh_CN", "zh_TW"]) == "zh_TW")
    #expect(title(["zh_TW"], among: ["zh-Hans", "zh-Hant-TW"]) == "zh-Hant-TW")
  }

  @Test func thenTheLanguageInItsScript() {
    #expect(title(["zh_HK"], among: ["en_US", "zh-Hans", "zh-Hant"]) == "zh-Hant")
    #expect(title(["zh_SG"], among: ["en_US", "zh_TW", "zh_CN"]) == "zh_CN")
    #expect(title(["sr_Latn_RS"], among: ["en_US", "sr", "sr-Latn"]) == "sr-Latn")
    #expect(title(["fr_CA"], among: ["en_US", "fr_FR", "fr"]) == "fr")
    #expect(title(["en_AU"], among: ["de", "en_GB", "en_US"]) == "en_GB")
  }

  @Test func thenTheLanguageInAnyScript() {
    #expect(title(["zh_TW"], among: ["en_US", "zh_CN"]) == "zh_CN")
    #expect(title(["sr_Latn"], among: ["en_US", "sr"]) == "sr")
  }

  @Test func aBetterLanguageComesBeforeABetterMatch() {
    #expect(title(["fr_CA", "de_DE"], among: ["de_DE", "fr_FR"]) == "fr_FR")
    #expect(title(["ja", "de"], among: ["fr", "de_CH"]) == "de_CH")
  }

  @Test func withoutAnyItIsEnglishAndThenTheFirst() {
    #expect(title(["ja"], among: ["de", "fr", "en_US"]) == "en_US")
    #expect(title(["ja"], among: ["fr", "de"]) == "fr")
    #expect(title([], among: ["fr", "en_US"]) == "en_US")
    #expect(title([], among: ["", "nonsense-nonsense-nonsense"]) == "")
    #expect(title(["de"], among: []) == "Reference")
    let bare = product([], referenceName: "").localized(
      preferredLocales: [], storefrontLocale: Locale(identifier: "en_US"))
    #expect(bare.localizedTitle == "coins")
    #expect(bare.localizedDescription == "")
  }

  @Test func thePriceIsWrittenAsTheStoreWritesIt() {
    let euros = product(["en_US"])
    func price(_ locale: String) -> String {
      euros.localized(
        preferredLocales: [Locale(identifier: "en_US")], storefrontLocale: Locale(identifier: locale)
      )
      .localizedPrice
    }
    #expect(price("de_DE") == "4,99\u{A0}€")
    #expect(price("fr_FR") == "4,99\u{A0}€")
    #expect(price("en_IE") == "€4.99")
    // Another storefront formats it differently, but in the catalogue's currency: there is no conversion.
    #expect(price("en_US") == "€4.99")
    #expect(price("ja_JP@currency=JPY") == "€4.99")
  }

  @Test func thePriceLocaleIsOfTheStoreWithTheCatalogueCurrency() {
    let product = product(["en_US"])
    let same = product.localized(
      preferredLocales: [Locale(identifier: "ja_JP")], storefrontLocale: Locale(identifier: "de_DE"))
    #expect(same.priceLocale == Locale(identifier: "de_DE"))
    let other = product.localized(
      preferredLocales: [Locale(identifier: "ja_JP")], storefrontLocale: Locale(identifier: "en_US"))
    #expect(other.priceLocale.currency?.identifier.uppercased() == "EUR")
    #expect(other.priceLocale.region?.identifier == "US")
    #expect(other.priceLocale.language.languageCode?.identifier == "en")
    #expect(other.price == Decimal(string: "4.99"))
    #expect(other.currency == "EUR")
  }

  @Test(arguments: [
    ("JPY", "100", "ja_JP", "¥100"), ("JPY", "99.5", "en_US", "¥99.5"), ("USD", "5", "en_US", "$5.00"),
    ("USD", "0.005", "en_US", "$0.005"), ("USD", "1234567.89", "en_US", "$1,234,567.89"),
    ("USD", "4.99", "de_DE", "4,99\u{A0}$"), ("KWD", "1.5", "en_US", "KWD\u{A0}1.500"),
    ("CHF", "1234.5", "de_CH", "CHF\u{A0}1’234.50"), ("USD", "0", "en_US", "$0.00"),
  ])
  func pricesAreNeverRounded(_ currency: String, _ price: String, _ locale: String, _ expected: String) throws
  {
    let product = Product(
      productIdentifier: "a", localizedTitle: "", localizedDescription: "",
      price: try #require(Decimal(string: price)), priceLocale: Locale(identifier: locale),
      currency: currency,
      type: .consumable)
    #expect(product.localizedPrice == expected)
  }

  @Test func aCatalogueReturnsRequestedProductsForSale() throws {
    var catalog = try CatalogSamples.catalog
    let identifiers: Set = ["com.example.news.monthly", "com.example.coins", "z", "a"]
    let locales = [Locale(identifier: "de_AT")]
    let germany = Locale(identifier: "de_DE")
    var response = catalog.response(for: identifiers, preferredLocales: locales, storefrontLocale: germany)
    #expect(response.products.map(\.productIdentifier) == ["com.example.coins", "com.example.news.monthly"])
    #expect(response.products.map(\.localizedTitle) == ["Münzen", "com.example.news.monthly"])
    #expect(response.products.map(\.localizedPrice) == ["0,99\u{A0}€", "4,99\u{A0}$"])
    #expect(response.invalidProductIdentifiers == ["a", "z"])
    catalog.products[0].isForSale = false
    response = catalog.response(for: identifiers, preferredLocales: locales, storefrontLocale: germany)
    #expect(response.products.map(\.productIdentifier) == ["com.example.news.monthly"])
    #expect(response.invalidProductIdentifiers == ["a", "com.example.coins", "z"])
    response = catalog.response(for: [], preferredLocales: locales, storefrontLocale: germany)
    #expect(response == ProductsResponse(products: []))
  }
}
