// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@Suite struct TextTests {
  @Test func `shown text contains no control characters and stays on one line`() {
    #expect(ShownText.plain("a\u{1B}[31m\nb\u{202E}c") == "a\u{FFFD}[31m\u{FFFD}b\u{FFFD}c")
    #expect(ShownText.plain("plain text") == "plain text")
    #expect(ShownText.plain("äöü", limit: 2) == "äö…")
  }

  @Test func `tokens and signed payloads are not shown`() {
    let token = String(repeating: "eyJhbGciOi", count: 6)
    #expect(ShownText.line("no \(token).\(token) here") == "no … here")
    #expect(ShownText.line("207262da-1ac8-4e0a-a399-5aa62a82800f") == "207262da-1ac8-4e0a-a399-5aa62a82800f")
    #expect(ShownText.line(String(repeating: "a ", count: 400)).unicodeScalars.count == 501)
  }

  @Test func `byte strings are equal if all bytes are`() {
    for count in 0...40 {
      let bytes = (0..<count).map { UInt8($0) }
      #expect(areEqual(bytes, bytes))
      #expect(!areEqual(bytes, bytes + [0]))
      for index in 0..<count {
        var other = bytes
        other[index] ^= 0x80
        #expect(!areEqual(bytes, other))
      }
    }
  }

  @Test func `integers go most significant byte first`() {
    #expect(UInt32(0x0102_0304).bigEndianBytes == [1, 2, 3, 4])
    var bytes: [UInt8] = [9]
    bytes.append(bigEndian: UInt16(0x0102))
    #expect(bytes == [9, 1, 2])
    #expect(bytes.bigEndian(at: 1) as UInt16 == 0x0102)
    #expect(bytes.span.bigEndian(at: 0) as UInt16 == 0x0901)
  }

  @Test func `canonically equivalent texts are not identical`() {
    #expect("\u{E9}" == "e\u{301}")
    #expect(!UTF8Text.isIdentical("\u{E9}", "e\u{301}"))
    #expect(UTF8Text.isIdentical("\u{E9}", "\u{E9}"))
  }
}

/// `#expect` cannot take spans.
private func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool { ByteSearch.isEqual(left.span, right.span) }
