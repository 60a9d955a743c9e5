// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Splits a stream into lines. A line that is too long is truncated to one byte more than the limit, which the
/// verification then refuses as too large.
package struct LineSplitter: Sendable {
  /// The longest line that is kept whole, in bytes.
  package let maximumLineLength: Int
  private var partial: [UInt8] = []

  /// Creates a splitter for a stream from its beginning.
  package init(maximumLineLength: Int) { self.maximumLineLength = maximumLineLength }

  /// The lines that end in this piece.
  package mutating func split(_ piece: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var start = 0
    while let end = ByteSearch.firstIndex(of: UInt8(ascii: "\n"), in: piece.span, from: start) {
      append(piece[start..<end])
      lines.append(partial)
      partial = []
      start = end + 1
    }
    append(piece[start...])
    return lines
  }

  /// The last line, if it has no line feed.
  package mutating func finish() -> [[UInt8]] {
    defer { partial = [] }
    return partial.isEmpty ? [] : [partial]
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    let rest = bytes.prefix(maximumLineLength + 1 - partial.count)
    // Most lines are whole: exactly as much is allocated as they have.
    if partial.isEmpty { partial = Array(rest) } else { partial += rest }
  }
}
