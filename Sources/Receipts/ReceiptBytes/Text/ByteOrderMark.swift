// SPDX-License-Identifier: Apache-2.0

/// The byte order mark of UTF-8, which editors and spreadsheets put in front of a text: it is no part of it.
package enum ByteOrderMark {
  /// The mark's three bytes.
  package static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The text without a mark in front of it; not copied if it is missing.
  package static func dropped(from text: [UInt8]) -> [UInt8] {
    text.starts(with: bytes) ? Array(text.dropFirst(bytes.count)) : text
  }
}
