// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// When periods end: by the Gregorian calendar in UTC, or quicker, for tests.
public struct SubscriptionCalendar: Sendable, Hashable {
  /// How long a day takes: 86,400 seconds, or less, and everything else that takes days in proportion.
  public let secondsPerDay: Double

  /// Creates a calendar.
  ///
  /// - Parameter secondsPerDay: How long a day takes, 1 to 86,400 seconds; what lies outside is moved to the bound.
  public init(secondsPerDay: Double = 86_400) {
    self.secondsPerDay = secondsPerDay.isFinite ? min(max(secondsPerDay, 1), 86_400) : 86_400
  }

  /// An instant, moved by days.
  public func adding(days: Double, to start: Timestamp) -> Timestamp {
    Timestamp(millisecondsSince1970: (start.millisecondsSince1970 + days * secondsPerDay * 1000).rounded())
  }

  /// The end of periods that follow one another.
  ///
  /// - Parameters:
  ///   - period: How long one is.
  ///   - count: How many.
  ///   - start: When the first begins.
  ///   - anchorDay: The day of the month on which months end, 1 to 31, or the month's last where it is shorter: what
  ///     began on 31 January ends on 28 February and then on 31 March. `nil`: the day of `start`.
  /// - Returns: When the last one ends.
  public func end(
    of period: SubscriptionPeriod, count: Int = 1, from start: Timestamp, anchorDay: Int? = nil
  ) -> Timestamp {
    let count = max(1, count) * period.count
    let months: Int
    switch period.unit {
    case .day: return adding(days: Double(count), to: start)
    case .week: return adding(days: Double(count) * 7, to: start)
    case .month: months = count
    case .year: months = count * 12
    }
    let milliseconds = start.millisecondsSince1970
    let seconds = (milliseconds / 1000).rounded(.down)
    // Beyond all calendars; a clock that shows this is broken, and must not be a crash.
    guard abs(seconds) < 8e12 else { return adding(days: Double(months) * 30, to: start) }
    let civil = CivilDateTime(secondsSince1970: Int64(seconds))
    let month = civil.year * 12 + civil.month - 1 + months
    let year = month >= 0 ? month / 12 : (month - 11) / 12
    let monthOfYear = month - year * 12 + 1
    let day = min(anchorDay ?? civil.day, CivilDateTime.dayCount(ofMonth: monthOfYear, year: year))
    guard
      let end = CivilDateTime(
        year: year, month: monthOfYear, day: max(1, day), hour: civil.hour, minute: civil.minute,
        second: civil.second)
    else { return adding(days: Double(months) * 30, to: start) }
    let exact = Double(end.secondsSince1970) * 1000 + (milliseconds - seconds * 1000)
    return Timestamp(
      millisecondsSince1970: (milliseconds + (exact - milliseconds) * secondsPerDay / 86_400).rounded())
  }

  /// The day of the month on which a line of periods is anchored that begins at an instant.
  func anchorDay(of start: Timestamp) -> Int {
    let seconds = (start.millisecondsSince1970 / 1000).rounded(.down)
    return abs(seconds) < 8e12 ? CivilDateTime(secondsSince1970: Int64(seconds)).day : 1
  }
}
