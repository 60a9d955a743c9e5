// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Recognizes the form of a receipt in text from its first bytes.
package enum ReceiptText {
  enum Shape {
    /// Base64url characters and dots.
    case jws
    /// Base64 of any content.
    case base64
    /// A brace, a key and an equals sign.
    case propertyList
    /// A brace, followed by a name and a colon or by the closing brace.
    case jsonObject
    /// A quotation mark.
    case jsonString
    case unknown
  }

  static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// Returns `true` if the bytes are a binary app receipt, which begins with a SEQUENCE. It must not be trimmed, because
  /// its last bytes may look like white space.
  package static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.first == 0x30 }

  /// Returns the text without surrounding white space; does not copy if there is no white space.
  package static func trimming(_ bytes: [UInt8]) -> [UInt8] {
    guard let first = bytes.first, let last = bytes.last else { return bytes }
    guard isWhiteSpace(first) || isWhiteSpace(last) else { return bytes }
    guard let start = bytes.firstIndex(where: { !isWhiteSpace($0) }),
      let end = bytes.lastIndex(where: { !isWhiteSpace($0) })
    else { return [] }
    return Array(bytes[start...end])
  }

  static func shape(of text: Span<UInt8>) -> Shape {
    guard text.count > 0 else { return .unknown }
    switch text[0] {
    case UInt8(ascii: "{"): return braceShape(of: text)
    case UInt8(ascii: "\""): return .jsonString
    default: break
    }
    var index = 0
    while index < min(text.count, 4), isSymbol(text[index]) { index += 1 }
    if index == min(text.count, 4) {
      // A JWS begins with the base64url encoding of a brace, "e", or of white space before it, "I", "C" or "D" (RFC 7515
      // section 4). So may base64 of other content, but it has no dots.
      switch text[0] {
      case UInt8(ascii: "e"), UInt8(ascii: "I"), UInt8(ascii: "C"), UInt8(ascii: "D"):
        return containsDot(text) ? .jws : .base64
      default: return .base64
      }
    }
    if index == 0 { return .unknown }
    switch text[index] {
    case UInt8(ascii: "."): return .jws
    case UInt8(ascii: "="), 0x20, 0x09, 0x0A, 0x0D: return .base64
    default: return .unknown
    }
  }

  /// Searches from the end, because the dot before the signature is near it.
  private static func containsDot(_ text: Span<UInt8>) -> Bool {
    var index = text.count
    while index > 0 {
      index -= 1
      if text[index] == UInt8(ascii: ".") { return true }
    }
    return false
  }

  private static func braceShape(of text: Span<UInt8>) -> Shape {
    var index = skipWhiteSpace(text, from: 1)
    guard index < text.count else { return .unknown }
    switch text[index] {
    case UInt8(ascii: "}"): return .jsonObject
    case UInt8(ascii: "\""):
      index += 1
      while index < text.count, text[index] != UInt8(ascii: "\"") {
        index += text[index] == UInt8(ascii: "\\") ? 2 : 1
      }
      index = skipWhiteSpace(text, from: index + 1)
      guard index < text.count else { return .unknown }
      switch text[index] {
      case UInt8(ascii: ":"): return .jsonObject
      case UInt8(ascii: "="): return .propertyList
      default: return .unknown
      }
    default:
      // A bare key, or malformed input: the property list reader reports the error.
      return .propertyList
    }
  }

  private static func skipWhiteSpace(_ text: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < text.count, isWhiteSpace(text[index]) { index += 1 }
    return index
  }

  /// Returns `true` if the byte is a symbol of one of the two base64 alphabets.
  private static func isSymbol(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Decodes base64 with either alphabet but not a mixture, with or without padding and line breaks. Different
  /// encodings of the same receipt are harmless, because only the signed bytes inside matter.
  static func decodeBase64(_ text: [UInt8]) throws(MalformedReceipt) -> [UInt8] {
    // Most receipts are one line of strict base64; only the others need a second pass.
    if let decoded = try? Base64.decode(text) { return decoded }
    var usesURLAlphabet = false
    var symbolCount = 0
    for byte in text where !isWhiteSpace(byte) {
      if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") { usesURLAlphabet = true }
      symbolCount += 1
    }
    let missing = (4 - symbolCount % 4) % 4
    guard usesURLAlphabet || missing > 0 else {
      return try Base64.decode(text, allowingWhitespace: true, part: "base64 text")
    }
    var standard = text
    if usesURLAlphabet {
      for index in standard.indices {
        switch standard[index] {
        case UInt8(ascii: "-"): standard[index] = UInt8(ascii: "+")
        case UInt8(ascii: "_"): standard[index] = UInt8(ascii: "/")
        case UInt8(ascii: "+"), UInt8(ascii: "/"):
          throw MalformedReceipt(
            .invalidBase64, at: .byteOffset(index, within: "base64 text"),
            "The text mixes the alphabets of base64 and base64url.")
        default: break
        }
      }
    }
    standard += repeatElement(UInt8(ascii: "="), count: missing < 3 ? missing : 0)
    return try Base64.decode(standard, allowingWhitespace: true, part: "base64 text")
  }
}

/// Removes the characters that spreadsheets and editors put around a receipt.
package enum ReceiptInputText {
  /// Returns the receipt without a leading UTF-8 byte order mark and without one pair of surrounding quotation marks. A
  /// JSON string with escapes is returned as it is, and parsed as JSON later. White space, carriage returns included,
  /// is ignored.
  package static func stripped(_ bytes: [UInt8]) -> [UInt8] {
    guard let first = bytes.first,
      first == ByteOrderMark.bytes[0] || first == UInt8(ascii: "\"") || first <= 0x20
    else { return bytes }
    let text = ByteOrderMark.dropped(from: bytes)
    let trimmed = ReceiptText.trimming(text)
    guard trimmed.count > 2, trimmed.first == UInt8(ascii: "\""), trimmed.last == UInt8(ascii: "\"") else {
      return text
    }
    let inner = ReceiptText.trimming(Array(trimmed.dropFirst().dropLast()))
    // If the text is a JSON object inside a JSON string, a backslash precedes the first quotation mark.
    let afterBrace = inner.dropFirst().first { $0 > 0x20 }
    let isObject = inner.first == UInt8(ascii: "{") && afterBrace == UInt8(ascii: "\"")
    let isPlain = inner.first != UInt8(ascii: "\"") && !inner.contains(UInt8(ascii: "\\"))
    return isObject || isPlain ? inner : text
  }
}
