// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCodec
import ReceiptBytes
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Of an app receipt's container some bytes are neither signed nor reported. Flips in these are accepted, and
/// change nothing; flips anywhere else are not.
@Suite struct AppReceiptSweepTests {
  /// The ranges in which flips may be accepted.
  private struct Unsigned {
    var ranges: [(name: String, range: Range<Int>)] = []

    /// Finds the version of the SignedData: versions 3, 4 and 5 are read as well as 1. If the verifier has the root at
    /// hand, it also finds the embedded root: an altered copy of it does no harm.
    init(_ receipt: [UInt8], rootAtHand: Bool) throws {
      let signedData = try UnverifiedAppReceipt(parsing: receipt).signedData
      let version = try #require(receipt.firstRange(of: [0x02, 0x01, 0x01, 0x31]))
      ranges.append(("version", version.lowerBound + 2..<version.lowerBound + 3))
      if rootAtHand, let root = signedData.certificates.last {
        let start = try #require(receipt.firstRange(of: root))
        ranges.append(("root", start.lowerBound..<start.upperBound))
      }
    }

    func name(of byte: Int) -> String? { ranges.first { $0.range.contains(byte) }?.name }
  }

  private func expectOnlyUnsigned(_ sample: [UInt8], verifier: ReceiptVerifier, rootAtHand: Bool) async throws
  {
    let sweep = Sweep(verifier: verifier, sample: sample)
    expectValid(verifier.verify(sample))
    let unsigned = try Unsigned(sample, rootAtHand: rootAtHand)
    let flips = await sweep.acceptedFlips()
    #expect(flips.filter { $0.change != nil || unsigned.name(of: $0.byte) == nil } == [])
    #expect(await sweep.acceptedTruncations() == [])
  }

  /// Trusts the root, and has no intermediate but the embedded one.
  private func verifier(_ trust: TrustAnchors? = nil) throws -> ReceiptVerifier {
    ReceiptVerifier(
      trust: try trust ?? Fixture.rsa.trustAnchors, policy: Fixture.policy(),
      clock: FixedClock(Fixture.now).reading)
  }

  @Test("no truncation is accepted, and flipped bits only where nothing is signed or reported: DER")
  func der() async throws {
    try await expectOnlyUnsigned(
      try Fixture.sample(.appReceipt), verifier: try verifier(), rootAtHand: true)
  }

  @Test("no truncation is accepted, and flipped bits only where nothing is signed or reported: BER")
  func ber() async throws {
    let sample = try IndefiniteLengths.encoding(try Fixture.sample(.appReceipt))
    #expect(sample.count(where: { $0 == 0x80 }) > 8)
    try await expectOnlyUnsigned(sample, verifier: try verifier(), rootAtHand: true)
  }

  @Test("where only the root's fingerprint is known, no bit of it may be flipped")
  func fingerprintOnly() async throws {
    let trust = TrustAnchors(fingerprints: [try Fixture.rsa.root.sha256Fingerprint])
    try await expectOnlyUnsigned(
      try Fixture.sample(.appReceipt), verifier: try verifier(trust), rootAtHand: false)
  }

  @Test("no flipped bit of signed attributes is accepted")
  func signedAttributes() async throws {
    let sample = try ForgedAppReceipt.withSignedAttributes()
    // CMS_sign announces the digest with an absent parameter and sorts certificates as a set.
    let verifier = try verifier()
    expectValid(verifier.verify(sample))
    let parsed = try UnverifiedAppReceipt(parsing: sample).signedData
    let attributes = try #require(parsed.signerInfos.first?.signedAttributes?.encoded.dropFirst())
    let start = try #require(sample.firstRange(of: Array(attributes))).lowerBound - 1
    let sweep = Sweep(verifier: verifier, sample: sample)
    #expect(await sweep.acceptedFlips(start..<sample.count) == [])
  }

  @Test("of base64 around a receipt nothing but white space may change")
  func base64() async throws {
    let receipt = try Fixture.sample(.appReceipt)
    let text = Base64.encode(receipt) + [UInt8(ascii: "\n")]
    let verifier = try verifier()
    expectValid(verifier.verify(text))
    let sweep = Sweep(verifier: verifier, sample: text)
    let unsigned = try Unsigned(receipt, rootAtHand: true)
    let wrong = await sweep.acceptedFlips().filter { flip in
      guard flip.byte < text.count - 1 else { return false }
      // The characters that hold the unsigned bytes; padding may become white space, and is then missing.
      let start = flip.byte / 4 * 3
      let isUnsigned = (start..<start + 3).contains { unsigned.name(of: $0) != nil }
      let isPadding = text[flip.byte] == UInt8(ascii: "=")
      return flip.change != nil || !isUnsigned && !isPadding
    }
    #expect(wrong == [])
    let truncations = await sweep.acceptedTruncations()
    #expect(
      truncations.allSatisfy { length in
        text[length...].allSatisfy { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "\n") }
      })
  }
}
