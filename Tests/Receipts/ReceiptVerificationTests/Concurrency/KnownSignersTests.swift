// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

@testable import ReceiptVerification

/// The signers that a verifier remembers: genuine ones only, no more than fit, and none that a forger made.
@Suite struct KnownSignersTests {
  @Test("a signer is cached once, however many receipts it signs")
  func once() throws {
    let verifier = try Fixture.verifier()
    for kind in Fixture.appStoreKinds { expectValid(verifier.verify(try Fixture.sample(kind))) }
    for kind in Fixture.appStoreKinds { expectValid(verifier.verify(try Fixture.sample(kind))) }
    // One of all JWS, one of app receipts, one of transaction receipts of version 4.
    #expect(verifier.knownSigners.all.count == 3)
    expectValid(verifier.verify(try Fixture.receipts.transactionReceipt(version: .three)))
    #expect(verifier.knownSigners.all.count == 4)
  }

  @Test("an endless stream of forged chains leaves nothing in the cache")
  func forgedChains() throws {
    let verifier = try Fixture.verifier()
    let es256 = try Fixture.es256
    let forger = try CertificateAuthority.create(es256.authority.options)
    let key = es256.identity.privateKey
    for _ in 0..<200 {
      let leaf = try forger.issueLeaf(key: key)
      for root in [forger.root, es256.root] {
        let identity = SigningIdentity(uncheckedKey: key, chain: [leaf.chain[0], leaf.chain[1], root])
        let verdict = verifier.verify(try Fixture.Container.jws.signed(by: identity))
        #expect(verdict.reason?.code == .chainUntrusted)
      }
    }
    #expect(verifier.knownSigners.all.count == 0)
  }

  @Test("a genuine chain without a valid signature is not cached")
  func unsignedChains() throws {
    let verifier = try Fixture.verifier()
    for index in 0..<100 {
      let header = try ForgedJWS.header("\"alg\":\"ES256\",\"kid\":\"\(index)\"")
      let unsigned = ForgedJWS.joined(header: header, payload: ForgedJWS.samplePayload, signature: [])
      expectInvalid(verifier.verify(unsigned), .unsigned)
      let forged = ForgedJWS.joined(
        header: header, payload: ForgedJWS.samplePayload, signature: [UInt8](repeating: 7, count: 64))
      expectInvalid(verifier.verify(forged), .signatureMismatch, at: "JWS signature")
    }
    let appReceipt = try ForgedAppReceipt.changing {
      $0.content = SampleReceipts.appReceipt.bundleIdValue[...]
    }
    expectInvalid(verifier.verify(appReceipt), .signatureMismatch, at: "signerInfo")
    #expect(verifier.knownSigners.all.count == 0)
  }

  @Test(
    "a genuine app receipt with other certificates beside its own is valid, and its signer is not remembered")
  func junkCertificates() throws {
    let verifier = try Fixture.verifier()
    let identity = try Fixture.rsa.identity
    let key = try Fixture.es256.identity.privateKey
    for index in 0..<4 {
      var template = CertificateTemplate(
        subject: DistinguishedName(commonName: "Junk \(index)"), notBefore: 1_600_000_000,
        notAfter: 2_000_000_000)
      // An OCTET STRING of 0x4E20 bytes: the value of an extension is DER.
      let value = [0x04, 0x82, 0x4E, 0x20] + [UInt8](repeating: 5, count: 0x4E20)
      template.additionalExtensions = [
        Certificate.Extension(oid: "1.3.6.1.4.1.99999.9", isCritical: false, value: value)
      ]
      let junk = try Certificate.issue(template, for: key.publicKey, by: .itself(key))
      let receipt = try AppReceiptSigner(unchecked: identity)
        .sign(content: ForgedAppReceipt.sampleContent, certificates: identity.chain + [junk])
      expectValid(verifier.verify(receipt))
    }
    #expect(verifier.knownSigners.all.count == 0)
  }

  /// A genuine app receipt whose container embeds `certificates`.
  private static func appReceipt(embedding certificates: [Certificate]) throws -> [UInt8] {
    try AppReceiptSigner(unchecked: try Fixture.rsa.identity)
      .sign(content: ForgedAppReceipt.sampleContent, certificates: certificates)
  }

