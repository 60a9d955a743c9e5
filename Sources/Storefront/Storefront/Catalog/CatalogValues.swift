// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
public import ReceiptCodec

/// JSON formats of the values in catalogues and in the store protocol.

/// A price is written as a decimal string, because binary floating point cannot represent 4.99.
extension Decimal: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    guard let decimal = PriceText.decimal(try String(from: &json)) else {
      throw json.fieldFailure(.invalidValue, "expected a decimal such as \"4.99\", of at most 38 digits.")
    }
    self = decimal
  }

  package func write(to json: inout JSONWriter) { json.string(description) }
}

/// A locale is written as its identifier.
extension Locale: JSONFieldValue {
  static let unread = Locale(identifier: "en_US")

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let identifier = try String(from: &json)
    guard 1...200 ~= identifier.utf8.count, identifier.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) else {
      throw json.fieldFailure(.invalidValue, "expected a locale's identifier, such as en_US.")
    }
    self.init(identifier: identifier)
  }

  package func write(to json: inout JSONWriter) { json.string(identifier) }
}

/// A set is written as a sorted array. In a strict document an element must not occur twice, and strings must be valid
/// identifiers.
extension Set: JSONFieldValue where Element: JSONFieldValue & Comparable {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    self = []
    for (index, element) in try [Element](from: &json).enumerated() {
      let isNew = insert(element).inserted
      guard json.isStrict else { continue }
      let path = "\(json.path)[\(index)]"
      guard isNew else {
        throw MalformedReceipt(.duplicate, at: .jsonPath(path), "\"\(element)\" occurs twice; remove one.")
      }
      guard let identifier = element as? String else { continue }
      do throws(CatalogError) { try checkIdentifier(identifier, "product or code", at: path) } catch {
        throw MalformedReceipt(.invalidValue, at: .jsonPath(path), error.message)
      }
    }
  }

  package func write(to json: inout JSONWriter) { sorted().write(to: &json) }
}

/// The type of an offer, written as its name, or as its number if the type is unknown.
struct OfferTypeName: JSONFieldForm {
  static let known: [(name: String, type: OfferType)] = [
    ("introductory", .introductory), ("promotional", .promotional), ("offerCode", .offerCode),
    ("winBack", .winBack),
  ]

  let value: OfferType

  init(_ value: OfferType) { self.value = value }

  init(from json: inout JSONReader) throws(MalformedReceipt) {
    let name = try String(from: &json)
    let known = Self.known.first { $0.name == name }?.type
    guard let type = known ?? Int64(name).map(OfferType.init(rawValue:)) else {
      throw json.fieldFailure(
        .invalidValue,
        "there is no type of offer \"\(name)\"; the types are \(quoted(Self.known.map(\.name)))")
    }
    value = type
  }

  func write(to json: inout JSONWriter) {
    json.string(Self.known.first { $0.type == value }?.name ?? String(value.rawValue))
  }
}

/// The length of a subscription's or an offer's period: `P1W`, `P1M`, `P1Y` (ISO 8601).
public struct SubscriptionPeriod: JSONFieldValue, Sendable, Hashable, CustomStringConvertible {
  static let unread = SubscriptionPeriod(unchecked: 1, .month)

  /// The unit.
  public let unit: Unit
  /// The number of units, 1 to 999.
  public let count: Int

  /// Creates a period; `nil` if the count is outside 1 to 999.
  package init?(_ count: Int, _ unit: Unit) {
    guard 1...999 ~= count else { return nil }
    self.init(unchecked: count, unit)
  }

  private init(unchecked count: Int, _ unit: Unit) {
    self.unit = unit
    self.count = count
  }

  /// Reads `P`, a number and a unit; `nil` for anything else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 3, bytes.first == UInt8(ascii: "P"), let last = bytes.last,
      let unit = Unit(rawValue: String(Unicode.Scalar(last))), bytes[1] != UInt8(ascii: "0"),
      bytes[1..<(bytes.count - 1)].allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      let count = Int(String(decoding: bytes[1..<(bytes.count - 1)], as: UTF8.self))
    else { return nil }
    self.init(count, unit)
  }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let text = try String(from: &json)
    guard let period = SubscriptionPeriod(text) else {
      throw json.fieldFailure(.invalidValue, Self.fault(text))
    }
    self = period
  }

  package func write(to json: inout JSONWriter) { json.string(description) }

  static func fault(_ text: String) -> String {
    "\"\(text)\" is not a period; write a number of days, weeks, months or years as P3D, P1W, P1M, P1Y."
  }

  /// The period in ISO 8601, such as `P1M`.
  public var description: String { "P\(count)\(unit.rawValue)" }
}

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

  static func price(_ text: String, at path: String) throws(CatalogError) -> Decimal {
    _ = try milliunits(text, at: path)
    return decimal(text) ?? 0
  }
}
