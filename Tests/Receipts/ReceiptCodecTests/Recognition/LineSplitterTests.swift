// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Testing

@Suite("Lines of a stream")
struct LineSplitterTests {
  /// The lines of a text that arrives in pieces of so many bytes.
  private func lines(_ text: String, piece length: Int, limit: Int = 100) -> [String] {
    let bytes = Array(text.utf8)
    var splitter = LineSplitter(maximumLineLength: limit)
    var lines: [[UInt8]] = []
    for start in stride(from: 0, to: bytes.count, by: length) {
      lines += splitter.split(Array(bytes[start..<min(start + length, bytes.count)]))
    }
    return (lines + splitter.finish()).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("Lines are the same however the stream is cut", arguments: 1...8)
  func pieces(_ length: Int) {
    #expect(lines("one\n\ntwo\r\nthree", piece: length) == ["one", "", "two\r", "three"])
    #expect(lines("one\n", piece: length) == ["one"])
    #expect(lines("\n\n", piece: length) == ["", ""])
  }

  @Test("No bytes have no lines, and nothing is left after the end")
  func end() {
    var splitter = LineSplitter(maximumLineLength: 4)
    #expect(splitter.split([]).isEmpty && splitter.finish().isEmpty)
    #expect(splitter.split(Array("ab".utf8)).isEmpty)
    #expect(splitter.finish() == [Array("ab".utf8)])
    #expect(splitter.finish().isEmpty)
  }

  @Test("A line that is too long is cut to one byte more than the limit", arguments: 1...9)
  func limit(_ length: Int) {
    #expect(lines("1234\n12345\n1234567\n1", piece: length, limit: 4) == ["1234", "12345", "12345", "1"])
    #expect(lines("1234567", piece: length, limit: 4) == ["12345"])
  }
}
