// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import FoundationInternationalization
import Storefront
import Testing

@Suite struct StorefrontRegionTests {
  @Test(arguments: [
    ("USA", "US", "en_US", "USD"), ("DEU", "DE", "de_DE", "EUR"), ("JPN", "JP", "ja_JP", "JPY"),
    ("CHE", "CH", "de_CH", "CHF"), ("GBR", "GB", "en_GB", "GBP"), ("BRA", "BR", "pt_BR", "BRL"),
    ("XKS", "XK", "sq_XK", "EUR"), ("ATA", "AQ", "en_AQ", "USD"), ("CHN", "CN", "zh_CN", "CNY"),
  ])
  func goesFromStorefrontToLocaleAndCurrency(
    _ country: String, _ region: String, _ locale: String, _ currency: String
  ) throws {
    let storefront = try #require(StorefrontRegion(countryCode: country))
    #expect(storefront.regionCode == region)
    #expect(storefront.locale == Locale(identifier: locale))
    #expect(storefront.currency == currency)
    #expect(StorefrontRegion(Locale(identifier: locale)) == storefront)
    #expect(storefront.description == country)
  }

  @Test(arguments: ["", "US", "usa", "XXX", "ZZZ", "USAA", "ÜSA"])
  func thereIsNoOtherEndpoint(_ country: String) { #expect(StorefrontRegion(countryCode: country) == nil) }

  @Test(arguments: ["en", "", "es_419", "en_001"])
  func alocaleWithoutACountryHasNone(_ locale: String) {
    #expect(StorefrontRegion(Locale(identifier: locale)) == nil)
  }

  @Test func everyRegionOfUnicodeThatIsACountryIsKnown() throws {
    // Obsolete codes, and codes that are not of a country.
    let others: Set = [
      "AC", "CP", "CQ", "DG", "EA", "IC", "TA", "EU", "EZ", "UN", "ZZ", "QO", "XA", "XB", "AN",
    ]
    for region in Locale.Region.isoRegions where region.identifier.utf8.count == 2 {
      let code = region.identifier
      guard code.utf8.allSatisfy({ UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }), !others.contains(code)
      else {
        continue
      }
      let storefront = StorefrontRegion(Locale(identifier: "en_\(code)"))
      #expect(storefront?.regionCode == code)
    }
  }

  @Test func aLanguageMayBeChosen() {
    #expect(StorefrontRegion(countryCode: "CAN")?.locale(language: "fr") == Locale(identifier: "fr_CA"))
    #expect(StorefrontRegion.unitedStates == StorefrontRegion(countryCode: "USA"))
  }
}
