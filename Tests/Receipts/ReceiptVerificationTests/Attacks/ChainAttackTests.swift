// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Attacks 1 and 2 of the list in the documentation: roots that only look trusted, and certificates that are
/// not for receipts.
@Suite struct ChainAttackTests {
  typealias Flaw = TestAuthority.Flaw

  private func verdict(on container: Fixture.Container, with flaw: Flaw) throws -> Verdict {
    let identity = try container.authority.identity(flaw)
    // Transaction receipts embed their leaf alone: the attacker's issuers are among the caller's.
    let verifier = ReceiptVerifier(
      trust: try container.authority.trustAnchors, policy: Fixture.policy(),
      intermediates: container == .transactionReceipt ? Array(identity.chain.dropFirst()) : [],
      clock: FixedClock(Fixture.now).reading)
    return verifier.verify(try container.signed(by: identity))
  }

  @Test(
    "a JWS under a flawed chain is refused, with code and place",
    arguments: [
      (Flaw.leafWithoutMarker, ReasonCode.certificatePurpose, "certificate 0"),
      (.intermediateWithoutMarker, .certificatePurpose, "certificate 1"),
      (.intermediateNotAuthority, .certificatePurpose, "certificate 1"),
      (.leafIsAuthority, .certificatePurpose, "certificate 0"),
      (.leafKeyUsage, .certificatePurpose, "certificate 0"),
      (.expired, .chainExpired, "certificate 0"),
      (.chainOfTwo, .chainLength, "$.x5c of the JWS header"),
      (.chainOfFour, .chainLength, "$.x5c of the JWS header"),
      (.foreignRoot, .chainUntrusted, "certificate 2"),
      (.forgedUnderGenuineRoot, .chainUntrusted, "certificate 1"),
    ])
  func jws(flaw: Flaw, code: ReasonCode, place: String) throws {
    expectInvalid(try verdict(on: .jws, with: flaw), code, at: place, "\(flaw)")
  }

  @Test(
    "app receipts and transaction receipts under a flawed chain are refused, with code and place",
    arguments: [Fixture.Container.appReceipt, .transactionReceipt],
    [
      (Flaw.leafWithoutMarker, ReasonCode.certificatePurpose, "certificate 0"),
      (.intermediateWithoutMarker, .certificatePurpose, "certificate 1"),
      (.intermediateNotAuthority, .certificatePurpose, "certificate 1"),
      (.leafIsAuthority, .certificatePurpose, "certificate 0"),
      (.leafKeyUsage, .certificatePurpose, "certificate 0"),
      (.expired, .chainExpired, "certificate 0"),
      (.chainOfTwo, .chainLength, "certificate 0"),
      (.chainOfFour, .chainLength, "certificate 1"),
      (.foreignRoot, .chainUntrusted, "certificate 1"),
      (.forgedUnderGenuineRoot, .chainUntrusted, "certificate 1"),
    ])
  func binary(container: Fixture.Container, expected: (Flaw, ReasonCode, String)) throws {
    let (flaw, code, place) = expected
    expectInvalid(try verdict(on: container, with: flaw), code, at: place, "\(flaw) \(container)")
  }

