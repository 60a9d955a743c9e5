// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Converts prices between decimal text, as in catalogues (`4.99`), and thousandths, as in signed transactions (4990),
/// without binary floating point, which cannot represent either exactly.
enum PriceText {
  /// Why a text is not a price.
  enum Fault: Error {
    case notANumber, negative, tooFine, tooHigh
  }

  /// 999,999,999,999.999 in thousandths: below 2^53, so that a JSON number holds it exactly.
  static let greatestMilliunits: Int64 = 999_999_999_999_999

  /// Reads `[ "-" ] digits [ "." digits ]`. Only zeros may follow the third decimal place.
  static func milliunits(_ text: String) throws(Fault) -> Int64 {
    var digits = text.utf8[...]
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { digits = digits.dropFirst() }
    var value: Int64 = 0
    var wholeDigits = 0
    var fractionDigits: Int?
    var isTooFine = false
    var isTooHigh = false
    for byte in digits {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let digit = Int64(byte - UInt8(ascii: "0"))
        if let count = fractionDigits {
          fractionDigits = count + 1
          guard count < 3 else {
            isTooFine = isTooFine || digit > 0
            continue
          }
        } else {
          guard wholeDigits == 0 || value > 0 || isTooHigh else { throw .notANumber }
          wholeDigits += 1
        }
        value = value * 10 + digit
        if value > greatestMilliunits {
          isTooHigh = true
          value = 1
        }
      case UInt8(ascii: ".") where fractionDigits == nil && wholeDigits > 0: fractionDigits = 0
      default: throw .notANumber
      }
    }
    guard wholeDigits > 0, fractionDigits != 0 else { throw .notANumber }
    guard !isNegative else { throw .negative }
    guard !isTooFine else { throw .tooFine }
    for _ in min(fractionDigits ?? 0, 3)..<3 { value *= 10 }
    guard !isTooHigh, value <= greatestMilliunits else { throw .tooHigh }
    return value
  }

  /// The price as a decimal number.
  static func decimal(milliunits: Int64) -> Decimal {
    var value = milliunits
    var exponent = -3
    while exponent < 0, value % 10 == 0 {
      value /= 10
      exponent += 1
    }
    return Decimal(sign: .plus, exponent: exponent, significand: Decimal(value))
  }

  /// The price as text with no, two or three decimal places.
  static func text(milliunits: Int64) -> String {
    let fraction = milliunits % 1000
    guard fraction > 0 else { return String(milliunits / 1000) }
    let digits = String(1000 + fraction).dropFirst()
    return "\(milliunits / 1000).\(fraction % 10 == 0 ? digits.dropLast() : digits)"
  }
}

extension Decimal {
  /// The price in thousandths of the currency's unit, as in signed transactions; `nil` for a value that cannot be a
  /// price: negative, with more than three decimal places, or not a number.
  package var priceMilliunits: Int64? { try? PriceText.milliunits(description) }
}

extension PriceText.Fault {
  /// The message for the price `text`.
  func message(_ text: String) -> String {
    switch self {
    case .notANumber: "\"\(text)\" is not a price; write digits, and decimal places after a point: \"4.99\"."
    case .negative: "The price \(text) is negative; the least is \"0\"."
    case .tooFine: "The price \(text) is finer than a thousandth; leave three decimal places at most."
    case .tooHigh: "The price \(text) is higher than 999999999999.999."
    }
  }
}
