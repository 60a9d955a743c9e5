// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCodec
import ReceiptBytes
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Attacks 7, 8 and 9 on the PKCS#7 container.
@Suite struct ContainerAttackTests {
  private static let contentType = "1.2.840.113549.1.9.3"
  private static let messageDigest = "1.2.840.113549.1.9.4"
  private static let data = "1.2.840.113549.1.7.1"

  private func verdict(_ receipt: [UInt8]) throws -> Verdict { try Fixture.verifier().verify(receipt) }

  private var contentTypeAttribute: [UInt8] {
    ForgedAppReceipt.attribute(Self.contentType, value: ForgedAppReceipt.objectIdentifier(Self.data))
  }

  private func digestAttribute(of content: [UInt8]) -> [UInt8] {
    let digest = Digest.hash(content, using: .sha256)
    return ForgedAppReceipt.attribute(Self.messageDigest, value: ForgedAppReceipt.octetString(digest))
  }

  // MARK: Attack 7, signed attributes

  @Test("a receipt with right signed attributes is valid")
  func signedAttributes() throws {
    expectValid(try verdict(try ForgedAppReceipt.withSignedAttributes()))
    let content = ForgedAppReceipt.sampleContent
    expectValid(
      try verdict(
        try ForgedAppReceipt.signing(attributes: [contentTypeAttribute, digestAttribute(of: content)])))
  }

  @Test("content replaced under signed attributes is refused")
  func replacedContent() throws {
    var payload = SampleReceipts.appReceipt
    payload.applicationVersion = "9.9"
    var signedData = try UnverifiedAppReceipt(parsing: try ForgedAppReceipt.withSignedAttributes()).signedData
    signedData.content = payload.encoded()[...]
    expectInvalid(try verdict(signedData.encoded()), .signatureMismatch, at: "signedAttrs")
  }

  @Test("signed attributes without content type or message digest are refused")
  func missingAttributes() throws {
    let digest = digestAttribute(of: ForgedAppReceipt.sampleContent)
    let other = ForgedAppReceipt.attribute(
      Self.contentType, value: ForgedAppReceipt.objectIdentifier("1.2.840.113549.1.7.2"))
    for attributes in [[digest], [contentTypeAttribute], [other, digest]] {
      expectInvalid(
        try verdict(try ForgedAppReceipt.signing(attributes: attributes)), .malformed, at: "signedAttrs")
    }
  }

  @Test("the signature over signed attributes does not count for the attributes as content")
  func attributesAsContent() throws {
    let attributes = [contentTypeAttribute, digestAttribute(of: ForgedAppReceipt.sampleContent)]
    let signed = try UnverifiedAppReceipt(parsing: try ForgedAppReceipt.signing(attributes: attributes))
    let signer = try #require(signed.signedData.signerInfos.first)
    let set = try #require(signer.signedAttributes?.encoded)
    let receipt = try ForgedAppReceipt.container(
      content: set, signedAttributes: nil, signature: Array(signer.signature))
    // The signature matches these bytes; they are no receipt's payload.
    let verdict = try verdict(receipt)
    guard case .invalid(let invalid) = verdict else {
      Issue.record("\(verdict.summary)")
      return
    }
    #expect(invalid.reason.code == .malformed)
    #expect(invalid.reason.place.hasSuffix("of the app receipt payload"))
  }

  @Test("the signature over content does not count for that content as signed attributes")
  func contentAsAttributes() throws {
    let content = ForgedAppReceipt.sampleContent
    let identity = try Fixture.rsa.identity
    let signature = try identity.privateKey.signature(for: content, using: .rsaPKCS1v15(.sha256))
    var payload = SampleReceipts.appReceipt
    payload.applicationVersion = "9.9"
    let receipt = try ForgedAppReceipt.container(
      content: payload.encoded(), signedAttributes: content, signature: signature)
    let verdict = try verdict(receipt)
    #expect(verdict.reason?.code == .malformed, "\(verdict.summary)")
  }

