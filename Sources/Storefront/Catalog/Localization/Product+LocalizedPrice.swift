// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import FoundationInternationalization

extension Product {
  /// The price as the store writes it, such as `4,99 €`: by ``priceLocale``, never converted and never rounded.
  ///
  /// (In StoreKit: an `NSNumberFormatter` of behaviour 10.4 and currency style with the locale `priceLocale`.)
  public var localizedPrice: String {
    var style = Decimal.FormatStyle.Currency(code: currency, locale: priceLocale)
    // Rounding to the currency's minor unit would show another price than the one that is charged.
    let needed = PriceText.decimalPlaces(price)
    if needed > PriceText.decimalPlaces(ofCurrency: currency) {
      style = style.precision(.fractionLength(needed))
    }
    return price.formatted(style)
  }
}

extension PriceText {
  /// How many decimal places a price has.
  fileprivate static func decimalPlaces(_ price: Decimal) -> Int { decimalPlaces(price.description) }

  /// How many decimal places prices in a currency usually have.
  fileprivate static func decimalPlaces(ofCurrency currency: String) -> Int {
    decimalPlaces(
      Decimal(0).formatted(.currency(code: currency).locale(Locale(identifier: "en_US_POSIX"))))
  }

  private static func decimalPlaces(_ text: String) -> Int {
    guard let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return 0 }
    return text.utf8[text.utf8.index(after: point)...].count
  }
}
