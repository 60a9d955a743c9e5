// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCodec
import ReceiptBytes
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Attacks 11 and 14 on transaction receipts: altered purchases around genuine signatures, and the unsigned
/// environment.
@Suite struct TransactionReceiptAttackTests {
  private func changing(
    _ receipt: [UInt8], _ change: (inout PropertyList) -> Void
  ) throws -> [UInt8] {
    var list = try PropertyList(parsing: receipt)
    change(&list)
    return list.encoded()
  }

  @Test("altered purchase-info under a genuine signature is refused", arguments: [UInt8(3), 4])
  func alteredPurchaseInfo(version: UInt8) throws {
    let signatureVersion = try #require(TransactionReceiptSigner.SignatureVersion(rawValue: version))
    let receipt = try Fixture.receipts.transactionReceipt(version: signatureVersion)
    expectValid(try Fixture.verifier().verify(receipt))
    for change in [
      { (info: inout TransactionReceiptPurchaseInfo) in info.productId = "com.example.app.everything" },
      { $0.quantity = 1000 },
      { $0.transactionId = "1000000002" },
      { $0.bundleId = "com.example.other" },
      { $0.additionalEntries = [PropertyList.Entry(key: "unknown", value: "")] },
    ] {
      var info = SampleReceipts.purchaseInfo
      change(&info)
      let altered = try changing(receipt) { $0["purchase-info"] = Base64.encodeToString(info.encoded()) }
      expectInvalid(
        try Fixture.verifier().verify(altered), .signatureMismatch, at: "key \"signature\"")
    }
  }

  @Test("the version byte is signed: 3 relabelled as 4 and 4 as 3 are refused")
  func relabelledVersion() throws {
    for (from, to) in [(TransactionReceiptSigner.SignatureVersion.three, UInt8(4)), (.four, 3)] {
      let receipt = try Fixture.receipts.transactionReceipt(version: from)
      let altered = try changing(receipt) { list in
        var blob = (try? Base64.decode(Array((list["signature"] ?? "").utf8))) ?? []
        blob[0] = to
        list["signature"] = Base64.encodeToString(blob)
      }
      expectInvalid(
        try Fixture.verifier().verify(altered), .signatureMismatch, at: "key \"signature\"")
    }
  }

  @Test("a sandbox receipt relabelled as production stays unproven")
  func relabelledEnvironment() throws {
    let receipt = try Fixture.sample(.transactionReceipt)
    for environment in [nil, "Production", "ProductionVPP"] {
      let relabelled = try changing(receipt) { $0["environment"] = environment }
      let production = try Fixture.verifier { $0.environments = [.production] }
      expectUndetermined(
        production.verify(relabelled), .environmentUnproven, at: "key \"environment\"")
      let both = try Fixture.verifier { $0.environments = [.production, .sandbox] }
      let verified = expectValid(both.verify(relabelled))
      #expect(verified?.isEnvironmentProven == false)
      #expect(verified?.environment?.category == .production)
    }
  }

  @Test("the claim counts for production only when the policy says so by name")
  func acceptedClaim() throws {
    let receipts = try Fixture.receipts
    let verifier = try Fixture.verifier {
      $0.environments = [.production]
      $0.acceptsClaimedEnvironment = true
    }
    let verified = expectValid(
      verifier.verify(try receipts.transactionReceipt(environment: .production)))
    #expect(verified?.isEnvironmentProven == false)
    expectInvalid(
      verifier.verify(try receipts.transactionReceipt(environment: .sandbox)), .wrongEnvironment)
  }

  @Test("a policy for the sandbox only refuses receipts that claim production")
  func sandboxOnly() throws {
    let receipts = try Fixture.receipts
    let verifier = try Fixture.verifier()
    expectValid(verifier.verify(try receipts.transactionReceipt(environment: .sandbox)))
    expectInvalid(
      verifier.verify(try receipts.transactionReceipt(environment: .production)), .wrongEnvironment)
    expectInvalid(
      verifier.verify(
        try receipts.transactionReceipt(environment: ReceiptEnvironment(rawValue: "sandbox"))),
      .wrongEnvironment)
  }

  @Test("a transaction receipt without its issuer at hand is undetermined")
  func missingIntermediate() throws {
    let verifier = ReceiptVerifier(
      trust: try Fixture.rsa.trustAnchors, policy: Fixture.policy(), clock: FixedClock(Fixture.now).reading)
    expectUndetermined(
      verifier.verify(try Fixture.sample(.transactionReceipt)), .issuerMissing, at: "certificate 0")
  }

  @Test("the marker of version 2 is not accepted for versions 3 and 4")
  func markerOfOtherVersion() throws {
    let rsa = try Fixture.rsa
    var options = rsa.authority.options
    options.leafMarker = CertificateMarkers.iTunesStore.leaf
    options.intermediateMarker = CertificateMarkers.iTunesStore.intermediate
    let rootKey = try PrivateKey.generateRSA()
    let authority = try CertificateAuthority.create(
      options, rootKey: rootKey, intermediateKey: rsa.authority.intermediate.privateKey)
    let identity = try authority.issueLeaf(key: rsa.identity.privateKey)
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [authority.root]), policy: Fixture.policy(),
      intermediates: [identity.chain[1]], clock: FixedClock(Fixture.now).reading)
    for container in [Fixture.Container.transactionReceipt, .appReceipt] {
      expectInvalid(
        verifier.verify(try container.signed(by: identity)), .certificatePurpose, at: "certificate 0")
    }
  }
}