  @Test("a signature over the content does not count where signed attributes are present")
  func attributesAdded() throws {
    let content = ForgedAppReceipt.sampleContent
    let identity = try Fixture.rsa.identity
    let signature = try identity.privateKey.signature(for: content, using: .rsaPKCS1v15(.sha256))
    var set = ASN1Writer()
    set.writeSet(of: [contentTypeAttribute, digestAttribute(of: content)])
    let receipt = try ForgedAppReceipt.container(
      content: content, signedAttributes: set.bytes, signature: signature)
    expectInvalid(try verdict(receipt), .signatureMismatch, at: "signerInfo")
  }

  // MARK: Attack 8, signers

  @Test("two signerInfos are refused, even when both are right")
  func twoSigners() throws {
    let receipt = try ForgedAppReceipt.changing { $0.signerInfos += $0.signerInfos }
    expectInvalid(try verdict(receipt), .malformed, at: "signerInfos")
  }

  @Test("a signer named by issuer and serial number of no embedded certificate is refused")
  func unknownSigner() throws {
    let receipt = try ForgedAppReceipt.changing { $0.signerInfos[0].serialNumber = [0x55][...] }
    expectInvalid(try verdict(receipt), .chainUntrusted, at: "signerInfo")
    let intermediate = try Fixture.rsa.intermediate
    let other = try ForgedAppReceipt.changing {
      $0.signerInfos[0].issuer = intermediate.issuerDER[...]
    }
    expectInvalid(try verdict(other), .chainUntrusted, at: "signerInfo")
  }

  @Test("serial numbers that differ by a leading zero are different numbers")
  func serialNumberSign() throws {
    let rsa = try Fixture.rsa
    var template = rsa.authority.options.leafTemplate
    template.serialNumber = [0xC0, 0x01]
    let identity = try rsa.authority.issueLeaf(template, key: rsa.identity.privateKey)
    #expect(identity.chain[0].serialNumber == [0x00, 0xC0, 0x01])
    let receipt = try AppReceiptSigner(unchecked: identity).sign(SampleReceipts.appReceipt)
    expectValid(try verdict(receipt))
    var signedData = try UnverifiedAppReceipt(parsing: receipt).signedData
    signedData.signerInfos[0].serialNumber = [0xC0, 0x01][...]
    expectInvalid(try verdict(signedData.encoded()), .chainUntrusted, at: "signerInfo")
  }

  @Test("a signer named by key identifier is refused")
  func subjectKeyIdentifier() throws {
    let leaf = try Fixture.rsa.identity.chain[0]
    let receipt = try ForgedAppReceipt.changing {
      $0.version = 3
      $0.signerInfos[0].version = 3
      $0.signerInfos[0].issuer = []
      $0.signerInfos[0].serialNumber = []
      $0.signerInfos[0].subjectKeyIdentifier = leaf.subjectKeyIdentifier?[...]
    }
    expectInvalid(try verdict(receipt), .malformed, at: "signerInfo")
  }

  @Test("two certificates with the signer's issuer and serial number are refused")
  func ambiguousSigner() throws {
    let rsa = try Fixture.rsa
    // Issued by the genuine intermediate with the same serial number, for the forger's key.
    let forger = try PrivateKey.generateRSA()
    var template = rsa.authority.options.leafTemplate
    template.serialNumber = rsa.identity.chain[0].serialNumber
    let twin = try rsa.authority.issueLeaf(template, key: forger).chain[0]
    for order in [[twin] + rsa.identity.chain, rsa.identity.chain + [twin]] {
      let receipt = try AppReceiptSigner(unchecked: rsa.identity)
        .sign(content: ForgedAppReceipt.sampleContent, certificates: order)
      expectInvalid(try verdict(receipt), .chainUntrusted, at: "signerInfo")
    }
  }

