// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCrypto
import Testing

@Suite struct PEMTests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `base64 has the vectors of RFC 4648 section 10`(plain: String, text: String) {
    #expect(String(decoding: Base64.encode(Array(plain.utf8)), as: UTF8.self) == text)
    #expect(Base64.decode(Array(text.utf8)[...]) == Array(plain.utf8))
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z", "=", "====", "Zm9v=", "Z*9v", "Zm=v", "Zm9v-_",
  ])
  func `base64 has one spelling`(text: String) {
    #expect(Base64.decode(Array(text.utf8)[...]) == nil)
  }

  @Test func `every length goes out and comes back`() throws {
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

  @Test func `text without blocks has none`() throws {
    #expect(try PEMBlock.blocks(in: []).isEmpty)
    #expect(try PEMBlock.blocks(in: Array("hello\n-----BEGIN\n-----BEGIN A----\n".utf8)).isEmpty)
    #expect(try PEMBlock.blocks(in: [0xFF, 0x00, 0x0A, 0x80]).isEmpty)
  }
}
