// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

@testable import ReceiptVerification

/// A chain whose last certificate is another one of the trusted root's name and key, as in the test data of Apple's own
/// libraries: the path ends at the trusted one.
@Suite struct ReissuedRootTests {
  private let root: Certificate
  private let reissued: Certificate
  private let identity: SigningIdentity
  private let options: CertificateAuthority.Options
  private let verifier: ReceiptVerifier

  init() throws {
    options = try TestAuthority.es256().authority.options
    let (rootKey, intermediateKey, leafKey) = (
      try PrivateKey.generateP256(), try PrivateKey.generateP256(), try PrivateKey.generateP256()
    )
    root = try CertificateAuthority.issue(
      options.rootTemplate, for: rootKey.publicKey, by: .itself(rootKey))
    var again = options.rootTemplate
    again.serialNumber = CertificateTemplate.randomSerialNumber()
    // Expired long ago: what the sender put there does not matter.
    again.notAfter = again.notBefore + 86_400
    reissued = try CertificateAuthority.issue(again, for: rootKey.publicKey, by: .itself(rootKey))
    let intermediate = try CertificateAuthority.issue(
      options.intermediateTemplate, for: intermediateKey.publicKey, by: .authority(root, rootKey))
    let authority = try CertificateAuthority(
      options: options,
      intermediate: SigningIdentity(privateKey: intermediateKey, chain: [intermediate, root]))
    identity = try authority.issueLeaf(key: leafKey, serialNumber: [0x07])
    verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [root]), policy: Fixture.policy(),
      clock: FixedClock(Fixture.now).reading)
  }

  private func receipt(_ chain: [Certificate]) throws -> [UInt8] {
    try Fixture.Container.jws.signed(by: SigningIdentity(uncheckedKey: identity.privateKey, chain: chain))
  }

  @Test("a root that was issued again stands for the trusted one")
  func reissue() throws {
    let chain = identity.chain
    expectValid(verifier.verify(try receipt(chain)))
    for _ in 0..<2 {
      let receipt = try #require(
        expectValid(verifier.verify(try receipt([chain[0], chain[1], reissued]))))
      #expect(receipt.signer.rootSHA256 == root.sha256FingerprintHex)
      #expect(receipt.signer.certificates.last == root)
    }
    // Both chains are remembered: the signature covers them.
    #expect(verifier.knownSigners.all.count == 2)
  }

  @Test(
    "another key under the trusted name, another name, or a chain that the trusted key did not sign, is refused"
  )
  func forgeries() throws {
    let chain = identity.chain
    let foreignKey = try PrivateKey.generateP256()
    let foreign = try CertificateAuthority.issue(
      options.rootTemplate, for: foreignKey.publicKey, by: .itself(foreignKey))
    expectInvalid(
      verifier.verify(try receipt([chain[0], chain[1], foreign])), .chainUntrusted, at: "certificate 2")
    // The name and key of the trusted root over a chain of the foreign one.
    let forged = try CertificateAuthority.issue(
      options.intermediateTemplate, for: chain[1].publicKey, by: .authority(foreign, foreignKey))
    for last in [root, reissued] {
      expectInvalid(
        verifier.verify(try receipt([chain[0], forged, last])), .chainUntrusted, at: "certificate 1")
    }
    // Only the fingerprint is pinned: there is no key to compare.
    let pinned = ReceiptVerifier(
      trust: TrustAnchors(fingerprints: [root.sha256Fingerprint]), policy: Fixture.policy(),
      clock: FixedClock(Fixture.now).reading)
    expectValid(pinned.verify(try receipt(chain)))
    expectInvalid(
      pinned.verify(try receipt([chain[0], chain[1], reissued])), .chainUntrusted, at: "certificate 2")
  }
}
