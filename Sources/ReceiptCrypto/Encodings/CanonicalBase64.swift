// SPDX-License-Identifier: Apache-2.0

/// Base64 of RFC 4648 section 4 where a sequence of bytes has one text only: padded, and no white space.
package enum CanonicalBase64 {
  /// Encodes, without line breaks.
  package static func encode(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.encode(bytes), as: UTF8.self)
  }

  /// The decoded bytes; `nil` where `text` is not what ``encode(_:)`` makes of them.
  package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    // Of the length that its bytes need there is no room for white space, the one liberty of Base64.
    guard let bytes = Base64.decode(text), text.count == (bytes.count + 2) / 3 * 4 else { return nil }
    return bytes
  }
}
