// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct PrefixedSHA256Tests {
  @Test("the padding of short messages and the buffering of long ones give the digest of all bytes")
  func everyLengthAroundTheBlocks() {
    let all = (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
    for prefixCount in [0, 1, 17, 32, 55, 56, 63, 64, 65, 119, 120, 128] {
      for count in Array(0...140) + [191, 192, 193, 255, 256, 257] {
        let (prefix, message) = (Array(all[..<prefixCount]), Array(all[prefixCount..<prefixCount + count]))
        let words = PrefixedSHA256.hash(prefix: prefix.span, message.span)
        let expected = Digest.hash(prefix + message, using: .sha256)
        let digest = unsafe withUnsafeBytes(of: words) { unsafe Array($0) }
        #expect(digest == expected, "\(prefixCount) bytes, then \(count)")
      }
    }
  }

  @Test func aPrefixOfOneByteIsHashedInFront() throws {
    let left = try #require(PrefixedSHA256.words(of: (0..<32).map { UInt8($0) }))
    let right = try #require(PrefixedSHA256.words(of: (32..<64).map { UInt8($0) }))
    let words = PrefixedSHA256.hash(prefix: 1, left, right)
    let expected = Digest.hash([1] + (0..<64).map { UInt8($0) }, using: .sha256)
    #expect(unsafe withUnsafeBytes(of: words) { unsafe Array($0) } == expected)
  }
}
