// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Which signature algorithms and which certificate extensions are accepted. Attack 15: SHA-1.
@Suite struct AlgorithmPolicyTests {
  private func appReceiptWithSHA1() throws -> [UInt8] {
    try AppReceiptSigner(unchecked: Fixture.rsa.identity)
      .sign(content: ForgedAppReceipt.sampleContent, digest: .sha1)
  }

  @Test("SHA-1 is accepted where the formats used it, and reported")
  func sha1Reported() throws {
    let verifier = try Fixture.verifier()
    for receipt in [
      try appReceiptWithSHA1(), try Fixture.receipts.transactionReceipt(version: .three),
    ] {
      let verified = expectValid(verifier.verify(receipt))
      #expect(verified?.signer.algorithm == .rsaSHA1)
      #expect(verified?.signer.involvesSHA1 == true)
    }
  }

  @Test("a leaf signed with SHA-1 is reported, also under a receipt signed with SHA-256")
  func sha1InChain() throws {
    let rsa = try Fixture.rsa
    var template = rsa.authority.options.leafTemplate
    template.digest = .sha1
    let identity = try rsa.authority.issueLeaf(template, key: rsa.identity.privateKey)
    for container in [Fixture.Container.appReceipt, .transactionReceipt] {
      let verified = expectValid(try Fixture.verifier().verify(try container.signed(by: identity)))
      #expect(verified?.signer.algorithm == .rsaSHA256)
      #expect(verified?.signer.involvesSHA1 == true)
    }
  }

  @Test("a policy without SHA-1 refuses certificates that are signed with it, at any place below the root")
  func sha1CertificatesRefused() throws {
    let rsa = try Fixture.rsa
    let options = rsa.authority.options
    let key = rsa.identity.privateKey
    var leafTemplate = options.leafTemplate
    leafTemplate.digest = .sha1
    let leaf = try rsa.authority.issueLeaf(leafTemplate, key: key)
    var intermediateTemplate = options.intermediateTemplate
    intermediateTemplate.digest = .sha1
    let rootKey = try PrivateKey.generateRSA()
    let root = try CertificateAuthority.issue(
      options.rootTemplate, for: rootKey.publicKey, by: .itself(rootKey))
    let intermediate = try CertificateAuthority.issue(
      intermediateTemplate, for: rsa.intermediate.publicKey, by: .authority(root, rootKey))
    for container in [Fixture.Container.appReceipt, .transactionReceipt] {
      for (chain, place) in [
        (leaf.chain, "certificate 0"), ([rsa.identity.chain[0], intermediate, root], "certificate 1"),
      ] {
        let receipt = try container.signed(by: SigningIdentity(uncheckedKey: key, chain: chain))
        func verdict(_ change: (inout VerificationPolicy) -> Void) -> Verdict {
          ReceiptVerifier(
            trust: TrustAnchors(certificates: [chain[2]]), policy: Fixture.policy(change),
            intermediates: [chain[1]], clock: FixedClock(Fixture.now).reading
          ).verify(receipt)
        }
        expectValid(verdict { _ in })
        expectInvalid(verdict { $0.algorithms.remove(.rsaSHA1) }, .unsupportedAlgorithm, at: place)
      }
    }
  }

  @Test("the root's own signature with SHA-1 counts for nothing: a root is trusted as it is")
  func sha1OfTheRoot() throws {
    let rsa = try Fixture.rsa
    var rootTemplate = rsa.authority.options.rootTemplate
    rootTemplate.digest = .sha1
    let rootKey = try PrivateKey.generateRSA()
    let root = try CertificateAuthority.issue(rootTemplate, for: rootKey.publicKey, by: .itself(rootKey))
    let intermediate = try CertificateAuthority.issue(
      rsa.authority.options.intermediateTemplate, for: rsa.intermediate.publicKey,
      by: .authority(root, rootKey))
    let chain = [rsa.identity.chain[0], intermediate, root]
    let receipt = try AppReceiptSigner(
      unchecked: SigningIdentity(uncheckedKey: rsa.identity.privateKey, chain: chain)
    ).sign(SampleReceipts.appReceipt)
    let verified = expectValid(
      ReceiptVerifier(
        trust: TrustAnchors(certificates: [root]), policy: Fixture.policy { $0.algorithms.remove(.rsaSHA1) },
        clock: FixedClock(Fixture.now).reading
      ).verify(receipt))
    #expect(verified?.signer.involvesSHA1 == false)
  }

