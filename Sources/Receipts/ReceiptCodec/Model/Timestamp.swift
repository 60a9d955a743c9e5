// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif

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

  /// The current time of the system's clock, rounded to whole milliseconds.
  package static func now() -> Timestamp {
    var time = timespec()
    // POSIX: it fails only for a clock that does not exist.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(
      millisecondsSince1970: Double(time.tv_sec) * 1000 + (Double(time.tv_nsec) / 1_000_000).rounded())
  }

  /// Returns `true` if the first timestamp is earlier.
  public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
    lhs.millisecondsSince1970 < rhs.millisecondsSince1970
  }

  /// Returns the timestamp plus a number of seconds.
  public func addingSeconds(_ seconds: Double) -> Timestamp {
    Timestamp(millisecondsSince1970: millisecondsSince1970 + seconds * 1000)
  }
}
