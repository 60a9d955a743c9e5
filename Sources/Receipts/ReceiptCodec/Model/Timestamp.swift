// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z, as in App Store payloads.
///
/// The value may have a fraction: Xcode writes dates such as `1697679936049.7297`. A `Double` represents every whole
/// millisecond up to 2^53 exactly (the year 287396), and preserves a fraction's shortest decimal form. So a decoded
/// value is encoded unchanged.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// The milliseconds since 1970-01-01T00:00:00Z; negative for earlier dates.
  public var millisecondsSince1970: Double

  /// The largest magnitude of a timestamp, in milliseconds: 2^53.
  package static let greatestMagnitude: Double = 9_007_199_254_740_992

  /// Creates a timestamp from milliseconds since 1970.
  public init(millisecondsSince1970: Double) {
    self.millisecondsSince1970 = millisecondsSince1970
  }

  /// Creates a timestamp from whole seconds since 1970.
  public init(secondsSince1970: Int64) {
    self.millisecondsSince1970 = Double(secondsSince1970) * 1000
  }

  /// The whole seconds since 1970, rounded down; `nil` if they do not fit in 64 bits.
  package var wholeSecondsSince1970: Int64? {
    Int64(exactly: (millisecondsSince1970 / 1000).rounded(.down))
  }

  /// Creates a timestamp from a Foundation date, rounded to whole milliseconds.
  public init(_ date: Date) {
    self.millisecondsSince1970 = (date.timeIntervalSince1970 * 1000).rounded()
  }

  /// The timestamp as a Foundation date.
  public var date: Date { Date(timeIntervalSince1970: millisecondsSince1970 / 1000) }

  /// Returns `true` if the first timestamp is earlier.
  public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
    lhs.millisecondsSince1970 < rhs.millisecondsSince1970
  }

  /// Returns the timestamp plus a number of seconds.
  public func addingSeconds(_ seconds: Double) -> Timestamp {
    Timestamp(millisecondsSince1970: millisecondsSince1970 + seconds * 1000)
  }
}
