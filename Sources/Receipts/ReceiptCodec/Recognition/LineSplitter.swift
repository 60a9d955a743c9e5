// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Splits a stream into lines. A longer line than the limit is truncated to one byte more than the limit, so that
/// verification rejects it as too large.
package struct LineSplitter: Sendable {
  /// The maximum length of a line, in bytes.
  package let maximumLineLength: Int
  private var partial: [UInt8] = []

  package init(maximumLineLength: Int) { self.maximumLineLength = maximumLineLength }

  /// Returns the lines that end in this chunk.
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

  /// Returns the last line if it has no line feed.
  package mutating func finish() -> [[UInt8]] {
    defer { partial = [] }
    return partial.isEmpty ? [] : [partial]
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    let rest = bytes.prefix(maximumLineLength + 1 - partial.count)
    // Most lines arrive whole: a copy allocates exactly the bytes that they need.
    if partial.isEmpty { partial = Array(rest) } else { partial += rest }
  }
}
