// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// Computes the ends of periods by the Gregorian calendar in UTC, or at a faster rate for tests.
public struct SubscriptionCalendar: Sendable, Hashable {
  /// The length of a day: 86,400 seconds or less. All periods scale with it.
  package let secondsPerDay: Double
  private let hasSandboxPeriods: Bool

  /// The rates of the App Store's sandbox, in minutes: 3 days take 2, a week 3, a month 5, two months 10, three months
  /// 15, six months 30, a year 60. A day of billing retry or grace takes 10 seconds, like a day of a month.
  public static let sandbox = SubscriptionCalendar(secondsPerDay: 10, hasSandboxPeriods: true)

  /// Creates a calendar.
  ///
  /// - Parameter secondsPerDay: The length of a day, clamped to 1 to 86,400 seconds.
  public init(secondsPerDay: Double = 86_400) {
    self.init(secondsPerDay: secondsPerDay, hasSandboxPeriods: false)
  }

  private init(secondsPerDay: Double, hasSandboxPeriods: Bool) {
    self.secondsPerDay = secondsPerDay.isFinite ? min(max(secondsPerDay, 1), 86_400) : 86_400
    self.hasSandboxPeriods = hasSandboxPeriods
  }

  /// The length of a period in the sandbox, in minutes.
  private static func sandboxMinutes(_ period: SubscriptionPeriod) -> Double {
    switch period.unit {
    case .day: Double(period.count) * (period.count == 7 ? 3.0 / 7 : 2.0 / 3)
    case .week: Double(period.count) * 3
    case .month: Double(period.count) * 5
    case .year: Double(period.count) * 60
    }
  }

  /// An instant plus a number of days.
  package func adding(days: Double, to start: Timestamp) -> Timestamp {
    Timestamp(millisecondsSince1970: (start.millisecondsSince1970 + days * secondsPerDay * 1000).rounded())
  }

  /// The end of consecutive periods. They end on the anchor day of the month, 1 to 31, or on the last day of a shorter
  /// month. A period that began on 31 January ends on 28 February, and the next one on 31 March. `nil` is the day of
  /// `start`.
  package func end(
    of period: SubscriptionPeriod, count: Int = 1, from start: Timestamp, anchorDay: Int? = nil
  ) -> Timestamp {
    if hasSandboxPeriods {
      return start.addingSeconds(Double(max(1, count)) * Self.sandboxMinutes(period) * 60)
    }
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
    // The date is beyond the calendar's range. A broken clock must not cause a crash.
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

  /// The anchor day of periods that begin at an instant.
  func anchorDay(of start: Timestamp) -> Int {
    let seconds = (start.millisecondsSince1970 / 1000).rounded(.down)
    return abs(seconds) < 8e12 ? CivilDateTime(secondsSince1970: Int64(seconds)).day : 1
  }
}
