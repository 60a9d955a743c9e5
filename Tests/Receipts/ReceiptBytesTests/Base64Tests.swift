// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@Suite("Base64")
struct Base64Tests {
  /// RFC 4648, section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `Vectors of RFC 4648 encode and decode`(plain: String, text: String) throws {
    #expect(Base64.encodeToString(Array(plain.utf8)) == text)
    #expect(try Base64.decode(Array(text.utf8)) == Array(plain.utf8))
    let unpadded = String(text.prefix { $0 != "=" })
    #expect(Base64URL.encodeToString(Array(plain.utf8)) == unpadded)
    #expect(try Base64URL.decode(Array(unpadded.utf8)) == Array(plain.utf8))
  }

  @Test func `Every length and every byte value round-trips in both alphabets`() throws {
    for count in 0...260 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
      #expect(try Base64.decode(Base64.encode(bytes)) == bytes)
      #expect(try Base64URL.decode(Base64URL.encode(bytes)) == bytes)
    }
  }

  @Test func `The alphabets differ in two symbols`() throws {
    #expect(Base64.encodeToString([0xFB, 0xEF, 0xFF]) == "++//")
    #expect(Base64URL.encodeToString([0xFB, 0xEF, 0xFF]) == "--__")
    expectFailure(at: 0) { () throws(Base64Error) in try Base64.decode(Array("--__".utf8)) }
    expectFailure(at: 0) { () throws(Base64Error) in try Base64URL.decode(Array("++//".utf8)) }
  }

  @Test func `A byte outside the alphabet is refused at each position`() throws {
    let text = Base64URL.encode((0..<16).map { UInt8($0 &* 13) })
    let symbols = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    for index in text.indices {
      for byte in UInt8.min...UInt8.max where !symbols.contains(byte) {
        var changed = text
        changed[index] = byte
        expectFailure(at: index) { () throws(Base64Error) in try Base64URL.decode(changed) }
      }
    }
  }

  @Test(arguments: [
    ("A", 1), ("AA", 2), ("AAA", 3), ("AA=", 3), ("A===", 1), ("=", 0), ("AAAA=", 4), ("AA==A", 4),
    ("AAA==", 4), ("AA===", 4), ("AAAAA", 5), ("AA=A", 3), ("Zg=\n=", 3), (" Zg==", 0),
  ])
  func `Padding is required, and exact`(text: String, offset: Int) {
    expectFailure(at: offset) { () throws(Base64Error) in try Base64.decode(Array(text.utf8)) }
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z", "=", "====", "Zm9v=", "Z*9v", "Zm=v", "Zm9v-_",
  ])
  func `Every byte string has one encoding`(text: String) {
    #expect(throws: Base64Error.self) { () throws(Base64Error) in try Base64.decode(Array(text.utf8)[...]) }
  }

  @Test(arguments: [("Zg", 1), ("Zm8", 2)])
  func `Surplus bits in the last symbol are refused`(text: String, last: Int) throws {
    var respelled = Array(text.utf8)
    respelled[last] += 1
    expectFailure(at: last) { () throws(Base64Error) in try Base64URL.decode(respelled) }
    let padded = respelled + Array("==".utf8).prefix(4 - respelled.count)
    expectFailure(at: last) { () throws(Base64Error) in try Base64.decode(padded) }
  }

  @Test(arguments: ["A", "AAAAA", "Zg==", "Zm9v\n", "Zm 9v", "Zm8="])
  func `Base64url takes neither padding, white space nor a lone symbol`(text: String) {
    #expect(throws: Base64Error.self) { () throws(Base64Error) in
      try Base64URL.decode(Array(text.utf8))
    }
  }

  @Test(arguments: [" Zm9v\r\nYmE=\t", "Z\nm9vYmE=", "Zm9vYmE\n=\n", "\n\n\nZm9vYmE="])
  func `White space is skipped only on request`(text: String) throws {
    #expect(try Base64.decode(Array(text.utf8), allowingWhitespace: true) == Array("fooba".utf8))
    #expect(throws: Base64Error.self) { () throws(Base64Error) in
      try Base64.decode(Array(text.utf8))
    }
  }

  private func expectFailure(
    at offset: Int, _ body: () throws(Base64Error) -> [UInt8],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    do throws(Base64Error) {
      _ = try body()
      Issue.record("accepted", sourceLocation: sourceLocation)
    } catch {
      #expect(error.offset == offset, sourceLocation: sourceLocation)
    }
  }
}
