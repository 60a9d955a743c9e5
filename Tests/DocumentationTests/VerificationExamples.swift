// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

@Suite struct VerificationExamples {
  @Test func keysOfTwoStores() throws {
    let (playKey, huaweiKey) = (
      Array(try TestKeys.app().publicKey.pem.utf8), Array(try TestKeys.app().publicKey.pem.utf8)
    )

    var policy = VerificationPolicy(
      bundleIds: .oneOf(["com.example.app"]), environments: [.production, .sandbox])
    policy.appKeys = AppKeys([
      AppKey(.googlePlay, package: "com.example.app", publicKey: try PublicKey(inFile: playKey)),
      AppKey(.huawei, package: "com.example.app", publicKey: try PublicKey(inFile: huaweiKey)),
    ])
    let verifier = ReceiptVerifier(trust: .apple, policy: policy)

    #expect(verifier.verify(try TestReceipts().googlePlayPurchase()).receipt?.kind == .googlePlayPurchase)
    #expect(verifier.verify(try TestReceipts().huaweiPurchase()).receipt?.kind == .huaweiPurchase)
  }

  @Test func aReceipt() throws {
    let receiptBytes = Array(try TestReceipts().signedTransaction().utf8)

    let verifier = ReceiptVerifier(
      trust: .apple,
      policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))
    let verdict = verifier.verify(receiptBytes)

    #expect(verdict.reason?.code == .chainUntrusted)
  }

  @Test func whatToGrant() throws {
    let verifier = try ReceiptVerifier(
      trust: TestAuthority.es256().trustAnchors,
      policy: VerificationPolicy(bundleIds: .any, environments: [.sandbox]))
    let consumable = try TestReceipts().signedTransaction {
      $0.type = .consumable
      $0.expiresDate = nil
    }
    let receipt = try #require(verifier.verify(consumable).receipt)
    var granted: [Int64] = []
    func grant(_ product: String?, _ quantity: Int64) { granted.append(quantity) }

    for purchase in receipt.activePurchases(at: SystemClock.now()) {
      grant(purchase.productId, purchase.remainingQuantity(at: SystemClock.now()))
    }

    #expect(granted == [1])
  }

  @Test func markersOfOnesOwn() throws {
    var options = CertificateAuthority.Options(start: TestAuthority.validFrom, days: TestAuthority.leafDays)
    options.leafMarker = "1.3.6.1.4.1.99999.1"
    options.intermediateMarker = "1.3.6.1.4.1.99999.2"
    let identity = try SigningIdentity.create(options)
    let root = identity.chain[2]

    var policy = VerificationPolicy(bundleIds: .any, environments: [.production])
    policy.markers = [CertificateMarkers(leaf: "1.3.6.1.4.1.99999.1", intermediate: "1.3.6.1.4.1.99999.2")]
    let verifier = ReceiptVerifier(trust: TrustAnchors(certificates: [root]), policy: policy)

    var transaction = SampleReceipts.transaction
    transaction.environment = .production
    let receipt = try JWSSigner(identity: identity).sign(.transaction(transaction))
    #expect(verifier.verify(receipt).receipt?.kind == .signedTransaction)
    let apple = ReceiptVerifier(
      trust: TrustAnchors(certificates: [root]),
      policy: VerificationPolicy(bundleIds: .any, environments: [.production]))
    #expect(apple.verify(receipt).receipt == nil)
  }
}
