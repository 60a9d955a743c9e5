// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// An instant, counted in milliseconds since 1970-01-01T00:00:00Z, as App Store payloads count it.
///
/// The count may carry a fraction: Xcode writes dates such as `1697679936049.7297`. A `Double` holds every
/// whole millisecond up to 2^53 exactly (year 287396), and a fraction as its shortest decimal, so what was
/// read is written back unchanged.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z; negative before it.
  public var millisecondsSince1970: Double

  /// The largest magnitude that a timestamp may have, in milliseconds: 2^53.
  package static let greatestMagnitude: Double = 9_007_199_254_740_992

  /// Creates an instant from milliseconds since 1970.
  public init(millisecondsSince1970: Double) {
    self.millisecondsSince1970 = millisecondsSince1970
  }

  /// Creates an instant from whole seconds since 1970.
  public init(secondsSince1970: Int64) {
    self.millisecondsSince1970 = Double(secondsSince1970) * 1000
  }

  /// Whole seconds since 1970, rounded down; `nil` if they do not fit.
  package var wholeSecondsSince1970: Int64? {
    Int64(exactly: (millisecondsSince1970 / 1000).rounded(.down))
  }

  /// Creates an instant from Foundation's date.
  public init(_ date: Date) {
    self.millisecondsSince1970 = (date.timeIntervalSince1970 * 1000).rounded()
  }

  /// The same instant as Foundation's date.
  public var date: Date { Date(timeIntervalSince1970: millisecondsSince1970 / 1000) }

  /// Orders instants by time.
  public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
    lhs.millisecondsSince1970 < rhs.millisecondsSince1970
  }

  /// The instant moved by a number of seconds.
  public func addingSeconds(_ seconds: Double) -> Timestamp {
    Timestamp(millisecondsSince1970: millisecondsSince1970 + seconds * 1000)
  }
}