  @Test("an intermediate that is signed with SHA-1 does not certify the signer of a JWS")
  func sha1UnderJWS() throws {
    let es256 = try Fixture.es256
    var template = es256.authority.options.intermediateTemplate
    template.digest = .sha1
    let rootKey = try PrivateKey.generateP256()
    let root = try CertificateAuthority.issue(
      es256.authority.options.rootTemplate, for: rootKey.publicKey, by: .itself(rootKey))
    let intermediate = try CertificateAuthority.issue(
      template, for: es256.intermediate.publicKey, by: .authority(root, rootKey))
    let chain = [es256.identity.chain[0], intermediate, root]
    let receipt = try Fixture.Container.jws.signed(
      by: SigningIdentity(uncheckedKey: es256.identity.privateKey, chain: chain))
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [root]), policy: Fixture.policy(),
      clock: FixedClock(Fixture.now).reading)
    expectInvalid(verifier.verify(receipt), .unsupportedAlgorithm, at: "certificate 1")
  }

  @Test(
    "certificates may be signed with SHA-256, SHA-384 and SHA-512",
    arguments: Fixture.Container.allCases)
  func strongDigests(container: Fixture.Container) throws {
    let authority = try container.authority
    let options = authority.authority.options
    let rootKey = container == .jws ? try PrivateKey.generateP256() : try PrivateKey.generateRSA()
    let root = try CertificateAuthority.issue(
      options.rootTemplate, for: rootKey.publicKey, by: .itself(rootKey))
    for digest in [DigestAlgorithm.sha256, .sha384, .sha512] {
      var template = options.intermediateTemplate
      template.digest = digest
      let intermediate = try CertificateAuthority.issue(
        template, for: authority.intermediate.publicKey, by: .authority(root, rootKey))
      let chain = [authority.identity.chain[0], intermediate, root]
      let receipt = try container.signed(
        by: SigningIdentity(uncheckedKey: authority.identity.privateKey, chain: chain))
      expectValid(
        ReceiptVerifier(
          trust: TrustAnchors(certificates: [root]), policy: Fixture.policy(), intermediates: [intermediate],
          clock: FixedClock(Fixture.now).reading
        ).verify(receipt))
    }
  }

  @Test("an algorithm that the policy leaves out is refused")
  func algorithms() throws {
    let receipts: [(ReceiptAlgorithm, [UInt8])] = [
      (.es256, try Fixture.sample(.signedTransaction)),
      (.es256, try Fixture.sample(.signedNotification)),
      (.rsaSHA256, try Fixture.sample(.appReceipt)),
      (.rsaSHA1, try appReceiptWithSHA1()),
      (.rsaSHA256, try Fixture.receipts.transactionReceipt(version: .four)),
      (.rsaSHA1, try Fixture.receipts.transactionReceipt(version: .three)),
    ]
    for (algorithm, receipt) in receipts {
      for left in ReceiptAlgorithm.allCases {
        let verdict = try Fixture.verifier { $0.algorithms.remove(left) }.verify(receipt)
        if left == algorithm {
          expectInvalid(verdict, .unsupportedAlgorithm)
        } else {
          expectValid(verdict)
        }
      }
    }
  }

  @Test("RSA of 1024 bits does not sign app receipts")
  func shortKey() throws {
    let rsa = try Fixture.rsa
    let key = try PrivateKey.generateRSA(bits: 1024)
    let identity = try rsa.authority.issueLeaf(rsa.authority.options.leafTemplate, key: key)
    let receipt = try AppReceiptSigner(unchecked: identity).sign(SampleReceipts.appReceipt)
    expectInvalid(try Fixture.verifier().verify(receipt), .unsupportedAlgorithm, at: "certificate 0")
  }

  // MARK: Marker extensions

  private static let own = CertificateMarkers(
    leaf: "1.3.6.1.4.1.99999.1", intermediate: "1.3.6.1.4.1.99999.2")

  private func ownStore(_ container: Fixture.Container) throws -> SigningIdentity {
    let authority = try container.authority
    var options = authority.authority.options
    options.leafMarker = Self.own.leaf
    options.intermediateMarker = Self.own.intermediate
    let key = authority.identity.privateKey
    return try CertificateAuthority.create(
      options, rootKey: key, intermediateKey: authority.authority.intermediate.privateKey
    ).issueLeaf(key: key)
  }

  @Test("a store's own markers are accepted by name alone", arguments: Fixture.Container.allCases)
  func ownMarkers(container: Fixture.Container) throws {
    let identity = try ownStore(container)
    let receipt = try container.signed(by: identity)
    func verdict(_ markers: Set<CertificateMarkers>) -> Verdict {
      ReceiptVerifier(
        trust: TrustAnchors(certificates: [identity.chain[2]]),
        policy: Fixture.policy { $0.markers = markers }, intermediates: [identity.chain[1]],
        clock: FixedClock(Fixture.now).reading
      ).verify(receipt)
    }
    expectValid(verdict([Self.own]))
    expectValid(verdict([Self.own, .appStore]))
    expectInvalid(verdict([.appStore, .iTunesStore]), .certificatePurpose, at: "certificate 0")
    expectInvalid(verdict([]), .certificatePurpose, at: "certificate 0")
    let half = CertificateMarkers(leaf: Self.own.leaf, intermediate: CertificateMarkers.appStore.intermediate)
    expectInvalid(verdict([half]), .certificatePurpose, at: "certificate 1")
  }

  @Test("the markers of two pairs do not make one", arguments: Fixture.Container.allCases)
  func mixedMarkers(container: Fixture.Container) throws {
    let identity = try ownStore(container)
    let receipt = try container.signed(by: identity)
    let markers: Set = [
      CertificateMarkers(leaf: Self.own.leaf, intermediate: "1.3.6.1.4.1.99999.3"),
      CertificateMarkers(leaf: "1.3.6.1.4.1.99999.4", intermediate: Self.own.intermediate),
    ]
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [identity.chain[2]]), policy: Fixture.policy { $0.markers = markers },
      intermediates: [identity.chain[1]], clock: FixedClock(Fixture.now).reading)
    expectInvalid(verifier.verify(receipt), .certificatePurpose, at: "certificate 1")
  }

  @Test("the iTunes Store's certificates sign no JWS and no app receipt")
  func iTunesMarkers() throws {
    for container in [Fixture.Container.jws, .appReceipt] {
      let authority = try container.authority
      var options = authority.authority.options
      options.leafMarker = CertificateMarkers.iTunesStore.leaf
      options.intermediateMarker = CertificateMarkers.iTunesStore.intermediate
      let key = authority.identity.privateKey
      let identity = try CertificateAuthority.create(
        options, rootKey: key, intermediateKey: authority.authority.intermediate.privateKey
      ).issueLeaf(key: key)
      let verifier = ReceiptVerifier(
        trust: TrustAnchors(certificates: [identity.chain[2]]), policy: Fixture.policy(),
        clock: FixedClock(Fixture.now).reading)
      expectInvalid(
        verifier.verify(try container.signed(by: identity)), .certificatePurpose, at: "certificate 0")
    }
  }

  @Test(
    "Apple's marker extensions are refused where a store requires its own",
    arguments: Fixture.Container.allCases)
  func foreignMarkers(container: Fixture.Container) throws {
    let receipt = try container.signed(by: try container.authority.identity)
    let verdict = try Fixture.verifier { $0.markers = [Self.own] }.verify(receipt)
    expectInvalid(verdict, .certificatePurpose, at: "certificate 0")
  }
}
