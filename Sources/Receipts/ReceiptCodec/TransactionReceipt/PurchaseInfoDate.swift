// SPDX-License-Identifier: Apache-2.0

/// The textual dates of a transaction receipt. A date is written as `2012-12-02 07:15:54 Etc/GMT`, and again as
/// `2012-12-01 23:15:54 America/Los_Angeles`.
package enum PurchaseInfoDate {
  private static let greenwich = " Etc/GMT"
  private static let losAngeles = " America/Los_Angeles"

  /// Parses a date in the time zone `Etc/GMT`.
  static func parse(_ text: String) -> Timestamp? {
    guard text.hasSuffix(greenwich) else { return nil }
    let bytes = Array(text.utf8.dropLast(greenwich.utf8.count))
    return CivilDateTime(bytes.span, separator: UInt8(ascii: " "))
      .map { Timestamp(secondsSince1970: $0.secondsSince1970) }
  }

  /// Returns the date in the time zone `Etc/GMT`, with the fraction of the second dropped.
  package static func greenwich(_ timestamp: Timestamp) -> String {
    text(seconds(timestamp)) + greenwich
  }

  /// Returns the date in the time zone `America/Los_Angeles`, with the fraction of the second dropped.
  package static func losAngeles(_ timestamp: Timestamp) -> String {
    let seconds = seconds(timestamp)
    return text(seconds + pacificOffset(at: seconds)) + losAngeles
  }

  private static func seconds(_ timestamp: Timestamp) -> Int64 {
    Int64(CivilDateTime.floorDivide(timestamp.wholeMilliseconds, 1000))
  }

  private static func text(_ seconds: Int64) -> String {
    String(
      decoding: CivilDateTime(secondsSince1970: seconds).text(separator: UInt8(ascii: " ")), as: UTF8.self)
  }

  /// Returns the offset of Los Angeles from GMT in seconds: -8 hours, or -7 hours in daylight saving time. Daylight
  /// saving time lasts from 2:00 on the second Sunday of March to 2:00 on the first Sunday of November (15 U.S.C.
  /// 260a); until 2006, from the first Sunday of April to the last Sunday of October. The rules before 1987 do not
  /// matter, because the store did not exist.
  static func pacificOffset(at seconds: Int64) -> Int64 {
    let standard: Int64 = -8 * 3600
    let daylight: Int64 = -7 * 3600
    let year = CivilDateTime(secondsSince1970: seconds + standard).year
    let firstDay: Int64
    let lastDay: Int64
    if year >= 2007 {
      firstDay = sunday(onOrAfter: 8, month: 3, year: year)
      lastDay = sunday(onOrAfter: 1, month: 11, year: year)
    } else {
      firstDay = sunday(onOrAfter: 1, month: 4, year: year)
      lastDay = sunday(onOrAfter: 25, month: 10, year: year)
    }
    // Daylight saving time begins at 2:00 standard time and ends at 2:00 daylight time.
    let begin = firstDay + 2 * 3600 - standard
    let end = lastDay + 2 * 3600 - daylight
    return begin..<end ~= seconds ? daylight : standard
  }

  /// Returns midnight GMT of the first Sunday on or after the given day.
  private static func sunday(onOrAfter day: Int, month: Int, year: Int) -> Int64 {
    guard let date = CivilDateTime(year: year, month: month, day: day) else { return 0 }
    let midnight = date.secondsSince1970
    // 1970-01-01 was a Thursday, four days after a Sunday.
    let weekday = Int(midnight / 86_400 + 4) % 7
    return midnight + Int64((7 - (weekday + 7) % 7) % 7) * 86_400
  }
}