  private static func foreignCertificate(_ index: Int) throws -> Certificate {
    let key = try Fixture.es256.identity.privateKey
    let template = CertificateTemplate(
      subject: DistinguishedName(commonName: "Foreign \(index)"), notBefore: 1_600_000_000,
      notAfter: 2_000_000_000)
    return try Certificate.issue(template, for: key.publicKey, by: .itself(key))
  }

  /// 256 variants, or 10,000 where the environment variable RECEIPTKIT_FULL_SWEEPS is set.
  @Test("variants of a genuine app receipt do not evict its signer, however many come before and between")
  func variants() throws {
    let verifier = try Fixture.verifier()
    let chain = try Fixture.rsa.identity.chain
    let genuine = try Self.appReceipt(embedding: chain)
    let key = try UnverifiedAppReceipt(parsing: genuine).signedData
    func isKnown() -> Bool {
      verifier.knownSigners.all.contains {
        $0.cacheKey
          == SignerCacheKey(key.certificatesBytes, key.signerInfos[0].issuer, key.signerInfos[0].serialNumber)
      }
    }
    for index in 0..<(Sweep.isFull ? 5_000 : KnownSigners.capacity * 2) {
      if index == KnownSigners.capacity {
        expectValid(verifier.verify(genuine))
      }
      expectValid(
        verifier.verify(try Self.appReceipt(embedding: chain + [try Self.foreignCertificate(index)])))
      let repeated = chain + [chain[index % chain.count]] + (0..<index % 5).map { _ in chain[0] }
      _ = verifier.verify(try Self.appReceipt(embedding: repeated))
      #expect(isKnown() == (index >= KnownSigners.capacity))
    }
    #expect(verifier.knownSigners.all.count == 1)
  }

  @Test("a signer whose receipts the policy refuses is not cached")
  func refusedByPolicy() throws {
    let verifier = try Fixture.verifier { $0.bundleIds = .oneOf(["com.example.other"]) }
    for kind in [ReceiptKind.signedTransaction, .appReceipt, .transactionReceipt] {
      expectInvalid(verifier.verify(try Fixture.sample(kind)), .wrongBundle)
    }
    #expect(verifier.knownSigners.all.isEmpty)
  }

  @Test("signers of one format do not evict those of another")
  func roomPerFormat() throws {
    let verifier = try Fixture.verifier()
    expectValid(verifier.verify(try Fixture.sample(.appReceipt)))
    let es256 = try Fixture.es256
    for _ in 0..<KnownSigners.capacity + 5 {
      let identity = try es256.authority.issueLeaf(key: es256.identity.privateKey)
      expectValid(verifier.verify(try Fixture.Container.jws.signed(by: identity)))
    }
    #expect(verifier.knownSigners.all.count == KnownSigners.capacity + 1)
  }

  @Test("the least recently used signer is evicted")
  func leastRecentlyUsed() throws {
    let verifier = try Fixture.verifier()
    let es256 = try Fixture.es256
    let receipts = try (0..<KnownSigners.capacity + 1).map { _ in
      try Fixture.Container.jws.signed(by: try es256.authority.issueLeaf(key: es256.identity.privateKey))
    }
    for receipt in receipts.dropLast() { expectValid(verifier.verify(receipt)) }
    expectValid(verifier.verify(receipts[0]))
    expectValid(verifier.verify(receipts[KnownSigners.capacity]))
    let keys = try receipts.map { SignerCacheKey($0[try UnverifiedJWS(parsing: $0).encodedHeaderRange]) }
    let known = Set(verifier.knownSigners.all.map(\.cacheKey))
    #expect(known.contains(keys[0]))
    #expect(!known.contains(keys[1]))
  }

  @Test("more genuine signers than the cache holds are all accepted, and the cache does not grow")
  func capacity() throws {
    let verifier = try Fixture.verifier()
    let es256 = try Fixture.es256
    var receipts: [[UInt8]] = []
    for _ in 0..<KnownSigners.capacity + 40 {
      let identity = try es256.authority.issueLeaf(key: es256.identity.privateKey)
      receipts.append(try Fixture.Container.jws.signed(by: identity))
    }
    for receipt in receipts { expectValid(verifier.verify(receipt)) }
    #expect(verifier.knownSigners.all.count == KnownSigners.capacity)
    for receipt in receipts.reversed() { expectValid(verifier.verify(receipt)) }
    #expect(verifier.knownSigners.all.count == KnownSigners.capacity)
  }