  @Test("the order of the embedded certificates does not matter")
  func certificateOrder() throws {
    let identity = try Fixture.rsa.identity
    let chain = identity.chain
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let receipt = try AppReceiptSigner(unchecked: identity)
        .sign(content: ForgedAppReceipt.sampleContent, certificates: order.map { chain[$0] })
      expectValid(try verdict(receipt), "\(order)")
    }
  }

  @Test("certificates that are not embedded are taken from the caller")
  func embeddedOrSupplied() throws {
    let identity = try Fixture.rsa.identity
    let receipt = try AppReceiptSigner(unchecked: identity)
      .sign(content: ForgedAppReceipt.sampleContent, certificates: [identity.chain[0]])
    expectValid(try verdict(receipt))
    let without = ReceiptVerifier(
      trust: try Fixture.rsa.trustAnchors, policy: Fixture.policy(), clock: FixedClock(Fixture.now).reading)
    expectUndetermined(without.verify(receipt), .issuerMissing, at: "certificate 0")
  }

  @Test("more embedded certificates than any receipt has are not looked at")
  func manyCertificates() throws {
    let receipt = try ForgedAppReceipt.changing { signedData in
      let first = signedData.certificates[0]
      signedData.certificates += [ArraySlice<UInt8>](repeating: first, count: 20)
    }
    expectInvalid(try verdict(receipt), .chainLength)
  }

  // MARK: Attack 9 and 3, algorithms and duplicates

  @Test(
    "digests other than SHA-1 and SHA-256 are refused",
    arguments: ["1.2.840.113549.2.5", "2.16.840.1.101.3.4.2.2", "2.16.840.1.101.3.4.2.3"])
  func otherDigest(oid: String) throws {
    let receipt = try ForgedAppReceipt.changing {
      $0.digestAlgorithms = [oid]
      $0.signerInfos[0].digestAlgorithm = oid
    }
    expectInvalid(try verdict(receipt), .unsupportedAlgorithm, at: "signerInfo")
  }

  @Test("a signature algorithm that does not go with the digest is refused")
  func mixedAlgorithms() throws {
    for algorithm in [
      ObjectIdentifiers.sha1WithRSAEncryption, "1.2.840.113549.1.1.10", "1.2.840.10045.4.3.2",
    ] {
      let receipt = try ForgedAppReceipt.changing { $0.signerInfos[0].signatureAlgorithm = algorithm }
      expectInvalid(try verdict(receipt), .unsupportedAlgorithm, at: "signerInfo")
    }
  }

  @Test("a digest algorithm that the container does not list is refused")
  func unannouncedDigest() throws {
    let receipt = try ForgedAppReceipt.changing { $0.digestAlgorithms = [ObjectIdentifiers.sha1] }
    expectInvalid(try verdict(receipt), .malformed, at: "digestAlgorithms")
  }

  @Test("a receipt relabelled from SHA-256 to SHA-1 does not verify")
  func relabelledDigest() throws {
    let receipt = try ForgedAppReceipt.changing {
      $0.digestAlgorithms = [ObjectIdentifiers.sha1]
      $0.signerInfos[0].digestAlgorithm = ObjectIdentifiers.sha1
    }
    expectInvalid(try verdict(receipt), .signatureMismatch, at: "signerInfo")
  }

  @Test("a signed payload with an attribute twice is refused, though its signature is right")
  func duplicateAttribute() throws {
    var payload = SampleReceipts.appReceipt
    payload.additionalAttributes = [
      AppReceiptAttribute(type: 3, value: [0x0C, 0x01, 0x39][...])
    ]
    let receipt = try AppReceiptSigner(unchecked: try Fixture.rsa.identity).sign(payload)
    expectInvalid(try verdict(receipt), .malformed, at: "attribute 3")
  }

  @Test("a signed payload inside one more octet string is refused")
  func wrappedPayload() throws {
    let receipt = try AppReceiptSigner(unchecked: try Fixture.rsa.identity)
      .sign(content: ForgedAppReceipt.octetString(ForgedAppReceipt.sampleContent))
    expectInvalid(try verdict(receipt), .malformed, at: "byte 0 of the app receipt payload")
  }

  @Test("bytes after the container are refused")
  func trailingData() throws {
    let sample = try Fixture.sample(.appReceipt)
    expectInvalid(
      try verdict(sample + [0]), .malformed, at: "byte \(sample.count) of the app receipt")
  }
}
