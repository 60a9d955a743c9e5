// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Attacks 4 and 5: a receipt that chooses its own policy by saying "Xcode", or has no signature that counts.
@Suite struct SelfSignedAttackTests {
  private func transaction(in environment: ReceiptEnvironment) -> JWSPayload {
    var transaction = SampleReceipts.transaction
    transaction.environment = environment
    return .transaction(transaction)
  }

  private let everywhere = Set(ReceiptEnvironment.Category.allCases)

  @Test(
    "self-signed data is refused, whatever environment it names",
    arguments: [ReceiptEnvironment.xcode, .localTesting, .sandbox, .production])
  func refusedByDefault(environment: ReceiptEnvironment) throws {
    let receipt = try SelfSignedTestData().sign(transaction(in: environment))
    let verdict = try Fixture.verifier { $0.environments = everywhere }.verify(receipt)
    expectInvalid(verdict, .chainLength, at: "$.x5c of the JWS header")
  }

  @Test(
    "data signed by a pinned certificate is admitted for Xcode and local testing, and reported as such",
    arguments: [ReceiptEnvironment.xcode, .localTesting])
  func admitted(environment: ReceiptEnvironment) throws {
    let testData = try SelfSignedTestData()
    let verifier = try Fixture.verifier {
      $0.environments = everywhere
      $0.selfSignedTesting = .pinned(certificates: [testData.certificate])
    }
    let receipt = expectValid(verifier.verify(try testData.sign(transaction(in: environment))))
    #expect(receipt?.assurance == .pinnedTestCertificate)
    #expect(receipt?.environment == environment)
    #expect(receipt?.signer.sha256 == testData.certificate.sha256FingerprintHex)
    #expect(receipt?.signer.rootSHA256 == testData.certificate.sha256FingerprintHex)
  }

  @Test(
    "a pinned certificate does not sign for the store",
    arguments: [
      ReceiptEnvironment.sandbox, .production, .productionVPP, ReceiptEnvironment(rawValue: "xcode"),
    ])
  func pinnedForStore(environment: ReceiptEnvironment) throws {
    let testData = try SelfSignedTestData()
    let verifier = try Fixture.verifier {
      $0.environments = everywhere
      $0.selfSignedTesting = .pinned(certificates: [testData.certificate])
    }
    let verdict = verifier.verify(try testData.sign(transaction(in: environment)))
    expectInvalid(verdict, .chainUntrusted, at: "certificate 0")
  }

  @Test("a pinned certificate does not sign data without an environment")
  func pinnedWithoutEnvironment() throws {
    let testData = try SelfSignedTestData()
    var transaction = SampleReceipts.transaction
    transaction.environment = nil
    let verifier = try Fixture.verifier {
      $0.environments = everywhere
      $0.selfSignedTesting = .pinned(certificates: [testData.certificate])
    }
    let verdict = verifier.verify(try testData.sign(.transaction(transaction)))
    expectInvalid(verdict, .chainUntrusted, at: "certificate 0")
  }

  @Test("pinning alone does not accept the environment")
  func pinnedButNotAccepted() throws {
    let testData = try SelfSignedTestData()
    let verifier = try Fixture.verifier {
      $0.selfSignedTesting = .pinned(certificates: [testData.certificate])
    }
    expectInvalid(verifier.verify(try testData.sign(transaction(in: .xcode))), .wrongEnvironment)
  }

  @Test("another self-signed certificate of the same name is not the pinned one")
  func otherCertificate() throws {
    let key = try PrivateKey.generateP256()
    var template = CertificateTemplate(
      subject: DistinguishedName(commonName: "StoreKit Testing in Xcode"), serialNumber: [0x01],
      notBefore: 1_600_000_000, notAfter: 2_000_000_000)
    template.basicConstraints = .endEntity
    let certificate = try Certificate.issue(template, for: key.publicKey, by: .itself(key))
    let identity = SigningIdentity(uncheckedKey: key, chain: [certificate])
    let receipt = try ForgedJWS.signed(
      header: JWSHeader(x5c: [certificate.der]).encoded(), payload: transaction(in: .xcode).encoded(),
      by: identity)
    let pinned = try SelfSignedTestData().certificate
    let verifier = try Fixture.verifier {
      $0.environments = everywhere
      $0.selfSignedTesting = .pinned(certificates: [pinned])
    }
    expectInvalid(verifier.verify(receipt), .chainLength, at: "$.x5c of the JWS header")
  }

  @Test("a trusted signer is verified normally even if test certificates are pinned")
  func trustedBesidePinned() throws {
    let testData = try SelfSignedTestData()
    let verifier = try Fixture.verifier {
      $0.environments = everywhere
      $0.selfSignedTesting = .pinned(certificates: [testData.certificate])
    }
    let receipt = expectValid(verifier.verify(try Fixture.sample(.signedTransaction)))
    #expect(receipt?.assurance == .trustedRoot)
  }

  @Test("an app receipt of a pinned certificate is admitted only for Xcode")
  func appReceipt() throws {
    let identity = try Fixture.rsa.identity
    let signer = AppReceiptSigner(
      unchecked: SigningIdentity(uncheckedKey: identity.privateKey, chain: [identity.chain[0]]))
    let verifier = try Fixture.verifier {
      $0.environments = everywhere
      $0.selfSignedTesting = .pinned([identity.chain[0].sha256Fingerprint])
    }
    var payload = SampleReceipts.appReceipt
    expectInvalid(verifier.verify(try signer.sign(payload)), .chainUntrusted, at: "certificate 0")
    payload.environment = .xcode
    let receipt = expectValid(verifier.verify(try signer.sign(payload)))
    #expect(receipt?.assurance == .pinnedTestCertificate)
  }

  @Test("a container without a signer is unsigned")
  func noSigner() throws {
    let receipt = try ForgedAppReceipt.changing { $0.signerInfos = [] }
    expectInvalid(try Fixture.verifier().verify(receipt), .unsigned)
  }
}
