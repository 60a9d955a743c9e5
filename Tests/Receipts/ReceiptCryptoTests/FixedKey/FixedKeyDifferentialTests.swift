// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing

/// One signature at a time, many together, and OpenSSL's high-level call: all of one opinion.
@Suite(.enabled(if: FixedKeyVerifier.isAvailable, "this libcrypto makes no tables"))
struct FixedKeyDifferentialTests {
  /// Of 20,000 signatures, or of a million where the environment variable RECEIPTKIT_FULL_SWEEPS is set.
  @Test(arguments: 0..<4)
  func `all paths agree about random signatures, good and bad`(share: Int) throws {
    var generator = SystemRandomNumberGenerator()
    let key = try PrivateKey.generateP256()
    let verifier = try #require(FixedKeyVerifier(key.publicKey))
    var left = (FullSweeps.areWanted ? 1_000_000 : 20_000) / 4
    var disagreements: [FixedKeySample] = []
    var misjudged: [FixedKeySample] = []
    while left > 0 {
      let changes = (0..<Int.random(in: 1...min(left, 130), using: &generator)).map { _ in
        FixedKeySample.Change.allCases.randomElement(using: &generator) ?? .nothing
      }
      left -= changes.count
      let samples = try changes.map {
        try FixedKeySample(signedBy: key, changed: $0, using: &generator)
      }
      let together = try verifier.validities(samples)
      try #require(together.count == samples.count)
      for (index, sample) in samples.enumerated() {
        let reference = SignatureReference.isValidSignature(
          sample.derSignature, for: sample.message, digest: .sha256, key: key.publicKey)
        if try verifier.isValid(sample) != reference || together[index] != reference {
          disagreements.append(sample)
        }
        let isGood = changes[index] == .nothing || changes[index] == .negatedS
        if reference != isGood { misjudged.append(sample) }
      }
    }
    #expect(disagreements.isEmpty)
    #expect(misjudged.isEmpty)
  }

  @Test func `constructed signatures have the expected results`() throws {
    for sample in try ConstructedSignature.all() {
      let verifier = try #require(FixedKeyVerifier(sample.key))
      let single = try verifier.isValid(sample.signature, forDigest: sample.digest)
      #expect(single == sample.isValid, "\(sample.testDescription)")
      let ordinary = try sample.key.isValidSignature(
        sample.signature.span, forDigest: sample.digest.span, using: .ecdsaP256SHA256)
      #expect(ordinary == sample.isValid, "\(sample.testDescription)")

      // The sample in a batch, between signatures that are out of range and signatures that are known only to be in
      // range.
      let zero = [UInt8](repeating: 0, count: 64)
      let ones = [UInt8](repeating: 1, count: 64)
      let signatures = [zero, ones, sample.signature, ones, zero].flatMap { $0 }
      let digests = (0..<5).flatMap { _ in sample.digest }
      let together = try verifier.validities(signatures: signatures, digests: digests, count: 5)
      #expect(together == [false, false, sample.isValid, false, false], "\(sample.testDescription)")
    }
  }
}
