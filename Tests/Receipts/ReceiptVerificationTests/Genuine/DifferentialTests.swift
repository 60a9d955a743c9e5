// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Against OpenSSL's own `CMS_verify`: whatever it refuses, we refuse.
@Suite(.enabled(if: GenuineReceipts.isPresent, GenuineReceipts.absence)) struct DifferentialTests {
  private static let receipts: [(file: String, der: [UInt8])] = GenuineReceipts.accepted.compactMap { entry in
    guard case .appReceipt(let receipt)? = try? UnverifiedReceipt(parsing: entry.bytes()) else { return nil }
    return (entry.file, receipt.encoded)
  }

  /// Anything goes that Apple or Xcode signed: this test is about signatures alone.
  private static let verifier = GenuineReceipts.verifier(Set(ReceiptEnvironment.Category.allCases)) {
    $0.selfSignedTesting = .pinned(certificates: [])
  }

  @Test("both accept every genuine app receipt, and read the same content")
  func genuine() throws {
    #expect(Self.receipts.count == 19)
    let root = try GenuineReceipts.certificate("AppleRootCA")
    for (file, der) in Self.receipts {
      let receipt = try #require(expectValid(Self.verifier.verify(der), "\(file)"))
      let content = try #require(CMSReference.verify(der), "\(file)")
      #expect(receipt.content == .appReceipt(try AppReceiptPayload(decoding: content[...])), "\(file)")
      let signedAt = try #require(receipt.signedAt)
      let seconds = Int64(signedAt.millisecondsSince1970 / 1000)
      #expect(CMSReference.verify(der, anchor: root, at: seconds) == content, "\(file)")
    }
  }

  @Test("both accept what Xcode signed in BER")
  func xcode() throws {
    for entry in GenuineReceipts.entries(kind: "app-receipt-xcode") {
      guard case .appReceipt(let receipt) = try UnverifiedReceipt(parsing: entry.bytes()) else { continue }
      expectValid(Self.verifier.verify(receipt.encoded), "\(entry.file)")
      #expect(CMSReference.verify(receipt.encoded) == Array(receipt.signedData.content), "\(entry.file)")
    }
  }

  @Test("of receipts with flipped bits, none is accepted here that CMS_verify refuses", arguments: 0..<19)
  func flipped(index: Int) async throws {
    guard index < Self.receipts.count else { return }
    let (file, der) = Self.receipts[index]
    expectValid(Self.verifier.verify(der), "\(file)")
    let sweep = Sweep(verifier: Self.verifier, sample: der)
    let accepted = await sweep.acceptedFlips(step: max(der.count / 200, 1))
    #expect(accepted.filter { $0.change != nil } == [], "\(file)")
    let refusedElsewhere = await Sweep.spread(over: accepted) { flip in
      var flipped = der
      flipped[flip.byte] ^= 1 << UInt8(flip.bit)
      return CMSReference.verify(flipped) == nil ? [flip] : []
    }
    #expect(refusedElsewhere == [], "\(file)")
  }

  /// A million together, where all are asked for. Neither has intermediates at hand but the embedded ones.
  @Test(
    "of receipts with random damage, both accept the same, but for what we are stricter in", arguments: 0..<19
  )
  func damaged(index: Int) throws {
    guard index < Self.receipts.count else { return }
    let (file, der) = Self.receipts[index]
    let root = try GenuineReceipts.certificate("AppleRootCA")
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [root]), policy: Self.verifier.policy)
    let genuine = verifier.verify(der).receipt
    #expect(genuine != nil)
    var random = SeededGenerator(seed: UInt64(index) + 1)
    for _ in 0..<(Sweep.isFull ? 55_000 : 400) {
      let damaged = random.damage(der)
      guard damaged != der else { continue }
      let isSigned = CMSReference.verify(damaged, anchor: root, at: nil) != nil
      let verdict = verifier.verify(damaged)
      if let receipt = verdict.receipt {
        #expect(receipt == genuine, "\(file)")
        #expect(isSigned, "\(file): accepted here alone")
      } else if isSigned {
        // Never the signature itself: only the form of what surrounds it, and the signer's name, which is
        // compared byte for byte where OpenSSL overlooks case and spaces.
        let isOtherName = verdict.reason?.message.contains("issuer and serial number") ?? false
        #expect(
          [.malformed, .unsupportedAlgorithm].contains(verdict.reason?.code)
            || verdict.reason?.code == .chainUntrusted && isOtherName,
          "\(file): \(verdict.reason?.description ?? "")")
      }
    }
  }

  // We are stricter than CMS_verify: we refuse as receipts some messages whose signatures it accepts.

  @Test("stricter: other digests than SHA-1 and SHA-256, several signers, another content type, no content")
  func stricter() throws {
    let identity = try Fixture.rsa.identity
    let content = ForgedAppReceipt.sampleContent
    let sha512 = try CMSReference.sign(
      content, certificate: identity.chain[0], key: identity.privateKey, digest: .sha512,
      certificates: Array(identity.chain.dropFirst()), signedAttributes: false)
    #expect(CMSReference.verify(sha512) == content)
    expectInvalid(try Fixture.verifier().verify(sha512), .unsupportedAlgorithm, at: "signerInfo")

    let twoSigners = try ForgedAppReceipt.changing { $0.signerInfos += $0.signerInfos }
    #expect(CMSReference.verify(twoSigners) == content)
    expectInvalid(try Fixture.verifier().verify(twoSigners), .malformed, at: "signerInfos")

    let byKey = try ForgedAppReceipt.changing {
      $0.signerInfos[0].version = 3
      $0.signerInfos[0].subjectKeyIdentifier = identity.chain[0].subjectKeyIdentifier?[...]
    }
    #expect(CMSReference.verify(byKey) == content)
    expectInvalid(try Fixture.verifier().verify(byKey), .malformed, at: "signerInfo")

    let noReceipt = try CMSReference.sign(
      Array("no receipt".utf8), certificate: identity.chain[0], key: identity.privateKey, digest: .sha256,
      certificates: Array(identity.chain.dropFirst()), signedAttributes: false)
    #expect(CMSReference.verify(noReceipt) != nil)
    #expect(try Fixture.verifier().verify(noReceipt).reason?.code == .malformed)

    let trailing = try Fixture.sample(.appReceipt) + [0]
    #expect(try Fixture.verifier().verify(trailing).reason?.code == .malformed)
  }
}
