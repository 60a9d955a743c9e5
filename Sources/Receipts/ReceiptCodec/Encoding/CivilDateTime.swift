// SPDX-License-Identifier: Apache-2.0

/// A date and time in UTC of the proleptic Gregorian calendar, in whole seconds. All textual dates in receipts are
/// based on it.
package struct CivilDateTime: Sendable, Hashable {
  package let year: Int
  package let month: Int
  package let day: Int
  package let hour: Int
  package let minute: Int
  package let second: Int

  /// Creates a date; `nil` unless it is a valid date of the years 0 to 9999 and the time is before 24:00:00. Leap
  /// seconds are rejected: neither Unix time nor any receipt has them.
  package init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
    guard 0...9999 ~= year, 1...12 ~= month, day >= 1,
      day <= 28 || day <= Self.dayCount(ofMonth: month, year: year),
      0...23 ~= hour, 0...59 ~= minute, 0...59 ~= second
    else { return nil }
    self.init(unchecked: year, month, day, hour, minute, second)
  }

  private init(unchecked year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int) {
    (self.year, self.month, self.day) = (year, month, day)
    (self.hour, self.minute, self.second) = (hour, minute, second)
  }

  /// Parses `2012-12-02T07:15:54` from exactly 19 bytes, with the given separator between date and time.
  package init?(_ text: Span<UInt8>, separator: UInt8) {
    guard text.count == 19, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[10] == separator, text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":")
    else { return nil }
    var isDecimal = true
    let century = Self.twoDigits(text, at: 0, &isDecimal)
    let year = Self.twoDigits(text, at: 2, &isDecimal)
    let month = Self.twoDigits(text, at: 5, &isDecimal)
    let day = Self.twoDigits(text, at: 8, &isDecimal)
    let hour = Self.twoDigits(text, at: 11, &isDecimal)
    let minute = Self.twoDigits(text, at: 14, &isDecimal)
    let second = Self.twoDigits(text, at: 17, &isDecimal)
    guard isDecimal else { return nil }
    self.init(
      year: century * 100 + year, month: month, day: day, hour: hour, minute: minute, second: second)
  }

  /// Creates the date and time that is a number of seconds after 1970-01-01T00:00:00Z. The year may be outside 0 to
  /// 9999.
  package init(secondsSince1970 seconds: Int64) {
    let days = Self.floorDivide(Int(seconds), 86_400)
    let time = Int(seconds) - days * 86_400
    // Years begin in March here, so that the leap day is the last day. 0000-03-01 is 719468 days before 1970-01-01. 400
    // years have 146097 days.
    let shifted = days + 719_468
    let era = Self.floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    self.init(
      unchecked: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, time / 3600, time / 60 % 60, time % 60)
  }

  /// The number of seconds since 1970-01-01T00:00:00Z.
  package var secondsSince1970: Int64 {
    // Shifted by a billion eras of 400 years, no year is negative, so integer division rounds down.
    let shiftedYear = UInt(year + 400_000_000_000 - (month <= 2 ? 1 : 0))
    let era = Int(shiftedYear / 400) - 1_000_000_000
    let yearOfEra = Int(shiftedYear % 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return Int64(days * 86_400 + hour * 3600 + minute * 60 + second)
  }

  /// Returns `2012-12-02T07:15:54` with the given separator between date and time. A year outside 0 to 9999 has a sign
  /// and six digits (the expanded form of ISO 8601).
  package func text(separator: UInt8) -> [UInt8] {
    [UInt8](capacity: Self.maximumByteCount) { write(to: &$0, separator: separator) }
  }

  /// The length of the longest text in bytes, that of a year outside 0 to 9999.
  static let maximumByteCount = 22

  /// Writes ``text(separator:)``.
  func write(to output: inout OutputSpan<UInt8>, separator: UInt8) {
    if 0...9999 ~= year {
      Self.write(year, digits: 4, to: &output)
    } else {
      output.append(UInt8(ascii: year < 0 ? "-" : "+"))
      Self.write(abs(year), digits: 6, to: &output)
    }
    output.append(UInt8(ascii: "-"))
    Self.write(month, digits: 2, to: &output)
    output.append(UInt8(ascii: "-"))
    Self.write(day, digits: 2, to: &output)
    output.append(separator)
    Self.write(hour, digits: 2, to: &output)
    output.append(UInt8(ascii: ":"))
    Self.write(minute, digits: 2, to: &output)
    output.append(UInt8(ascii: ":"))
    Self.write(second, digits: 2, to: &output)
  }

  package static func isLeap(year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  package static func dayCount(ofMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: isLeap(year: year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Returns the value of two decimal digits. It is several times faster than ``number(_:)``, and a receipt has several
  /// dates for each purchase.
  @inline(__always)
  private static func twoDigits(_ text: Span<UInt8>, at index: Int, _ isDecimal: inout Bool) -> Int {
    let tens = text[index] &- UInt8(ascii: "0")
    let ones = text[index &+ 1] &- UInt8(ascii: "0")
    if tens > 9 || ones > 9 { isDecimal = false }
    return Int(tens) &* 10 &+ Int(ones)
  }

  /// Returns the value of one to nine decimal digits; `nil` for any other text.
  package static func number(_ digits: Span<UInt8>) -> Int? {
    guard 1...9 ~= digits.count else { return nil }
    var value = 0
    for index in digits.indices {
      let digit = digits[index]
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
      value = value * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return value
  }

  /// Writes the last `digits` digits of a number.
  @inline(__always)
  static func write(_ value: Int, digits: Int, to output: inout OutputSpan<UInt8>) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      output.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }

  static func floorDivide(_ value: Int, _ divisor: Int) -> Int {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
  }
}
