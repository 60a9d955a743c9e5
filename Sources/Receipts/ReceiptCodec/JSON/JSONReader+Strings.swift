// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Reads strings (RFC 8259, section 7).
extension JSONReader {
  /// The range of a string's bytes between its quotation marks.
  struct StringContent {
    var range: Range<Int>
    var hasEscapes: Bool
  }

  /// Moves past the string whose opening quotation mark is the next byte. Escapes and UTF-8 are checked only when the
  /// content is read.
  mutating func skipString() throws(MalformedReceipt) -> StringContent {
    let start = position + 1
    var index = start
    var hasEscapes = false
    while true {
      index = JSONScan.endOfPlainText(bytes.span, from: index)
      guard index < bytes.count else { throw truncation() }
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        position = index + 1
        return StringContent(range: start..<index, hasEscapes: hasEscapes)
      }
      guard byte == UInt8(ascii: "\\") else {
        throw failure(
          .unexpected, at: index, "A control character must be escaped; byte \(hexadecimal: byte) is not.")
      }
      hasEscapes = true
      index += 2
    }
  }

  /// Reads the string that begins at the next byte.
  mutating func string() throws(MalformedReceipt) -> String {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw wrongType("a string") }
    let content = try skipString()
    return try text(content.range, hasEscapes: content.hasEscapes)
  }

  /// Reads the string that begins at the next byte, as UTF-8 with the escapes resolved.
  mutating func stringBytes() throws(MalformedReceipt) -> ArraySlice<UInt8> {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw wrongType("a string") }
    let content = try skipString()
    if content.hasEscapes { return try unescape(content.range)[...] }
    try checkUTF8(content.range)
    return bytes[content.range]
  }

  /// Returns the text between two quotation marks.
  func text(_ range: Range<Int>, hasEscapes: Bool) throws(MalformedReceipt) -> String {
    let text =
      hasEscapes
      ? UTF8Text.string(try unescape(range)) : UTF8Text.string(bytes.span.extracting(range))
    guard let text else {
      try checkUTF8(range)
      throw failure(.invalidUTF8, at: range.lowerBound, "The text is not valid UTF-8.")
    }
    return text
  }

  private func checkUTF8(_ range: Range<Int>) throws(MalformedReceipt) {
    if let offset = UTF8Text.firstInvalidByte(bytes.span.extracting(range)) {
      throw failure(.invalidUTF8, at: range.lowerBound + offset, "The text is not valid UTF-8.")
    }
  }

  /// Returns the content of a string with its escapes resolved.
  func unescape(_ range: Range<Int>) throws(MalformedReceipt) -> [UInt8] {
    try checkUTF8(range)
    // An escape is longer than the character that it encodes.
    var text = [UInt8](repeating: 0, count: range.count)
    var count = 0
    var index = range.lowerBound
    while true {
      JSONScan.copyText(bytes.span, from: &index, to: range.upperBound, into: &text, &count)
      guard index < range.upperBound else { break }
      guard index + 1 < range.upperBound, bytes[index + 1] == UInt8(ascii: "u") else {
        throw badEscape(at: index)
      }
      let scalar = try unicodeEscape(at: index, end: range.upperBound)
      for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
        text[count] = byte
        count += 1
      }
      index += scalar.value > 0xFFFF ? 12 : 6
    }
    text.removeLast(text.count - count)
    return text
  }

  /// Returns the character of the `\u` escape at `index`; a character above U+FFFF is a pair of escapes.
  private func unicodeEscape(at index: Int, end: Int) throws(MalformedReceipt) -> Unicode.Scalar {
    let first = try hexadecimal(at: index + 2, end: end, escapeAt: index)
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, index + 7 < end, bytes[index + 6] == UInt8(ascii: "\\"),
      bytes[index + 7] == UInt8(ascii: "u")
    else { throw loneSurrogate(at: index) }
    let second = try hexadecimal(at: index + 8, end: end, escapeAt: index + 6)
    guard 0xDC00...0xDFFF ~= second,
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw loneSurrogate(at: index) }
    return scalar
  }

  private func hexadecimal(at start: Int, end: Int, escapeAt escape: Int) throws(MalformedReceipt) -> UInt32 {
    guard start + 4 <= end else { throw badEscape(at: escape) }
    var value: UInt32 = 0
    for index in start..<start + 4 {
      guard let digit = Hexadecimal.value(bytes[index]) else { throw badEscape(at: escape) }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  private func badEscape(at offset: Int) -> MalformedReceipt {
    failure(.invalidValue, at: offset, "The string has an escape that JSON does not know.")
  }

  private func loneSurrogate(at offset: Int) -> MalformedReceipt {
    failure(.invalidValue, at: offset, "The string escapes half of a surrogate pair without its other half.")
  }
}
