// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The form of a receipt in text, as far as its first bytes show it.
package enum ReceiptText {
  enum Shape {
    /// Dots among base64url characters.
    case jws
    /// Base64, of whatever.
    case base64
    /// A brace, then a key and an equals sign.
    case propertyList
    /// A brace, then a name and a colon, or the closing brace.
    case jsonObject
    /// A quotation mark.
    case jsonString
    case unknown
  }

  static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// The text without white space at either end; not copied if it is missing.
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
      // A JWS begins with a brace in base64url, an "e"; so may a property list in base64, but without dots.
      return text[0] == UInt8(ascii: "e") && containsDot(text) ? .jws : .base64
    }
    if index == 0 { return .unknown }
    switch text[index] {
    case UInt8(ascii: "."): return .jws
    case UInt8(ascii: "="), 0x20, 0x09, 0x0A, 0x0D: return .base64
    default: return .unknown
    }
  }

  /// Looks from the end, where the dot before a signature is near.
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
      // A bare key. Whatever else it is, the reader of property lists says where it goes wrong.
      return .propertyList
    }
  }

  private static func skipWhiteSpace(_ text: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < text.count, isWhiteSpace(text[index]) { index += 1 }
    return index
  }

  /// Indicates whether the byte belongs to either alphabet of base64.
  private static func isSymbol(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Decodes base64 with either alphabet, not both, padded or not, in lines or not.
  ///
  /// Only the signed bytes inside matter, so that more than one spelling of what is around them does no harm.
  static func decodeBase64(_ text: [UInt8]) throws(MalformedReceipt) -> [UInt8] {
    // Most receipts come in one line of strict base64; only the others are looked at twice.
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