  @Test("every flaw of the test authority is in these tables")
  func flawsAreComplete() { #expect(Flaw.allCases.count == 10) }

  @Test("a forged leaf under a self-made authority, with the genuine root behind it, is refused")
  func rootByPresence() throws {
    let es256 = try Fixture.es256
    let options = CertificateAuthority.Options(organization: "Forger", start: TestAuthority.validFrom)
    let forger = try CertificateAuthority.create(options)
    let leaf = try forger.issueLeaf()
    let identity = SigningIdentity(
      uncheckedKey: leaf.privateKey, chain: [leaf.chain[0], forger.root, es256.root])
    let receipt = try Fixture.Container.jws.signed(by: identity)
    expectInvalid(try Fixture.verifier().verify(receipt), .chainUntrusted, at: "certificate 0")
  }

  @Test("a leaf that names a genuine issuer whose key did not sign it is refused")
  func issuerByName() throws {
    for container in Fixture.Container.allCases {
      let authority = try container.authority
      let key = authority.identity.privateKey
      let template = authority.authority.options.leafTemplate
      // The issuer's name, and another issuer's key.
      let impostor = try authority.identity(.foreignRoot)
      let other = try CertificateAuthority.create(
        authority.authority.options, rootKey: key, intermediateKey: key)
      let leaf = try CertificateAuthority.issue(
        template, for: key.publicKey, by: .authority(other.intermediate.chain[0], key))
      let chain = [leaf, authority.intermediate, authority.root]
      let receipt = try container.signed(by: SigningIdentity(uncheckedKey: key, chain: chain))
      let verifier = try Fixture.verifier()
      expectInvalid(verifier.verify(receipt), .chainUntrusted, at: "certificate 0", "\(container)")
      #expect(impostor.chain.count == 3)
    }
  }

  @Test("a path longer than the intermediate or root allows is refused")
  func pathLength() throws {
    for container in Fixture.Container.allCases {
      let authority = try container.authority
      let rootKey = try authority.authority.options.algorithm.generateKey()
      var root = authority.authority.options.rootTemplate
      root.basicConstraints = .certificateAuthority(pathLength: 0)
      let rootCertificate = try CertificateAuthority.issue(root, for: rootKey.publicKey, by: .itself(rootKey))
      let made = try CertificateAuthority.create(
        authority.authority.options, root: rootCertificate, rootKey: rootKey,
        intermediateKey: authority.authority.intermediate.privateKey)
      let identity = try made.issueLeaf(key: authority.identity.privateKey)
      let verifier = ReceiptVerifier(
        trust: TrustAnchors(certificates: [rootCertificate]), policy: Fixture.policy(),
        intermediates: [identity.chain[1]], clock: FixedClock(Fixture.now).reading)
      expectInvalid(
        verifier.verify(try container.signed(by: identity)), .certificatePurpose, at: "certificate 2",
        "\(container)")
    }
  }

  @Test("an intermediate whose key usage does not allow issuing is refused")
  func intermediateKeyUsage() throws {
    let es256 = try Fixture.es256
    let rootKey = try PrivateKey.generateP256()
    let options = es256.authority.options
    let root = try CertificateAuthority.issue(
      options.rootTemplate, for: rootKey.publicKey, by: .itself(rootKey))
    var template = options.intermediateTemplate
    template.keyUsage = .digitalSignature
    let key = es256.identity.privateKey
    let intermediate = try CertificateAuthority.issue(
      template, for: key.publicKey, by: .authority(root, rootKey))
    let leaf = try CertificateAuthority.issue(
      options.leafTemplate, for: key.publicKey, by: .authority(intermediate, key))
    let identity = SigningIdentity(uncheckedKey: key, chain: [leaf, intermediate, root])
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [root]), policy: Fixture.policy(),
      clock: FixedClock(Fixture.now).reading)
    expectInvalid(
      verifier.verify(try Fixture.Container.jws.signed(by: identity)), .certificatePurpose,
      at: "certificate 1")
  }

  @Test("a JWS whose x5c ends with a trusted root that did not issue its intermediate is refused")
  func otherTrustedRoot() throws {
    let es256 = try Fixture.es256
    let other = try CertificateAuthority.create(
      CertificateAuthority.Options(organization: "Other", start: TestAuthority.validFrom))
    let chain = [es256.identity.chain[0], es256.intermediate, other.root]
    let receipt = try Fixture.Container.jws.signed(
      by: SigningIdentity(uncheckedKey: es256.identity.privateKey, chain: chain))
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [es256.root, other.root]), policy: Fixture.policy(),
      clock: FixedClock(Fixture.now).reading)
    expectInvalid(verifier.verify(receipt), .chainUntrusted, at: "certificate 1")
  }

  @Test("a JWS whose leaf was not issued by the next certificate is refused")
  func brokenX5C() throws {
    // The leaf's issuer bears the trusted root's organization, so that it sounds like one of ours.
    let es256 = try Fixture.es256
    let upper = try es256.identity(.chainOfFour)
    let chain = [es256.identity.chain[0], upper.chain[2], es256.root]
    let receipt = try Fixture.Container.jws.signed(
      by: SigningIdentity(uncheckedKey: es256.identity.privateKey, chain: chain))
    expectInvalid(try Fixture.verifier().verify(receipt), .chainUntrusted, at: "certificate 0")
    // Nor does it help that the verifier has the leaf's issuer: x5c alone counts.
    let verifier = ReceiptVerifier(
      trust: es256.trustAnchors, policy: Fixture.policy(), intermediates: [es256.intermediate],
      clock: FixedClock(Fixture.now).reading)
    expectInvalid(verifier.verify(receipt), .chainUntrusted, at: "certificate 0")
  }

  @Test("certificates in another order than leaf, intermediate, root are refused in x5c")
  func orderInX5C() throws {
    let identity = try Fixture.es256.identity
    let swapped = SigningIdentity(
      uncheckedKey: identity.privateKey,
      chain: [identity.chain[1], identity.chain[0], identity.chain[2]])
    let receipt = try Fixture.Container.jws.signed(by: swapped)
    expectInvalid(try Fixture.verifier().verify(receipt), .chainLength, at: "certificate 0")
  }
}
