// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The byte searches of the JSON reader.
enum JSONScan {
  /// Returns the index of the first byte from `start` on that ends a run of plain string content. Such a byte is a
  /// quotation mark, a reverse solidus or a control character (RFC 8259, section 7). Without one, the result is the
  /// number of bytes.
  static func endOfPlainText(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index <= bytes.count - 8 {
      let word = ByteSearch.word(bytes, at: index)
      let controls = (word &- 0x2020_2020_2020_2020) & ~word & ByteSearch.highBits
      let marks =
        controls | ByteSearch.zeroLanes(word ^ 0x2222_2222_2222_2222)
        | ByteSearch.zeroLanes(word ^ 0x5C5C_5C5C_5C5C_5C5C)
      if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { return index }
      index += 1
    }
    return index
  }

  /// Copies string content and resolves its two-character escapes, up to `end` or to another escape. It stores eight
  /// bytes at a time. Surplus bytes after the copied text are overwritten by the text that follows.
  ///
  /// - Parameters:
  ///   - bytes: The JSON.
  ///   - index: The start of the content; on return, the index at which copying ended.
  ///   - end: The end of the content.
  ///   - text: The buffer for the content, which is stored from `count` on; it must have room for as many bytes as the
  ///     content has.
  ///   - count: The number of bytes already in `text`; on return, includes the copied bytes.
  static func copyText(
    _ bytes: Span<UInt8>, from index: inout Int, to end: Int, into text: inout [UInt8], _ count: inout Int
  ) {
    var output = text.mutableSpan
    var outputBytes = unsafe output.mutableBytes
    while index < end {
      if index <= end - 8 {
        let word = ByteSearch.word(bytes, at: index)
        outputBytes.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
        let marks = ByteSearch.zeroLanes(word ^ 0x5C5C_5C5C_5C5C_5C5C)
        let plain = marks == 0 ? 8 : marks.trailingZeroBitCount / 8
        index += plain
        count += plain
        if marks == 0 { continue }
      } else if bytes[index] != UInt8(ascii: "\\") {
        outputBytes.storeBytes(of: bytes[index], toByteOffset: count, as: UInt8.self)
        index += 1
        count += 1
        continue
      }
      guard index + 1 < end, let character = escaped(bytes[index + 1]) else { return }
      outputBytes.storeBytes(of: character, toByteOffset: count, as: UInt8.self)
      index += 2
      count += 1
    }
  }

  /// Returns the character that a two-character escape encodes; `nil` if it is not such an escape.
  @inline(__always)
  private static func escaped(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  /// Returns the index after the run of JSON white space that begins at `start`.
  static func endOfWhitespace(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x0A, 0x0D, 0x09: index += 1
      default: return index
      }
    }
    return index
  }

  /// A number token (RFC 8259, section 6).
  struct Number {
    /// The index after the last byte of the token.
    var end: Int
    /// `true` if the bytes up to `end` are a valid number.
    var isValid = true
    /// `true` if the number has neither a fraction nor an exponent.
    var isInteger = true
    var isNegative = false
    /// The magnitude of an integer; meaningless if `overflows` is set.
    var magnitude: UInt64 = 0
    var overflows = false

    /// The integer's value; `nil` if it does not fit.
    var int64: Int64? {
      guard isInteger, !overflows else { return nil }
      if isNegative { return magnitude == 1 << 63 ? Int64.min : Int64(exactly: magnitude).map { -$0 } }
      return Int64(exactly: magnitude)
    }
  }

  static func number(_ bytes: Span<UInt8>, from start: Int) -> Number {
    var number = Number(end: start)
    if number.end < bytes.count, bytes[number.end] == UInt8(ascii: "-") {
      number.isNegative = true
      number.end += 1
    }
    let first = number.end
    while let digit = digit(bytes, at: number.end) {
      number.magnitude = number.magnitude &* 10 &+ UInt64(digit)
      number.end += 1
    }
    let digitCount = number.end - first
    // A number of 19 digits always fits in 64 bits, and no larger value occurs in a receipt.
    number.overflows = digitCount > 19
    number.isValid = digitCount > 0
    if digitCount > 1, bytes[first] == UInt8(ascii: "0") {
      // After a leading zero the number must end, so the next digit is an error.
      number.isValid = false
      number.end = first + 1
    }
    if number.isValid, number.end < bytes.count, bytes[number.end] == UInt8(ascii: ".") {
      number.isInteger = false
      number.end += 1
      number.isValid = skipDigits(bytes, from: &number.end)
    }
    if number.isValid, number.end < bytes.count, bytes[number.end] | 0x20 == UInt8(ascii: "e") {
      number.isInteger = false
      number.end += 1
      if number.end < bytes.count,
        bytes[number.end] == UInt8(ascii: "+") || bytes[number.end] == UInt8(ascii: "-")
      {
        number.end += 1
      }
      number.isValid = skipDigits(bytes, from: &number.end)
    }
    return number
  }

  /// Moves past decimal digits; returns `false` if there are no digits.
  private static func skipDigits(_ bytes: Span<UInt8>, from index: inout Int) -> Bool {
    let first = index
    while digit(bytes, at: index) != nil { index += 1 }
    return index > first
  }

  private static func digit(_ bytes: Span<UInt8>, at index: Int) -> UInt8? {
    guard index < bytes.count else { return nil }
    let digit = bytes[index] &- UInt8(ascii: "0")
    return digit <= 9 ? digit : nil
  }

  /// Returns `true` if `literal` (`true`, `false` or `null`) is at `start`.
  static func matches(_ literal: StaticString, _ bytes: Span<UInt8>, at start: Int) -> Bool {
    let count = literal.utf8CodeUnitCount
    guard start <= bytes.count - count else { return false }
    return literal.withUTF8Buffer { expected in
      for index in 0..<count where unsafe expected[index] != bytes[start + index] { return false }
      return true
    }
  }
}
