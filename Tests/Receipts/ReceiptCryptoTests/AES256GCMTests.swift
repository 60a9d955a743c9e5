// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCrypto
import Testing

/// The composition of OpenSSL's AES-256-GCM.
@Suite struct AES256GCMTests {
  private func words(_ bytes: [UInt8]) throws -> PrefixedSHA256.Words {
    try #require(PrefixedSHA256.words(of: bytes))
  }

  private func seal(_ message: [UInt8], key: PrefixedSHA256.Words, nonce: [UInt8]) -> [UInt8] {
    var cipher = AES256GCM()
    var sealed: [UInt8] = []
    cipher.seal(message.span, key: key, nonce: nonce.span, into: &sealed)
    return sealed
  }

  private func open(_ sealed: [UInt8], key: PrefixedSHA256.Words) -> [UInt8]? {
    var cipher = AES256GCM()
    return cipher.open(sealed.span, key: key)
  }

  /// Test cases 13 to 15 of McGrew and Viega, "The Galois/Counter Mode of Operation", the specification that
  /// NIST SP 800-38D adopted.
  @Test(arguments: [
    (
      String(repeating: "00", count: 32), String(repeating: "00", count: 12), "",
      "530f8afbc74536b9a963b4f1c4cb738b"
    ),
    (
      String(repeating: "00", count: 32), String(repeating: "00", count: 12),
      String(repeating: "00", count: 16),
      "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
    ),
    (
      "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
        + "b16aedf5aa0de657ba637b391aafd255",
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
        + "c5f61e6393ba7a0abcc9f662898015adb094dac5d93471bdec1a502270e3cc6c"
    ),
  ])
  func `the vectors of the specification are reproduced`(
    key: String, nonce: String, message: String, sealed: String
  ) throws {
    let key = try words(bytes(hex: key))
    let result = seal(bytes(hex: message), key: key, nonce: bytes(hex: nonce))
    #expect(result == bytes(hex: nonce) + bytes(hex: sealed))
    #expect(open(result, key: key) == bytes(hex: message))
  }

  @Test func `nothing opens with a changed byte, another key or another length`() throws {
    let (key, nonce) = (try words(Random.bytes(32)), Random.bytes(12))
    for count in [0, 1, 15, 16, 17, 450] {
      let message = Random.bytes(count)
      let sealed = seal(message, key: key, nonce: nonce)
      #expect(sealed.count == count + AES256GCM.overhead)
      #expect(open(sealed, key: key) == message)
      for index in sealed.indices {
        var changed = sealed
        changed[index] ^= 1 << UInt8(index % 8)
        #expect(open(changed, key: key) == nil)
      }
      for end in sealed.indices { #expect(open(Array(sealed[..<end]), key: key) == nil) }
      #expect(open(sealed + [0], key: key) == nil)
      #expect(open(sealed, key: try words(Random.bytes(32))) == nil)
    }
  }

  @Test func `one value seals and opens many messages`() throws {
    var cipher = AES256GCM()
    for number in 0..<200 {
      let (key, nonce, message) = (try words(Random.bytes(32)), Random.bytes(12), Random.bytes(number))
      var sealed: [UInt8] = [7]
      cipher.seal(message.span, key: key, nonce: nonce.span, into: &sealed)
      let alone = seal(message, key: key, nonce: nonce)
      #expect(sealed == [7] + alone)
      let opened = cipher.open(alone.span, key: key)
      #expect(opened == message)
    }
  }
}
