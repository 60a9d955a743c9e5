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

  @Test("Apple's markers do not do where a store demands its own", arguments: Fixture.Container.allCases)
  func foreignMarkers(container: Fixture.Container) throws {
    let receipt = try container.signed(by: try container.authority.identity)
    let verdict = try Fixture.verifier { $0.markers = [Self.own] }.verify(receipt)
    expectInvalid(verdict, .certificatePurpose, at: "certificate 0")
  }
}
