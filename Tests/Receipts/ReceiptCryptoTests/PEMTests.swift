// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCrypto
import Testing

@Suite struct PEMTests {
  @Test func `every length round-trips`() throws {
    for length in 1...200 {
      let bytes = Random.bytes(length)
      let text = PEMBlock.encode(bytes, label: "TEST")
      #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count <= 64 })
      let blocks = try PEMBlock.blocks(in: Array(text.utf8))
      #expect(blocks.map(\.bytes) == [bytes])
      #expect(blocks.map(\.label) == ["TEST"])
    }
  }

  @Test(arguments: [
    "-----BEGIN A-----\nZm9v\n", "-----BEGIN A-----\nZm9v\n-----END B-----\n", "-----END A-----\n",
    "-----BEGIN A-----\n-----BEGIN A-----\nZm9v\n-----END A-----\n",
    "-----BEGIN A-----\nZm9\n-----END A-----\n",
    "-----BEGIN A-----\n-----END A-----\n",
  ])
  func `a damaged block is an error`(text: String) {
    let error = #expect(throws: CryptoError.self) { try PEMBlock.blocks(in: Array(text.utf8)) }
    #expect(error?.code == .malformedPEM)
  }

  @Test func `white space of every kind is skipped`() throws {
    let text = "-----BEGIN A-----\nZm\u{0B}9 v\u{0C}\t\r\nYmFy\n-----END A-----\n"
    #expect(try PEMBlock.blocks(in: Array(text.utf8)).map(\.bytes) == [Array("foobar".utf8)])
  }

  @Test func `spaces and tabs may follow the first and the last line of a block`() throws {
    let text = "-----BEGIN A----- \t\nZm9v\n-----END A-----\t\n"
    #expect(try PEMBlock.blocks(in: Array(text.utf8)).map(\.bytes) == [Array("foo".utf8)])
  }

  @Test func `text without blocks has none`() throws {
    #expect(try PEMBlock.blocks(in: []).isEmpty)
    #expect(try PEMBlock.blocks(in: Array("hello\n-----BEGIN\n-----BEGIN A----\n".utf8)).isEmpty)
    #expect(try PEMBlock.blocks(in: [0xFF, 0x00, 0x0A, 0x80]).isEmpty)
  }
}
