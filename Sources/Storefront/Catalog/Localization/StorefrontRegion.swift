// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import FoundationInternationalization

/// A country or region that a store sells in, by its three letters (`storefront` of a signed transaction).
///
/// The rule between storefront, locale and currency: the region's three letters and the locale's two are those of
/// ISO 3166-1, and `XKS` is Kosovo. The currency is the region's present legal tender, and the locale the region's with
/// the language that most there read, both by Unicode's CLDR: `DEU`, `de_DE`, `EUR`. A catalogue's own currencies are not
/// touched by it.
public struct StorefrontRegion: Sendable, Hashable, CustomStringConvertible {
  /// Three capital letters, such as `USA`.
  public let countryCode: String
  /// Two capital letters, such as `US`.
  public let regionCode: String

  /// The storefront of three letters; `nil` if there is no such country or region.
  public init?(countryCode: String) {
    guard let region = CountryCodes.twoLetters(of: countryCode) else { return nil }
    self.countryCode = countryCode
    regionCode = region
  }

  /// The storefront of a locale's region; `nil` where it has none, or one that is no country.
  public init?(_ locale: Locale) {
    guard let region = locale.region?.identifier, let country = CountryCodes.threeLetters(of: region) else {
      return nil
    }
    countryCode = country
    regionCode = region
  }

  private init(countryCode: String, regionCode: String) {
    self.countryCode = countryCode
    self.regionCode = regionCode
  }

  /// The United States, where nothing else is known.
  public static let unitedStates = StorefrontRegion(countryCode: "USA", regionCode: "US")

  /// How prices are written there: in the language that most read.
  public var locale: Locale {
    let language = Locale.Language(
      identifier: Locale.Language(identifier: "und-\(regionCode)").maximalIdentifier)
    return locale(language: language.languageCode?.identifier ?? "en")
  }

  /// How prices are written there in some language, such as `fr` in `CAN`.
  public func locale(language: String) -> Locale { Locale(identifier: "\(language)_\(regionCode)") }

  /// The currency there, by ISO 4217; `USD` where there is none.
  public var currency: String {
    let code = Locale(identifier: "en_\(regionCode)").currency?.identifier.uppercased()
    // XXX stands for none.
    return code.flatMap { $0 == "XXX" || $0.utf8.count != 3 ? nil : $0 } ?? "USD"
  }

  /// The three letters.
  public var description: String { countryCode }
}

extension StorefrontRegion {
  /// The storefront of a locale such as `de_DE`.
  init?(localeIdentifier: String) {
    guard localeIdentifier.utf8.count <= 64 else { return nil }
    self.init(Locale(identifier: localeIdentifier))
  }
}
