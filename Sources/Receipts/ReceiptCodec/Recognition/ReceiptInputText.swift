// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The characters that spreadsheets and editors put around a receipt.
package enum ReceiptInputText {
  /// The receipt without a byte order mark (UTF-8) before it, and without one pair of quotation marks around it. A JSON
  /// string with escapes is left as it is: it is read as one. White space, carriage returns among it, does not matter.
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
    // Of a JSON object in a JSON string a backslash precedes the first quotation mark.
    let afterBrace = inner.dropFirst().first { $0 > 0x20 }
    let isObject = inner.first == UInt8(ascii: "{") && afterBrace == UInt8(ascii: "\"")
    let isPlain = inner.first != UInt8(ascii: "\"") && !inner.contains(UInt8(ascii: "\\"))
    return isObject || isPlain ? inner : text
  }
}
