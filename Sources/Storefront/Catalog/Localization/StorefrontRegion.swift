// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import FoundationInternationalization

/// A country or region that a store sells in, by its three letters (`storefront` of a signed transaction).
///
/// Storefront, locale and currency belong together: the three-letter and two-letter codes are those of ISO 3166-1, and
/// `XKS` is Kosovo. The currency is the region's current legal tender, and the locale has the region's most widely read
/// language, both by Unicode's CLDR: `DEU`, `de_DE`, `EUR`. The currencies in a catalogue are independent of this.
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

  /// The storefront of a locale's region; `nil` if the locale has no region, or one that is not a country.
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

  /// The United States, the default.
  public static let unitedStates = StorefrontRegion(countryCode: "USA", regionCode: "US")

  /// The locale that prices are formatted by: the region with its most widely read language.
  public var locale: Locale {
    let language = Locale.Language(
      identifier: Locale.Language(identifier: "und-\(regionCode)").maximalIdentifier)
    return locale(language: language.languageCode?.identifier ?? "en")
  }

  /// The locale that prices are formatted by in another language, such as `fr` in `CAN`.
  public func locale(language: String) -> Locale { Locale(identifier: "\(language)_\(regionCode)") }

  /// The region's currency, by ISO 4217; `USD` for a region without one.
  public var currency: String {
    let code = Locale(identifier: "en_\(regionCode)").currency?.identifier.uppercased()
    // `XXX` means no currency (ISO 4217).
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
