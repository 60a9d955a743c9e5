// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

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
