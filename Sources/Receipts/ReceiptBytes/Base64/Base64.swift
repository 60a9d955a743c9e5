// SPDX-License-Identifier: Apache-2.0

/// Base64 with the standard alphabet and required padding (RFC 4648, section 4). Decoding is strict: each sequence of
/// bytes has exactly one encoding.
@usableFromInline
package enum Base64 {
  /// Decodes base64; `allowingWhitespace` skips space, tab, CR and LF anywhere.
  package static func decode(
    _ text: Span<UInt8>, allowingWhitespace: Bool = false
  ) throws(Base64Error) -> [UInt8] {
    try Base64Alphabet.standard.decode(text, allowingWhitespace: allowingWhitespace)
  }

  package static func decode(
    _ text: [UInt8], allowingWhitespace: Bool = false
  ) throws(Base64Error) -> [UInt8] {
    try decode(text.span, allowingWhitespace: allowingWhitespace)
  }

  /// Decodes base64 in a slice; offsets in errors count from the first byte of the slice.
  package static func decode(
    _ text: ArraySlice<UInt8>, allowingWhitespace: Bool = false
  ) throws(Base64Error) -> [UInt8] {
    try decode(text.span, allowingWhitespace: allowingWhitespace)
  }

  /// Encodes bytes, with padding and without line breaks.
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    Base64Alphabet.standard.encode(bytes.span)
  }

  package static func encodeToString(_ bytes: [UInt8]) -> String {
    String(decoding: encode(bytes), as: UTF8.self)
  }
}

/// Base64 with the URL-safe alphabet and without padding, as in JWS (RFC 7515, section 2). Decoding is strict: it
/// accepts no white space and no `=`, and each sequence of bytes has exactly one encoding.
package enum Base64URL {
  /// Decodes base64url.
  package static func decode(_ text: Span<UInt8>) throws(Base64Error) -> [UInt8] {
    try Base64Alphabet.url.decode(text, allowingWhitespace: false)
  }

  package static func decode(_ text: [UInt8]) throws(Base64Error) -> [UInt8] { try decode(text.span) }

  /// Encodes bytes, without padding.
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    Base64Alphabet.url.encode(bytes.span)
  }

  package static func encodeToString(_ bytes: [UInt8]) -> String {
    String(decoding: encode(bytes), as: UTF8.self)
  }
}

/// The error for text that is not base64, with the offset of the byte at fault.
package struct Base64Error: Error, Sendable, Hashable {
  package let offset: Int
  package let message: String
}
