// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

@Suite struct DigestTests {
  @Test(arguments: [
    (DigestAlgorithm.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      .sha384,
      """
      cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7
      """
    ),
    (
      .sha512,
      """
      ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
      2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
      """
    ),
  ])
  func `"abc" hashes as in FIPS 180-4`(algorithm: DigestAlgorithm, expected: String) {
    let digest = Digest.hash(Array("abc".utf8), using: algorithm)
    #expect(digest == bytes(hex: expected))
    #expect(digest.count == algorithm.byteCount)
  }

  @Test(arguments: DigestAlgorithm.allCases)
  func `incremental digests are the same`(algorithm: DigestAlgorithm) {
    let message = Random.bytes(1000)
    for cut in [0, 1, 63, 64, 65, 500, 1000] {
      var digest = IncrementalDigest(algorithm)
      digest.update(Array(message[..<cut]))
      let rest = Array(message[cut...])
      digest.update(rest.span)
      #expect(digest.finalize() == Digest.hash(message, using: algorithm))
    }
    #expect(IncrementalDigest(algorithm).finalize() == Digest.hash([], using: algorithm))
  }

  @Test func `random bytes have the requested length, and differ`() {
    #expect(Random.bytes(0).isEmpty)
    #expect(Random.bytes(-1).isEmpty)
    #expect(Random.bytes(32).count == 32)
    #expect(Random.bytes(32) != Random.bytes(32))
  }

  @Test func `constant-time comparison compares`() {
    #expect(ConstantTime.equals([], []))
    #expect(ConstantTime.equals([1, 2], [1, 2]))
    #expect(!ConstantTime.equals([1, 2], [1, 3]))
    #expect(!ConstantTime.equals([1, 2], [1]))
    #expect(!ConstantTime.equals([], [0]))
  }
}
