// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Two intermediates with one name and key, each valid for a time, as Apple's of 2008 and 2013. The time rule decides
/// which one counts.
@Suite struct RenewedIntermediateTests {
  private static let renewal: Int64 = 1_700_000_000
  private static let end: Int64 = 1_750_000_000

  private func intermediates(of authority: TestAuthority) throws -> (older: Certificate, newer: Certificate) {
    // The root's key is the foreign authority's: this root is not the fixed one.
    let rootKey = authority.identity.privateKey
    let root = try CertificateAuthority.issue(
      authority.authority.options.rootTemplate, for: rootKey.publicKey, by: .itself(rootKey))
    func intermediate(from notBefore: Int64, to notAfter: Int64) throws -> Certificate {
      var template = authority.authority.options.intermediateTemplate
      template.serialNumber = CertificateTemplate.randomSerialNumber()
      template.notBefore = notBefore
      template.notAfter = notAfter
      return try CertificateAuthority.issue(
        template, for: authority.intermediate.publicKey, by: .authority(root, rootKey))
    }
    return (
      try intermediate(from: 1_577_836_800, to: Self.renewal),
      try intermediate(from: Self.renewal - 1000, to: Self.end)
    )
  }

  @Test("the intermediate that was valid at signing is taken, wherever it stands")
  func transactionReceipt() throws {
    let rsa = try Fixture.rsa
    let (older, newer) = try intermediates(of: rsa)
    let root = try CertificateAuthority.issue(
      rsa.authority.options.rootTemplate, for: rsa.identity.privateKey.publicKey,
      by: .itself(rsa.identity.privateKey))
    let signer = try TransactionReceiptSigner(identity: rsa.identity)
    // The same key and name, so that the same root certificate verifies: issue both under one root.
    for order in [[older, newer], [newer, older]] {
      let verifier = ReceiptVerifier(
        trust: TrustAnchors(certificates: [root]), policy: Fixture.policy(), intermediates: order,
        clock: FixedClock(Fixture.now).reading)
      for (seconds, isValid) in [
        (Int64(1_600_000_000), true), (Self.renewal - 1001, true), (Self.renewal, true),
        (Self.renewal + 1, true), (Self.end, true), (Self.end + 1, false),
      ] {
        var purchaseInfo = SampleReceipts.purchaseInfo
        purchaseInfo.purchaseDate = Timestamp(secondsSince1970: seconds)
        purchaseInfo.originalPurchaseDate = purchaseInfo.purchaseDate
        let verdict = verifier.verify(try signer.sign(purchaseInfo, environment: .sandbox))
        if isValid {
          expectValid(verdict, "\(seconds)")
        } else {
          expectInvalid(verdict, .chainExpired, at: "certificate 1", "\(seconds)")
        }
      }
    }
  }

  @Test("an app receipt is valid under the supplied intermediate when the embedded one had expired")
  func appReceipt() throws {
    let rsa = try Fixture.rsa
    let (older, newer) = try intermediates(of: rsa)
    let root = try CertificateAuthority.issue(
      rsa.authority.options.rootTemplate, for: rsa.identity.privateKey.publicKey,
      by: .itself(rsa.identity.privateKey))
    var payload = SampleReceipts.appReceipt
    payload.receiptCreationDate = Timestamp(secondsSince1970: Self.renewal + 1)
    let receipt = try AppReceiptSigner(unchecked: rsa.identity)
      .sign(content: payload.encoded(), certificates: [rsa.identity.chain[0], older, root])
    func verdict(_ supplied: [Certificate]) -> Verdict {
      ReceiptVerifier(
        trust: TrustAnchors(certificates: [root]), policy: Fixture.policy(), intermediates: supplied,
        clock: FixedClock(Fixture.now).reading
      ).verify(receipt)
    }
    expectInvalid(verdict([]), .chainExpired, at: "certificate 1")
    expectValid(verdict([newer]))
  }

  @Test("of two roots of one name and key the one that was valid counts, in whatever order they are trusted")
  func renewedRoot() throws {
    let rsa = try Fixture.rsa
    let rootKey = rsa.identity.privateKey
    func root(to notAfter: Int64) throws -> Certificate {
      var template = rsa.authority.options.rootTemplate
      template.serialNumber = CertificateTemplate.randomSerialNumber()
      template.notAfter = notAfter
      return try CertificateAuthority.issue(template, for: rootKey.publicKey, by: .itself(rootKey))
    }
    let expired = try root(to: Int64(SampleReceipts.signedAt.millisecondsSince1970) / 1000 - 1)
    let current = try root(to: 1_900_000_000)
    let intermediate = try CertificateAuthority.issue(
      rsa.authority.options.intermediateTemplate, for: rsa.intermediate.publicKey,
      by: .authority(current, rootKey))
    let receipt = try AppReceiptSigner(unchecked: rsa.identity)
      .sign(
        content: SampleReceipts.appReceipt.encoded(), certificates: [rsa.identity.chain[0], intermediate])
    for roots in [[expired, current], [current, expired]] {
      let verifier = ReceiptVerifier(
        trust: TrustAnchors(certificates: roots), policy: Fixture.policy(),
        clock: FixedClock(Fixture.now).reading)
      for _ in 0..<2 {
        let verified = expectValid(verifier.verify(receipt))
        #expect(verified?.signer.rootSHA256 == current.sha256FingerprintHex)
      }
    }
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [expired]), policy: Fixture.policy(),
      clock: FixedClock(Fixture.now).reading)
    expectInvalid(verifier.verify(receipt), .chainExpired, at: "certificate 2")
  }

  @Test("one forged intermediate of the right name beside the genuine one does no harm, first or last")
  func forgedCandidate() throws {
    let rsa = try Fixture.rsa
    let forgerKey = try PrivateKey.generateRSA()
    let forged = try CertificateAuthority.issue(
      rsa.authority.options.intermediateTemplate, for: forgerKey.publicKey,
      by: .itself(forgerKey))
    let chain = rsa.identity.chain
    for certificates in [[chain[0], forged] + chain[1...], chain + [forged]] {
      let receipt = try AppReceiptSigner(unchecked: rsa.identity)
        .sign(content: ForgedAppReceipt.sampleContent, certificates: certificates)
      expectValid(try Fixture.verifier().verify(receipt))
    }
  }
}
