// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// Converts prices between decimal text, as in catalogues (`4.99`), and thousandths, as in signed transactions (4990).
/// It does not use binary floating point, which cannot represent such prices exactly.
enum PriceText {
  /// 999,999,999,999.999 in thousandths. It is below 2^53, so a JSON number represents it exactly.
  static let greatestMilliunits: Int64 = 999_999_999_999_999
  /// The number of digits that a `Decimal` represents exactly.
  private static let maximumDigitCount = 38

  /// Reads `[ "-" ] digits [ "." digits ]`, without leading zeros and without negative zero; `nil` for any other text.
  /// Foundation's parser is not used, because it ignores unknown trailing characters.
  static func decimal(_ text: String) -> Decimal? {
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard 1...2 ~= parts.count, parts.reduce(0, { $0 + $1.count }) <= maximumDigitCount,
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } }),
      parts[0].count == 1 || parts[0].first != UInt8(ascii: "0")
    else { return nil }
    var plain = text[...]
    if parts.count == 2 {
      while plain.last == "0" { plain.removeLast() }
      if plain.last == "." { plain.removeLast() }
    }
    return plain == "-0" ? nil : Decimal(string: String(plain))
  }

  /// The price in thousandths. Digits after the third decimal place must be zeros.
  static func milliunits(_ text: String, at path: String) throws(CatalogError) -> Int64 {
    let fault: String
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    if let decimal = decimal(text) {
      let thousandths = (decimal * 1000).description
      if isNegative {
        fault = "The price \(text) is negative; the least is \"0\"."
      } else if thousandths.utf8.contains(UInt8(ascii: ".")) {
        fault = "The price \(text) is finer than a thousandth; leave three decimal places at most."
      } else if let value = Int64(thousandths), value <= greatestMilliunits {
        return value
      } else {
        fault = "The price \(text) is higher than 999999999999.999."
      }
    } else {
      fault = "\"\(text)\" is not a price; write digits, and decimal places after a point: \"4.99\"."
    }
    throw CatalogError(.invalidPrice, at: path, fault)
  }

  /// The price in a file.
  static func price(_ text: String, at path: String) throws(CatalogError) -> Decimal {
    _ = try milliunits(text, at: path)
    return decimal(text) ?? 0
  }
}
