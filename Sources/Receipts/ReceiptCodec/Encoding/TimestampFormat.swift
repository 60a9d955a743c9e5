// SPDX-License-Identifier: Apache-2.0

/// Dates as text in RFC 3339, the profile of ISO 8601 that app receipts use.
extension Timestamp {
  /// Parses a date such as `2025-10-01T07:09:12Z`, of the years 0000 to 9999.
  ///
  /// The second may have a fraction; its digits after the ninth are ignored. The offset is `Z`, `+03:00` or `+0300`
  /// (Xcode wrote the last form in 2020).
  ///
  /// - Throws: ``MalformedReceipt`` with `.invalidValue` at the whole receipt, for any other text and for dates that do
  ///   not exist in the calendar.
  public init(iso8601 text: String) throws(MalformedReceipt) {
    guard let timestamp = Timestamp(iso8601: Array(text.utf8).span) else {
      throw MalformedReceipt(
        .invalidValue, at: .whole,
        "\"\(text.prefix(40))\" is not a date such as 2025-10-01T07:09:12Z. Write date, T, time, Z or offset."
      )
    }
    self = timestamp
  }

  /// Parses a date from bytes; `nil` if they are not a valid date.
  package init?(iso8601 text: Span<UInt8>) {
    guard text.count >= 20,
      let dateTime = CivilDateTime(text.extracting(0..<19), separator: UInt8(ascii: "T"))
    else { return nil }
    var index = 19
    var nanoseconds = 0
    if text[index] == UInt8(ascii: ".") {
      index += 1
      let first = index
      var unit = 100_000_000
      while index < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[index] {
        nanoseconds += Int(text[index] - UInt8(ascii: "0")) * unit
        unit /= 10
        index += 1
      }
      guard index > first else { return nil }
    }
    guard let offset = Self.offsetInSeconds(text.extracting(index..<text.count)) else { return nil }
    let seconds = dateTime.secondsSince1970 - Int64(offset)
    let milliseconds = seconds * 1000 + Int64(nanoseconds / 1_000_000)
    self.init(
      millisecondsSince1970: Double(milliseconds) + Double(nanoseconds % 1_000_000) / 1_000_000)
  }

  private static func offsetInSeconds(_ text: Span<UInt8>) -> Int? {
    guard text.count > 0 else { return nil }
    if text[0] == UInt8(ascii: "Z") { return text.count == 1 ? 0 : nil }
    guard text[0] == UInt8(ascii: "+") || text[0] == UInt8(ascii: "-") else { return nil }
    let minuteIndex: Int
    switch text.count {
    case 5: minuteIndex = 3
    case 6 where text[3] == UInt8(ascii: ":"): minuteIndex = 4
    default: return nil
    }
    guard let hours = CivilDateTime.number(text.extracting(1..<3)),
      let minutes = CivilDateTime.number(text.extracting(minuteIndex..<minuteIndex + 2)),
      hours < 24, minutes < 60
    else { return nil }
    let seconds = hours * 3600 + minutes * 60
    return text[0] == UInt8(ascii: "-") ? -seconds : seconds
  }

  /// The date in UTC with milliseconds, such as `2025-10-01T07:09:12.835Z`.
  ///
  /// A fraction of a millisecond is rounded down.
  ///
  /// A year outside 0000 to 9999 has a sign and six digits.
  public var iso8601: String {
    var text: [UInt8] = []
    appendISO8601(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends ``iso8601`` in ASCII.
  func appendISO8601(to text: inout [UInt8]) {
    let milliseconds = wholeMilliseconds
    let seconds = CivilDateTime.floorDivide(milliseconds, 1000)
    let civil = CivilDateTime(secondsSince1970: Int64(seconds))
    text.append(addingCapacity: CivilDateTime.maximumByteCount + 5) { output in
      civil.write(to: &output, separator: UInt8(ascii: "T"))
      output.append(UInt8(ascii: "."))
      CivilDateTime.write(milliseconds - seconds * 1000, digits: 3, to: &output)
      output.append(UInt8(ascii: "Z"))
    }
  }

  /// The date in UTC to the second, as app receipts contain it, such as `2025-10-01T07:09:12Z`. A fraction of a second
  /// is rounded down.
  package var iso8601Seconds: String {
    let seconds = CivilDateTime.floorDivide(wholeMilliseconds, 1000)
    var text = CivilDateTime(secondsSince1970: Int64(seconds)).text(separator: UInt8(ascii: "T"))
    text.append(UInt8(ascii: "Z"))
    return String(decoding: text, as: UTF8.self)
  }

  /// Indicates whether the year is between 0 and 9999, the range of a textual date.
  package var hasFourDigitYear: Bool {
    millisecondsSince1970 >= -62_167_219_200_000 && millisecondsSince1970 < 253_402_300_800_000
  }

  /// The milliseconds since 1970, rounded down and limited to ``greatestMagnitude``; 0 for NaN.
  package var wholeMilliseconds: Int {
    guard !millisecondsSince1970.isNaN else { return 0 }
    let bounded = min(max(millisecondsSince1970, -Self.greatestMagnitude), Self.greatestMagnitude)
    return Int(bounded.rounded(.down))
  }
}
