// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

@Suite struct PolicyDefaultTests {
  @Test("Apple's intermediates are those of the documentation, each signed by the pinned root")
  func appleIntermediates() {
    #expect(
      TrustAnchors.appleIntermediates.map(\.sha256FingerprintHex) == [
        "447ad65484610f20fdc33804c8597a1e208fbe4ef9c5653485cc7d3df730c016",
        "64b302913f11ca1b6806093b76cade7f7b123be0c04924fda87f5f4e8647f051",
        "ce057691d730f89ca25e916f7335f4c8a15713dcd273a658c024023f8eb809c2",
        "53fd008278e5a595fe1e908ae9c5e5675f26243264a5a6438c023e3ce2870760",
      ])
    for intermediate in TrustAnchors.appleIntermediates {
      #expect(intermediate.issuer.contains("CN=Apple Root CA"))
      #expect(TrustAnchors.apple.certificates.contains { intermediate.isSigned(by: $0) })
    }
  }

  @Test("a policy has the defaults that its documentation states")
  func defaults() {
    let policy = VerificationPolicy(bundleIds: .any, environments: [.production])
    #expect(policy.bundleIds == .any)
    #expect(policy.environments == [.production])
    #expect(policy.appAppleId == nil)
    #expect(policy.kinds == Set(ReceiptKind.allCases))
    #expect(policy.timeRule == .atSigning)
    #expect(policy.maximumAge == nil)
    #expect(policy.allowedClockSkew == 60)
    #expect(policy.markers == [.appStore, .iTunesStore])
    #expect(policy.deviceIdentifier == nil)
    #expect(policy.algorithms == Set(ReceiptAlgorithm.allCases))
    #expect(policy.selfSignedTesting == .refused)
    #expect(policy.appKeys.all.isEmpty)
    #expect(!policy.admitsShortKeys)
    #expect(!policy.acceptsClaimedEnvironment)
  }

  @Test("Apple's roots are the three published ones")
  func appleRoots() {
    let published: Set<String> = [
      "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
      "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050",
      "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
    ]
    let pinned = TrustAnchors.apple.fingerprints.map { fingerprint in
      fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    #expect(Set(pinned) == published)
    // The one whose certificate is at hand, because transaction receipts do not bring it.
    #expect(
      TrustAnchors.apple.certificates.map(\.sha256FingerprintHex)
        == ["b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"])
  }

  @Test("every sample receipt is valid under the policy of these tests", arguments: Fixture.appStoreKinds)
  func samples(kind: ReceiptKind) throws {
    let receipt = expectValid(try Fixture.verifier().verify(try Fixture.sample(kind)))
    #expect(receipt?.kind == kind)
    #expect(receipt?.environment?.category == .sandbox)
    #expect(receipt?.isEnvironmentProven == (kind != .transactionReceipt))
    #expect(receipt?.assurance == .trustedRoot)
    #expect(receipt?.signer.involvesSHA1 == false)
    let authority = try kind == .appReceipt || kind == .transactionReceipt ? Fixture.rsa : Fixture.es256
    #expect(receipt?.signer.sha256 == authority.identity.chain[0].sha256FingerprintHex)
    #expect(receipt?.signer.rootSHA256 == authority.root.sha256FingerprintHex)
    #expect(receipt?.signer.subject == authority.identity.chain[0].subject)
  }

  @Test("nothing is valid where nothing is trusted", arguments: Fixture.appStoreKinds)
  func noTrust(kind: ReceiptKind) throws {
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(), policy: Fixture.policy(), intermediates: [try Fixture.rsa.intermediate],
      clock: FixedClock(Fixture.now).reading)
    let place = kind == .appReceipt || kind == .transactionReceipt ? "certificate 1" : "certificate 2"
    expectInvalid(verifier.verify(try Fixture.sample(kind)), .chainUntrusted, at: place)
  }

  @Test("a root is trusted by fingerprint alone where the receipt brings it")
  func byFingerprint() throws {
    let trust = TrustAnchors(fingerprints: [
      try Fixture.es256.root.sha256Fingerprint, try Fixture.rsa.root.sha256Fingerprint,
    ])
    let verifier = ReceiptVerifier(
      trust: trust, policy: Fixture.policy(), intermediates: [try Fixture.rsa.intermediate],
      clock: FixedClock(Fixture.now).reading)
    expectValid(verifier.verify(try Fixture.sample(.signedTransaction)))
    expectValid(verifier.verify(try Fixture.sample(.appReceipt)))
    expectInvalid(
      verifier.verify(try Fixture.sample(.transactionReceipt)), .chainUntrusted, at: "certificate 1")
    // The root may come among the intermediates.
    let supplied = ReceiptVerifier(
      trust: trust, policy: Fixture.policy(),
      intermediates: [try Fixture.rsa.root, try Fixture.rsa.intermediate],
      clock: FixedClock(Fixture.now).reading)
    expectValid(supplied.verify(try Fixture.sample(.transactionReceipt)))
  }
}
