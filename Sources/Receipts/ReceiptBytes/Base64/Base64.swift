// SPDX-License-Identifier: Apache-2.0

/// Base64 with the standard alphabet and required padding (RFC 4648, section 4).
///
/// Strict: each sequence of bytes has one text.
package enum Base64 {
  /// Decodes; `allowingWhitespace` skips space, tab, CR and LF anywhere.
  package static func decode(
    _ text: Span<UInt8>, allowingWhitespace: Bool = false
  ) throws(Base64Error) -> [UInt8] {
    try Base64Alphabet.standard.decode(text, allowingWhitespace: allowingWhitespace)
  }

  /// Decodes an array.
  package static func decode(
    _ text: [UInt8], allowingWhitespace: Bool = false
  ) throws(Base64Error) -> [UInt8] {
    try decode(text.span, allowingWhitespace: allowingWhitespace)
  }

  /// Decodes a slice; errors are placed from the slice's first byte.
  package static func decode(
    _ text: ArraySlice<UInt8>, allowingWhitespace: Bool = false
  ) throws(Base64Error) -> [UInt8] {
    try decode(text.span, allowingWhitespace: allowingWhitespace)
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
/// Strict: no white space, no `=`, one text for each sequence of bytes.
package enum Base64URL {
  /// Decodes.
  package static func decode(_ text: Span<UInt8>) throws(Base64Error) -> [UInt8] {
    try Base64Alphabet.url.decode(text, allowingWhitespace: false)
  }

  /// Decodes an array.
  package static func decode(_ text: [UInt8]) throws(Base64Error) -> [UInt8] { try decode(text.span) }

  /// Encodes, unpadded.
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    Base64Alphabet.url.encode(bytes.span)
  }

  /// Encodes to a string.
  package static func encodeToString(_ bytes: [UInt8]) -> String {
    String(decoding: encode(bytes), as: UTF8.self)
  }
}

/// Text that is not base64, with the offset of the byte that is wrong.
package struct Base64Error: Error, Sendable, Hashable {
  package let offset: Int
  package let message: String
}
