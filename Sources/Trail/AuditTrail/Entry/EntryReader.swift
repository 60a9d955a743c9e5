// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// Reads the lines of an entry one after another, without copying; pass the same bytes to every function.
struct EntryReader {
  private(set) var index = 0
  private(set) var line = 1

  mutating func header(in bytes: Span<UInt8>) throws(MalformedEntry) {
    guard begins(with: EntryFormat.header, in: bytes) else {
      throw MalformedEntry(
        .version, line: 1,
        begins(with: EntryFormat.headerOfVersion1, in: bytes)
          ? "The entry is of version 1, of builds before the first release; this is version 2. Begin a new trail."
          : "The first line is not that of an audit entry of version 2.")
    }
    endLine(at: EntryFormat.header.utf8CodeUnitCount - 1)
  }

  /// Reads the next line and returns the range of its value; `nil`, as of all these functions, if it has another key.
  @inline(__always)
  mutating func value(_ key: StaticString, in bytes: Span<UInt8>) throws(MalformedEntry) -> Range<Int>? {
    guard begins(with: key, in: bytes) else { return nil }
    let start = index + key.utf8CodeUnitCount
    let value = start..<(try endOfLine(from: start, in: bytes))
    guard !value.isEmpty else { throw failure(.emptyValue, at: start, "The value is empty.") }
    endLine(at: value.upperBound)
    return value
  }

  @inline(__always)
  mutating func digest(_ key: StaticString, in bytes: Span<UInt8>) throws(MalformedEntry) -> SHA256Digest? {
    guard begins(with: key, in: bytes) else { return nil }
    let start = index + key.utf8CodeUnitCount
    let end = start + Base64.digestCount
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\n"),
      let words = Base64.decode(digestIn: bytes, at: start)
    else { throw failure(.invalidValue, at: start, "The value is not the base64 of 32 bytes.") }
    endLine(at: end)
    return SHA256Digest(words: words)
  }

  mutating func number(_ key: StaticString, in bytes: Span<UInt8>) throws(MalformedEntry) -> UInt64? {
    guard let value = try value(key, in: bytes) else { return nil }
    return try decimal(value, in: bytes)
  }

  mutating func instant(_ key: StaticString, in bytes: Span<UInt8>) throws(MalformedEntry) -> Int64? {
    guard let value = try value(key, in: bytes) else { return nil }
    let isNegative = bytes[value.lowerBound] == UInt8(ascii: "-")
    let magnitude = try decimal(isNegative ? value.dropFirst() : value, in: bytes)
    guard !(isNegative && magnitude == 0) else { throw invalid(value.lowerBound, "Zero has no sign.") }
    guard let instant = Int64(exactly: magnitude) else {
      throw invalid(value.lowerBound, "The instant is out of range.", code: .outOfRange)
    }
    return isNegative ? -instant : instant
  }

  mutating func text(_ key: StaticString, in bytes: Span<UInt8>) throws(MalformedEntry) -> String? {
    guard let value = try value(key, in: bytes) else { return nil }
    return try text(value, in: bytes)
  }

  mutating func verdict(
    _ key: StaticString, in bytes: Span<UInt8>
  ) throws(MalformedEntry) -> RecordedVerdict? {
    guard let value = try value(key, in: bytes) else { return nil }
    guard let verdict = Self.verdict(value, in: bytes) else {
      throw invalid(value.lowerBound, "A verdict is valid, invalid or undetermined.")
    }
    return verdict
  }

  /// Returns the verdict whose word stands in a range; `nil` if there is another word.
  static func verdict(_ value: Range<Int>, in bytes: Span<UInt8>) -> RecordedVerdict? {
    // The three words differ in their first letter and length; the rest is compared nevertheless.
    let verdict: RecordedVerdict
    switch bytes[value.lowerBound] {
    case UInt8(ascii: "v"): verdict = .valid
    case UInt8(ascii: "i"): verdict = .invalid
    case UInt8(ascii: "u"): verdict = .undetermined
    default: return nil
    }
    let word = verdict.rawValue.utf8Span.span
    guard word.count == value.count else { return nil }
    for offset in word.indices where word[offset] != bytes[value.lowerBound + offset] { return nil }
    return verdict
  }

  mutating func check(_ key: StaticString, in bytes: Span<UInt8>) throws(MalformedEntry) -> RecordedCheck? {
    guard let value = try value(key, in: bytes) else { return nil }
    guard let space = value.first(where: { bytes[$0] == 0x20 }), space > value.lowerBound,
      space + 1 < value.upperBound
    else { throw invalid(value.lowerBound, "A check is a name, a space and an answer.") }
    return RecordedCheck(
      name: try text(value.lowerBound..<space, in: bytes),
      answer: RecordedCheck.Answer(rawValue: try text(space + 1..<value.upperBound, in: bytes)))
  }

