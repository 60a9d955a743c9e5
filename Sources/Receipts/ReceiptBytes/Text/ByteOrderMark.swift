// SPDX-License-Identifier: Apache-2.0

/// The byte order mark of UTF-8. Editors and spreadsheets put it in front of a text. It is not part of the text.
package enum ByteOrderMark {
  package static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the text without a leading byte order mark; does not copy if there is no mark.
  package static func dropped(from text: [UInt8]) -> [UInt8] {
    text.starts(with: bytes) ? Array(text.dropFirst(bytes.count)) : text
  }
}
