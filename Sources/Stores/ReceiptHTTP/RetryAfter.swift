// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The instant from which a server accepts another attempt (`Retry-After`). The App Store sends UNIX time in
/// milliseconds; RFC 9110 section 10.2.3 specifies a delay in seconds or a date. The size of a number identifies its
/// unit, because no server asks for a wait of three years.
package enum RetryAfter {
  /// The least number that is UNIX time in seconds; smaller ones are seconds to wait.
  private static let leastUnixSeconds: Double = 100_000_000
  /// The least number that is UNIX time in milliseconds (in seconds it would be the year 5138).
  private static let leastUnixMilliseconds: Double = 100_000_000_000

  /// Returns the instant; `nil` if the value is invalid.
  package static func instant(_ value: String, now: Timestamp) -> Timestamp? {
    let value = value.trimmingASCIISpace
    if !value.isEmpty, value.utf8.count <= 18,
      value.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      let number = Double(value)
    {
      if number >= leastUnixMilliseconds { return Timestamp(millisecondsSince1970: number) }
      if number >= leastUnixSeconds { return Timestamp(millisecondsSince1970: number * 1000) }
      return now.addingSeconds(number)
    }
    return HTTPDate.instant(value)
  }
}

extension RemoteResponse {
  /// `true` if the same request may succeed later. It took too long (408), came too early (425) or too often (429), or
  /// the server failed (RFC 9110 sections 15.5.9 and 15.6, RFC 8470 section 5.2, RFC 6585 section 4).
  package var isTemporaryFailure: Bool { Self.isTemporaryFailure(status: status) }

  /// Returns `true` if a request that got this status may succeed later.
  package static func isTemporaryFailure(status: Int) -> Bool {
    [408, 425, 429].contains(status) || status / 100 == 5
  }

  /// Returns the instant in the `Retry-After` header; `nil` without a valid one.
  package func retryAfter(now: Timestamp) -> Timestamp? {
    header("Retry-After").flatMap { RetryAfter.instant($0, now: now) }
  }
}

extension RemoteTime {
  /// Returns the duration until an instant, from zero to one day; the limit keeps absurd numbers out of the arithmetic.
  package func delay(until instant: Timestamp) -> Duration {
    let milliseconds = instant.millisecondsSince1970 - now().millisecondsSince1970
    return .milliseconds(Int64(min(max(milliseconds.rounded(.up), 0), 86_400_000)))
  }
}

/// Dates in headers, in the format of RFC 9110 section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

  package static func text(_ instant: Timestamp) -> String {
    let seconds = Int64(instant.wholeMilliseconds / 1000)
    let date = CivilDateTime(secondsSince1970: seconds)
    // 1970-01-01 was a Thursday.
    let day = days[Int((seconds / 86_400 % 7 + 7) % 7)]
    let numbers = [date.day, date.hour, date.minute, date.second].map { $0 < 10 ? "0\($0)" : "\($0)" }
    let time = numbers.dropFirst().joined(separator: ":")
    return "\(day), \(numbers[0]) \(months[date.month - 1]) \(date.year) \(time) GMT"
  }

  package static func instant(_ text: String) -> Timestamp? {
    let fields = text.split(separator: " ")
    guard fields.count == 6, fields[0].hasSuffix(","), fields[5] == "GMT",
      let day = number(fields[1]), let month = months.firstIndex(of: String(fields[2])),
      let year = number(fields[3])
    else { return nil }
    let time = fields[4].split(separator: ":", omittingEmptySubsequences: false).map { number($0) }
    guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2],
      let date = CivilDateTime(
        year: year, month: month + 1, day: day, hour: hour, minute: minute, second: min(second, 59))
    else { return nil }
    return Timestamp(secondsSince1970: date.secondsSince1970)
  }

  private static func number(_ digits: Substring) -> Int? { CivilDateTime.number(digits.utf8.span) }
}

extension String {
  package var trimmingASCIISpace: String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let start = firstIndex(where: { !isSpace($0) }), let end = lastIndex(where: { !isSpace($0) }) else {
      return ""
    }
    return String(self[start...end])
  }
}