  @Test("a signer in use is not evicted by others")
  func inUse() throws {
    let verifier = try Fixture.verifier()
    let es256 = try Fixture.es256
    let used = try Fixture.sample(.signedTransaction)
    for _ in 0..<KnownSigners.capacity * 2 {
      expectValid(verifier.verify(used))
      let identity = try es256.authority.issueLeaf(key: es256.identity.privateKey)
      expectValid(verifier.verify(try Fixture.Container.jws.signed(by: identity)))
    }
    let header = try UnverifiedJWS(parsing: used).encodedHeaderRange
    let key = SignerCacheKey(used[header])
    #expect(verifier.knownSigners.all.contains { $0.cacheKey == key })
  }

  @Test("a signer that two tasks resolved at the same time is cached once")
  func resolvedTwice() throws {
    let authenticator = try Fixture.verifier().authenticator
    let recognizer = Recognizer(limits: .standard, appKeys: [])
    let known = KnownSigners()
    for kind in [ReceiptKind.signedTransaction, .appReceipt] {
      let message = try recognizer.recognize(try Fixture.sample(kind)).requireMessage()
      for _ in 0..<2 { known.insert(try authenticator.resolver.resolve(message), of: message.format) }
    }
    #expect(known.all.count == 2)
  }

  @Test("a signer with a longer cache key than genuine ones need is not cached")
  func longCacheKey() throws {
    let verifier = try Fixture.verifier()
    for (length, isRemembered) in [(KnownSigners.maximumKeyByteCount, false), (10, true)] {
      let text = String(repeating: "k", count: length)
      let header = try ForgedJWS.header("\"alg\":\"ES256\",\"kid\":\"\(text)\"")
      expectValid(verifier.verify(try ForgedJWS.signed(header: header)))
      #expect(verifier.knownSigners.all.isEmpty != isRemembered)
    }
  }

  @Test("a known signer's certificates do not authenticate a different signer identifier")
  func ambiguousCacheKey() throws {
    // Certificates, issuer and serial number run together would read the same, divided elsewhere: the last
    // certificate as the issuer's name, and the issuer in the serial number.
    let sample = try UnverifiedAppReceipt(parsing: try Fixture.sample(.appReceipt))
    var shifted = sample.signedData
    let signer = try #require(shifted.signerInfos.first)
    let last = shifted.certificates.removeLast()
    shifted.signerInfos[0].issuer = last
    shifted.signerInfos[0].serialNumber = signer.issuer + signer.serialNumber
    let verifier = try Fixture.verifier()
    let receipt = shifted.encoded()
    expectInvalid(verifier.verify(receipt), .chainUntrusted, at: "signerInfo")
    expectValid(verifier.verify(sample.encoded))
    expectInvalid(verifier.verify(receipt), .chainUntrusted, at: "signerInfo")
  }

  @Test("cache keys are equal where all three parts are, byte for byte")
  func equalCacheKeys() {
    let (one, other): ([UInt8], [UInt8]) = ([1, 2, 3], [1, 2, 4])
    let key = SignerCacheKey(one[...], one[...], one[...])
    #expect(key == SignerCacheKey(one[...], one[...], one[...]))
    #expect(key != SignerCacheKey(other[...], one[...], one[...]))
    #expect(key != SignerCacheKey(one[...], other[...], one[...]))
    #expect(key != SignerCacheKey(one[...], one[...], other[...]))
  }

  @Test("a known signer does not authenticate another signature, content or algorithm")
  func knownSignerForgery() throws {
    let verifier = try Fixture.verifier()
    for kind in Fixture.appStoreKinds { expectValid(verifier.verify(try Fixture.sample(kind))) }
    let jws = try Fixture.sample(.signedTransaction)
    expectInvalid(
      verifier.verify(try ForgedJWS.replacingSignature(of: jws) { $0.map { $0 ^ 1 } }), .signatureMismatch,
      at: "JWS signature")
    expectInvalid(
      verifier.verify(try ForgedJWS.replacingPayload(of: jws, with: Array("{}".utf8))), .signatureMismatch,
      at: "JWS signature")
    let rsa = try Fixture.rsa.identity
    expectInvalid(
      verifier.verify(
        try AppReceiptSigner(
          unchecked: SigningIdentity(uncheckedKey: try PrivateKey.generateRSA(), chain: rsa.chain)
        ).sign(SampleReceipts.appReceipt)), .signatureMismatch, at: "signerInfo")
  }
}