  /// Reads the instant of the next line, which every entry has, and which is not before 1970.
  mutating func requiredInstant(_ key: StaticString, in bytes: Span<UInt8>) throws(MalformedEntry) -> Int64 {
    let start = index + key.utf8CodeUnitCount
    guard let instant = try instant(key, in: bytes) else { throw missing(key, in: bytes) }
    guard instant >= 0 else { throw invalid(start, "An entry's time is not before 1970.", code: .outOfRange) }
    return instant
  }

  mutating func requiredText(_ key: StaticString, in bytes: Span<UInt8>) throws(MalformedEntry) -> String {
    guard let text = try text(key, in: bytes) else { throw missing(key, in: bytes) }
    return text
  }

  private func missing(_ key: StaticString, in bytes: Span<UInt8>) -> MalformedEntry {
    let name = "\(key)".dropLast()
    guard index < bytes.count else {
      return failure(.truncated, at: bytes.count, "The entry ends before its \(name).")
    }
    return failure(.unexpectedLine, at: index, "This must be the line of the \(name).")
  }

  func end(in bytes: Span<UInt8>) throws(MalformedEntry) {
    guard index < bytes.count else { return }
    _ = try endOfLine(from: index, in: bytes)
    throw failure(.unexpectedLine, at: index, "The format has no such line, or not in this place.")
  }

  /// Decodes the text in a range, which has only one spelling.
  private func text(_ range: Range<Int>, in bytes: Span<UInt8>) throws(MalformedEntry) -> String {
    let spelled = bytes.extracting(range)
    let text =
      EntryText.containsReserved(spelled)
      ? UTF8Text.string(try decoded(range, in: bytes)) : UTF8Text.string(spelled)
    guard let text else { throw invalid(range.lowerBound, "The value is not UTF-8.") }
    return text
  }

  private func decoded(_ range: Range<Int>, in bytes: Span<UInt8>) throws(MalformedEntry) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = bytes[index]
      guard EntryText.isReserved(byte) else {
        decoded.append(byte)
        index += 1
        continue
      }
      guard byte == UInt8(ascii: "%"), range.upperBound - index > 2,
        let high = EntryText.value(ofDigit: bytes[index + 1]),
        let low = EntryText.value(ofDigit: bytes[index + 2]),
        EntryText.isReserved(high << 4 | low)
      else {
        throw invalid(
          index,
          "A control, a space or a percent sign is written as % and two upper-case hexadecimal digits, and "
            + "nothing else is.")
      }
      decoded.append(high << 4 | low)
      index += 3
    }
    return decoded
  }

  private func decimal(_ range: Range<Int>, in bytes: Span<UInt8>) throws(MalformedEntry) -> UInt64 {
    var number: UInt64 = 0
    guard !range.isEmpty, range.count == 1 || bytes[range.lowerBound] != UInt8(ascii: "0") else {
      throw invalid(range.lowerBound, "A number has digits, and no zero before others.")
    }
    for index in range {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[index] else {
        throw invalid(index, "A number has digits alone.")
      }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isStillTooLarge) = product.addingReportingOverflow(UInt64(bytes[index] - UInt8(ascii: "0")))
      guard !isTooLarge, !isStillTooLarge else {
        throw invalid(range.lowerBound, "The number does not fit 64 bits.", code: .outOfRange)
      }
      number = sum
    }
    return number
  }

  @inline(__always)
  private func begins(with text: StaticString, in bytes: Span<UInt8>) -> Bool {
    let length = text.utf8CodeUnitCount
    guard bytes.count - index >= length else { return false }
    let start = unsafe text.utf8Start
    for offset in 0..<length {
      guard unsafe start[offset] == bytes[index + offset] else { return false }
    }
    return true
  }

  private func endOfLine(from start: Int, in bytes: Span<UInt8>) throws(MalformedEntry) -> Int {
    guard let end = ByteSearch.firstIndex(of: UInt8(ascii: "\n"), in: bytes, from: start) else {
      throw failure(.truncated, at: bytes.count, "The entry ends in the middle of a line.")
    }
    return end
  }

  private mutating func endLine(at end: Int) {
    index = end + 1
    line += 1
  }

  func failure(_ code: MalformedEntry.Code, at offset: Int, _ message: String) -> MalformedEntry {
    MalformedEntry(code, line: line, offset: offset, message)
  }

  /// Returns the error of a value in the line that was just read.
  private func invalid(
    _ offset: Int, _ message: String, code: MalformedEntry.Code = .invalidValue
  ) -> MalformedEntry {
    MalformedEntry(code, line: line - 1, offset: offset, message)
  }
}

extension MalformedEntry: CustomStringConvertible {
  package var description: String {
    line == 0 ? message : "\(message) (line \(line), byte \(offset))"
  }
}
