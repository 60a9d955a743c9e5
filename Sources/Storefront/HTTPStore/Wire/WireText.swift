// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// A price as a decimal string: binary floating point cannot represent 4.99.
struct WireDecimal: JSONFieldValue, Sendable, Hashable {
  /// The number of digits that a `Decimal` represents exactly.
  private static let maximumDigitCount = 38

  static let zero = WireDecimal(0)

  let decimal: Decimal

  init(_ decimal: Decimal) { self.decimal = decimal }

  init(from json: inout JSONReader) throws(MalformedReceipt) {
    let text = try String(from: &json)
    guard let decimal = Self.decimal(text) else {
      throw json.fieldFailure(
        .invalidValue, "expected a decimal such as \"4.99\", of at most \(Self.maximumDigitCount) digits.")
    }
    self.decimal = decimal
  }

  func write(to json: inout JSONWriter) { json.string(decimal.description) }

  /// Reads `[ "-" ] digits [ "." digits ]`. Foundation's parser ignores trailing characters that it does not know.
  private static func decimal(_ text: String) -> Decimal? {
    let parts = text.utf8.drop { $0 == UInt8(ascii: "-") }
      .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let digitCount = parts.reduce(0) { $0 + $1.count }
    guard 1...2 ~= parts.count, digitCount <= maximumDigitCount,
      text.utf8.prefix(2).last != UInt8(ascii: "-"),
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } })
    else { return nil }
    return Decimal(string: text)
  }
}

/// A locale, written as its identifier.
struct WireLocale: JSONFieldValue, Sendable, Hashable {
  private static let maximumByteCount = 200

  /// What a field holds until it is read.
  static let unread = WireLocale(Locale(identifier: "en_US"))

  let identifier: String

  init(_ locale: Locale) { identifier = locale.identifier }

  var locale: Locale { Locale(identifier: identifier) }

  init(from json: inout JSONReader) throws(MalformedReceipt) {
    identifier = try String(from: &json)
    guard 1...Self.maximumByteCount ~= identifier.utf8.count,
      identifier.utf8.allSatisfy({ 0x20..<0x7F ~= $0 })
    else { throw json.fieldFailure(.invalidValue, "expected a locale's identifier, such as en_US.") }
  }

  func write(to json: inout JSONWriter) { json.string(identifier) }
}

/// A ``SubscriptionPeriod`` in ISO 8601.
struct WirePeriod: JSONFieldValue, Sendable, Hashable {
  /// What a field holds until it is read.
  static let unread = WirePeriod(SubscriptionPeriod(month: ()))

  let period: SubscriptionPeriod

  init(_ period: SubscriptionPeriod) { self.period = period }

  init(from json: inout JSONReader) throws(MalformedReceipt) {
    guard let period = SubscriptionPeriod(try String(from: &json)) else {
      throw json.fieldFailure(.invalidValue, "expected a period such as P1M: P, 1 to 999, and D, W, M or Y.")
    }
    self.period = period
  }

  func write(to json: inout JSONWriter) { json.string(period.description) }
}

extension SubscriptionPeriod {
  fileprivate init(month: Void) {
    unit = .month
    count = 1
  }
}
