// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// The three forms in which `verifyReceipt` writes a date: in GMT, in milliseconds, and in the time of California.
  struct VerifyReceiptDate {
    let date: Timestamp

    /// Such as `2024-02-03 10:20:30 Etc/GMT`.
    var gmt: String { Self.text(date) + " Etc/GMT" }
    /// The milliseconds since 1970.
    var milliseconds: String { String(date.milliseconds) }
    /// Such as `2024-02-03 02:20:30 America/Los_Angeles`.
    var pacific: String {
      Self.text(date.addingSeconds(Self.pacificOffset(at: date.milliseconds / 1000))) + " America/Los_Angeles"
    }

    private static func text(_ date: Timestamp) -> String {
      String(decoding: date.civil.text(separator: UInt8(ascii: " ")), as: UTF8.self)
    }

    /// The offset of Pacific Time, in seconds, at seconds since 1970.
    ///
    /// Since 2007, daylight saving time begins on the second Sunday of March, and ends on the first of November, at two
    /// o'clock (Energy Policy Act of 2005, section 110). The App Store opened in 2008.
    private static func pacificOffset(at seconds: Int64) -> Double {
      let year = CivilDateTime(secondsSince1970: seconds - 8 * 3600).year
      let start = sunday(from: 8, ofMonth: 3, year, atHour: 10)
      let end = sunday(from: 1, ofMonth: 11, year, atHour: 9)
      return start..<end ~= seconds ? -7 * 3600 : -8 * 3600
    }

    /// The seconds from 1970 to an hour in UTC of the first Sunday on or after a day.
    private static func sunday(from day: Int, ofMonth month: Int, _ year: Int, atHour hour: Int64) -> Int64 {
      let first = (CivilDateTime(year: year, month: month, day: day)?.secondsSince1970 ?? 0) / 86_400
      // The first day of 1970 was a Thursday.
      return (first + (7 - (first + 4) % 7) % 7) * 86_400 + hour * 3600
    }
  }

  extension Timestamp {
    /// The date and time in UTC, in whole seconds.
    fileprivate var civil: CivilDateTime { CivilDateTime(secondsSince1970: milliseconds / 1000) }
  }

  extension JSONWriter {
    /// Writes a date in the three forms of `verifyReceipt`; nothing for `nil`.
    mutating func dates(_ name: String, _ date: Timestamp?) {
      guard let date else { return }
      let forms = VerifyReceiptDate(date: date)
      member(name, forms.gmt)
      member("\(name)_ms", forms.milliseconds)
      member("\(name)_pst", forms.pacific)
    }

    /// Writes a truth value as `verifyReceipt` does in purchases: as a text.
    mutating func text(_ name: String, _ value: Bool?) {
      if let value { member(name, value ? "true" : "false") }
    }

    /// Writes a number as `verifyReceipt` does in purchases: as a text.
    mutating func text(_ name: String, _ value: Int64?) {
      if let value { member(name, String(value)) }
    }
  }
#endif
