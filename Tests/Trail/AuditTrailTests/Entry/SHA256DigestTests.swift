// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import Testing

@Suite struct SHA256DigestTests {
  @Test func itIsTheDigestOfTheStandard() {
    #expect(
      SHA256Digest(of: Array("abc".utf8)).hexadecimal
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func itsBase64IsThatOfEverybodyElse() throws {
    var bytes = [UInt8](repeating: 0, count: 32)
    for round in 0..<2000 {
      for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255) }
      if round < 256 { bytes = [UInt8](repeating: UInt8(round), count: 32) }
      let digest = try #require(SHA256Digest(bytes))
      #expect(digest.bytes == bytes)
      #expect(digest.base64 == Base64.encodeToString(bytes))
      #expect(SHA256Digest(base64: digest.base64) == digest)
      #expect(SHA256Digest(hexadecimal: digest.hexadecimal) == digest)
    }
  }

  @Test func noOtherTextIsRead() {
    let digest = SHA256Digest(of: [1])
    let text = Array(digest.base64.utf8)
    for index in text.indices {
      for value in UInt8.min..<0x80 where value != text[index] {
        var changed = text
        changed[index] = value
        let read = SHA256Digest(base64: String(decoding: changed, as: UTF8.self))
        #expect(read == nil || read?.base64 == String(decoding: changed, as: UTF8.self))
      }
    }
    #expect(SHA256Digest(base64: digest.base64 + "=") == nil)
    #expect(SHA256Digest(base64: "") == nil)
    #expect(SHA256Digest(hexadecimal: digest.hexadecimal.dropLast()) == nil)
    #expect(SHA256Digest(hexadecimal: "zz" + digest.hexadecimal.dropLast(2)) == nil)
    #expect(SHA256Digest([1]) == nil)
  }
}
