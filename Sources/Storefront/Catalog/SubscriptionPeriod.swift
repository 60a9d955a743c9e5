// SPDX-License-Identifier: Apache-2.0

/// The length of a subscription's or an offer's period: `P1W`, `P1M`, `P1Y` (ISO 8601).
public struct SubscriptionPeriod: Sendable, Hashable, CustomStringConvertible {
  /// What is counted.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    /// 24 hours.
    case day = "D"
    /// Seven days.
    case week = "W"
    /// Of the Gregorian calendar.
    case month = "M"
    /// Of the Gregorian calendar.
    case year = "Y"
  }

  /// What is counted.
  public let unit: Unit
  /// The number of units, 1 to 999.
  public let count: Int

  /// A period; `nil` for a count outside 1 to 999.
  public init?(_ count: Int, _ unit: Unit) {
    guard 1...999 ~= count else { return nil }
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

  /// ISO 8601, such as `P1M`.
  public var description: String { "P\(count)\(unit.rawValue)" }
}
