// SPDX-License-Identifier: Apache-2.0

/// Base64 with the standard alphabet and required padding (RFC 4648, section 4).
///
/// Strict: each sequence of bytes has one text. Errors are `.invalidBase64`, placed at the byte.
package enum Base64 {
  /// Decodes; `allowingWhitespace` skips space, tab, CR and LF anywhere. `part` and `start` place errors: the
  /// name of the text, and the offset at which it begins.
  package static func decode(
    _ text: Span<UInt8>, allowingWhitespace: Bool = false, part: String = "base64 text", start: Int = 0
  ) throws(MalformedReceipt) -> [UInt8] {
    try Base64Alphabet.standard.decode(text, allowingWhitespace: allowingWhitespace, part: part, start: start)
  }

  /// Decodes an array.
  package static func decode(
    _ text: [UInt8], allowingWhitespace: Bool = false, part: String = "base64 text", start: Int = 0
  ) throws(MalformedReceipt) -> [UInt8] {
    try decode(text.span, allowingWhitespace: allowingWhitespace, part: part, start: start)
  }

  /// Decodes a slice; errors are placed from the slice's first byte.
  package static func decode(
    _ text: ArraySlice<UInt8>, allowingWhitespace: Bool = false, part: String = "base64 text", start: Int = 0
  ) throws(MalformedReceipt) -> [UInt8] {
    try decode(text.span, allowingWhitespace: allowingWhitespace, part: part, start: start)
  }

  /// Encodes, padded, without line breaks.
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    Base64Alphabet.standard.encode(bytes.span)
  }

  /// Encodes to a string.
  package static func encodeToString(_ bytes: [UInt8]) -> String {
    String(decoding: encode(bytes), as: UTF8.self)
  }
}

/// Base64 with the URL-safe alphabet and no padding, as JWS has it (RFC 7515, section 2).
///
/// Strict: no white space, no `=`, one text for each sequence of bytes. Errors are `.invalidBase64`, placed at
/// the byte.
package enum Base64URL {
  /// Decodes. `part` and `start` place errors, as in ``Base64``.
  package static func decode(
    _ text: Span<UInt8>, part: String = "base64url text", start: Int = 0
  ) throws(MalformedReceipt) -> [UInt8] {
    try Base64Alphabet.url.decode(text, allowingWhitespace: false, part: part, start: start)
  }

  /// Decodes an array.
  package static func decode(
    _ text: [UInt8], part: String = "base64url text", start: Int = 0
  ) throws(MalformedReceipt) -> [UInt8] {
    try decode(text.span, part: part, start: start)
  }

  /// Decodes a slice; errors are placed from the slice's first byte.
  package static func decode(
    _ text: ArraySlice<UInt8>, part: String = "base64url text", start: Int = 0
  ) throws(MalformedReceipt) -> [UInt8] {
    try decode(text.span, part: part, start: start)
  }

  /// Encodes, unpadded.
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    Base64Alphabet.url.encode(bytes.span)
  }

  /// Encodes to a string.
  package static func encodeToString(_ bytes: [UInt8]) -> String {
    String(decoding: encode(bytes), as: UTF8.self)
  }
}
