// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import Testing

@testable import ReceiptVerification

/// Trust by the key of an app, and what a policy requires of purchases of other stores.
@Suite struct DetachedPolicyTests {
  private func key() throws -> PublicKey { try TestKeys.app().publicKey }
  private func otherKey() throws -> PublicKey { try TestKeys.otherRSA().publicKey }

  private func verifier(
    _ keys: AppKeys, _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> ReceiptVerifier {
    try Fixture.verifierOfAllStores {
      $0.appKeys = keys
      change(&$0)
    }
  }

  @Test("the samples are valid, one by one and in batches", arguments: Fixture.detachedKinds)
  func samples(kind: ReceiptKind) async throws {
    let verifier = try Fixture.verifierOfAllStores()
    let receipt = try Fixture.sample(kind)
    for verdict in [verifier.verify(receipt)] + (try await verifier.verify([receipt, receipt])) {
      let valid = expectValid(verdict)
      #expect(valid?.kind == kind)
      #expect(valid?.assurance == .appKey)
      #expect(valid?.signer.rootSHA256 == nil)
      #expect(valid?.bundleId == SampleReceipts.bundleId)
      #expect(valid?.transactions.count == (kind == .googlePlayLicense ? 0 : 1))
      #expect(valid?.isEnvironmentProven == (kind == .huaweiPurchase))
    }
    #expect(verifier.knownSigners.all.count == 1)
  }

  @Test("what a purchase states is in the common model, and nothing else")
  func model() throws {
    let verifier = try Fixture.verifierOfAllStores()
    let google = try #require(verifier.verify(try Fixture.sample(.googlePlayPurchase)).receipt)
    #expect(
      google.transactions == [
        Transaction(
          transactionId: "GPA.1234-5678-9012-34567", productId: "com.example.app.coins", quantity: 1,
          purchaseDate: SampleReceipts.purchasedAt, appAccountToken: "account-1",
          purchaseToken: "abcdefghijklmnopqrstuvwx.AO-J1OzExampleTokenOfATestPurchase")
      ])
    #expect(google.environment == nil)
    #expect(google.signedAt == SampleReceipts.purchasedAt)
    let huawei = try #require(verifier.verify(try Fixture.sample(.huaweiPurchase)).receipt)
    #expect(huawei.transactions.first?.expiresDate == SampleReceipts.expiresAt)
    #expect(huawei.transactions.first?.originalTransactionId == "sub-1")
    #expect(huawei.environment == .sandbox)
    let license = try #require(verifier.verify(try Fixture.sample(.googlePlayLicense)).receipt)
    guard case .detached(.googlePlayLicense(let content)) = license.content else {
      Issue.record("no licence")
      return
    }
    #expect(content.responseCode == .licensed)
    #expect(content.nonce == -1_234_567_890)
    #expect(content.validUntil == SampleReceipts.expiresAt)
  }

  @Test("a purchase that was not paid for is no transaction", arguments: [1, 2, 4, 7] as [Int64])
  func unpaid(state: Int64) throws {
    let receipt = try Fixture.receipts.googlePlayPurchase {
      $0.purchaseState = GooglePlayPurchaseState(rawValue: state)
    }
    #expect(expectValid(try Fixture.verifierOfAllStores().verify(receipt))?.transactions == [])
  }

  @Test("a purchase at Huawei that was not paid for is no transaction", arguments: [1, 2, 3] as [Int64])
  func unpaidAtHuawei(state: Int64) throws {
    let receipt = try Fixture.receipts.huaweiPurchase {
      $0.purchaseState = HuaweiPurchaseState(rawValue: state)
    }
    #expect(expectValid(try Fixture.verifierOfAllStores().verify(receipt))?.transactions == [])
  }

  @Test("an empty order number is none")
  func emptyOrderNumber() throws {
    let receipt = try Fixture.receipts.googlePlayPurchase { $0.orderId = "" }
    let transactions = try #require(
      expectValid(try Fixture.verifierOfAllStores().verify(receipt))?.transactions)
    #expect(transactions.count == 1)
    #expect(transactions.first?.transactionId == nil)
  }

  @Test("without a key of the app the verdict is undetermined", arguments: Fixture.detachedKinds)
  func keyMissing(kind: ReceiptKind) throws {
    let receipt = try Fixture.sample(kind)
    expectUndetermined(try verifier([]).verify(receipt), .keyMissing)
    let other = AppKey(.googlePlay, package: "com.example.other", publicKey: try key())
    let verdict = try verifier([other]).verify(receipt)
    expectUndetermined(verdict, .keyMissing)
    #expect(verdict.kind == kind)
  }

  @Test("malformed data is malformed, although no key of its app is known")
  func malformedWithoutKey() throws {
    let receipt = try UnverifiedDetachedReceipt(
      signedBytes: Array(#"{"packageName":"com.example.app","purchaseTime":"x"}"#.utf8), signature: "AAEC")
    expectInvalid(try verifier([]).verify(receipt.encoded), .malformed, at: "$.purchaseTime")
  }

  @Test("the store whose key the policy has decides, not the unverified data")
  func storeOfTheKey() throws {
    let play = try verifier([AppKey(.googlePlay, package: SampleReceipts.bundleId, publicKey: key())])
    expectInvalid(play.verify(try Fixture.sample(.huaweiPurchase)), .signatureMismatch, at: "$.signature")
    let huawei = try verifier([AppKey(.huawei, package: SampleReceipts.bundleId, publicKey: key())])
    expectInvalid(
      huawei.verify(try Fixture.sample(.googlePlayPurchase)), .signatureMismatch, at: "$.signature")
    // The key of Google Play does not sign for Huawei, though the policy names both.
    let both = try verifier([
      AppKey(.googlePlay, package: SampleReceipts.bundleId, publicKey: key()),
      AppKey(.huawei, package: SampleReceipts.bundleId, publicKey: otherKey()),
    ])
    expectInvalid(both.verify(try Fixture.sample(.huaweiPurchase)), .signatureMismatch, at: "$.signature")
    // A purchase of Google's with a member that until now only Huawei's have.
    let receipt = try Fixture.receipts.googlePlayPurchase {
      $0.unknownFields = [JSONMember(name: "applicationId", value: .integer(1))]
    }
    #expect(expectValid(play.verify(receipt))?.kind == .googlePlayPurchase)
  }

  @Test("an app may have several keys, in any order")
  func rotation() throws {
    let package = SampleReceipts.bundleId
    let receipt = try Fixture.sample(.googlePlayPurchase)
    for keys in [[try key(), try otherKey()], [try otherKey(), try key()]] {
      let verifier = try verifier(AppKeys(keys.map { AppKey(.googlePlay, package: package, publicKey: $0) }))
      // Cold, and from the memory of signers.
      for _ in 0..<2 {
        #expect(
          expectValid(verifier.verify(receipt))?.signer.sha256 == (try key()).sha256FingerprintHex)
      }
      for verdict in verifier.verifyTogether([receipt, receipt, receipt][...]) { expectValid(verdict) }
      #expect(verifier.knownSigners.all.count == 1)
    }
    let wrong = try verifier([AppKey(.googlePlay, package: package, publicKey: try otherKey())])
    expectInvalid(wrong.verify(receipt), .signatureMismatch, at: "$.signature")
  }

  @Test("a key of fewer than 2048 bits counts only where the policy admits it by name")
  func shortKeys() throws {
    let short = try PrivateKey.generateRSA(bits: 1024)
    let receipt = try AppKeySigner(unchecked: SigningIdentity(appKey: short))
      .sign(.googlePlayPurchase(SampleReceipts.googlePlayPurchase))
    let keys: AppKeys = [AppKey(.googlePlay, package: SampleReceipts.bundleId, publicKey: short.publicKey)]
    expectInvalid(try verifier(keys).verify(receipt), .unsupportedAlgorithm)
    expectValid(try verifier(keys) { $0.admitsShortKeys = true }.verify(receipt))
    // Beside a key that is long enough it is passed over.
    var both = keys
    both.insert(AppKey(.googlePlay, package: SampleReceipts.bundleId, publicKey: try key()))
    expectInvalid(try verifier(both).verify(receipt), .signatureMismatch, at: "$.signature")
    expectValid(try verifier(both).verify(try Fixture.sample(.googlePlayPurchase)))
    let elliptic = AppKey(
      .googlePlay, package: SampleReceipts.bundleId, publicKey: try PrivateKey.generateP256().publicKey)
    expectInvalid(
      try verifier([elliptic]) { $0.admitsShortKeys = true }.verify(receipt), .unsupportedAlgorithm)
  }

  @Test("two apps and two stores have memories of their own")
  func memoryOfSigners() throws {
    let other = "com.example.other"
    let verifier = try verifier([
      AppKey(.googlePlay, package: SampleReceipts.bundleId, publicKey: key()),
      AppKey(.googlePlay, package: other, publicKey: key()),
      AppKey(.huawei, package: SampleReceipts.bundleId, publicKey: key()),
    ]) { $0.bundleIds = .any }
    let receipts = try [
      Fixture.sample(.googlePlayPurchase), Fixture.receipts.googlePlayPurchase { $0.packageName = other },
      Fixture.sample(.huaweiPurchase),
    ]
    for _ in 0..<2 {
      let subjects = receipts.map { verifier.verify($0).receipt?.signer.subject }
      #expect(Set(subjects).count == 3 && !subjects.contains(nil))
    }
    #expect(verifier.knownSigners.all.count == 3)
  }

  @Test("a purchase that does not say when it was made is accepted, as nothing of it expires")
  func withoutTime() throws {
    let receipt = try Fixture.receipts.googlePlayPurchase { $0.purchaseTime = nil }
    expectValid(try Fixture.verifierOfAllStores().verify(receipt))
    expectUndetermined(
      try Fixture.verifierOfAllStores { $0.maximumAge = 10 }.verify(receipt), .signingTimeMissing)
  }

  @Test("the key of one app is not the key of another")
  func anotherApp() throws {
    let receipt = try Fixture.receipts.googlePlayPurchase { $0.packageName = "com.example.other" }
    let verifier = try verifier([
      AppKey(.googlePlay, package: SampleReceipts.bundleId, publicKey: try key()),
      AppKey(.googlePlay, package: "com.example.other", publicKey: try otherKey()),
    ])
    let verdict = verifier.verify(receipt)
    expectInvalid(verdict, .signatureMismatch, at: "$.signature")
    #expect(
      verdict.reason?.message.contains("the key of \(SampleReceipts.bundleId) at Google Play made it") == true
    )
  }

  @Test("a signature of another length than the key's says so")
  func signatureLength() throws {
    let receipt = try UnverifiedDetachedReceipt(parsing: try Fixture.sample(.googlePlayPurchase))
    let genuine = receipt.signature
    try #require(genuine.count == 256)
    for signature in [Array(genuine.dropLast(3)), [0] + genuine, genuine + genuine] {
      let changed = try UnverifiedDetachedReceipt(
        signedBytes: receipt.signedBytes, signature: Base64.encodeToString(signature))
      let verdict = try Fixture.verifierOfAllStores().verify(.detached(changed))
      expectInvalid(verdict, .signatureMismatch, at: "$.signature")
      let words =
        "it has \(signature.count) bytes, and the key of \(SampleReceipts.bundleId) makes signatures of 256."
      #expect(verdict.reason?.message.contains(words) == true, "\(String(describing: verdict.reason))")
    }
  }

  @Test("packages are told apart byte for byte, however they are composed")
  func composedPackages() throws {
    let (composed, decomposed) = ("com.example.caf\u{E9}", "com.example.cafe\u{301}")
    let keys = AppKeys([AppKey(.googlePlay, package: composed, publicKey: try key())])
    #expect(keys.keys(of: composed, at: .googlePlay).count == 1)
    #expect(keys.keys(of: decomposed, at: .googlePlay).isEmpty)
  }

  @Test("SHA-1 is accepted for Google alone, reported, and may be refused")
  func sha1() throws {
    let google = try Fixture.sample(.googlePlayPurchase)
    #expect(expectValid(try Fixture.verifierOfAllStores().verify(google))?.signer.involvesSHA1 == true)
    let strict = try Fixture.verifierOfAllStores { $0.algorithms.remove(.rsaSHA1) }
    expectInvalid(strict.verify(google), .unsupportedAlgorithm)
    #expect(
      expectValid(strict.verify(try Fixture.sample(.huaweiPurchase)))?.signer.involvesSHA1 == false)
    let signer = AppKeySigner(unchecked: SigningIdentity(appKey: try TestKeys.app()))
    let data = SampleReceipts.huaweiPurchase.encodedJSON()
    for (algorithm, stated) in [
      (DetachedAlgorithm.sha1WithRSA, nil), (.sha1WithRSA, "SHA1WithRSA"),
      (.sha256WithRSA, "SHA256WithRSA/PSS"),
      (.sha256WithRSAPSS, nil), (.sha256WithRSA, "none"),
    ] {
      let receipt = try signer.sign(data: data, with: algorithm, stating: stated)
      let verdict = try Fixture.verifierOfAllStores().verify(receipt)
      if stated == "SHA1WithRSA" || stated == "none" {
        expectInvalid(verdict, .unsupportedAlgorithm, at: "$.signatureAlgorithm")
      } else {
        expectInvalid(verdict, .signatureMismatch, at: "$.signature")
      }
    }
    let googleData = SampleReceipts.googlePlayPurchase.encodedJSON()
    expectInvalid(
      try Fixture.verifierOfAllStores().verify(
        try signer.sign(data: googleData, with: .sha256WithRSA, stating: "SHA256WithRSA")),
      .unsupportedAlgorithm, at: "$.signatureAlgorithm")
    for stated in ["SHA256WithRSA", "SHA256withRSA", ""] {
      let receipt = try signer.sign(data: data, with: .sha256WithRSA, stating: stated)
      expectValid(try Fixture.verifierOfAllStores().verify(receipt))
    }
  }

  @Test("PSS counts where Huawei states it")
  func pss() throws {
    let receipt = try Fixture.receipts.huaweiPurchase(usesPSS: true)
    let verified = expectValid(try Fixture.verifierOfAllStores().verify(receipt))
    #expect(verified?.signer.algorithm == .rsaPSSSHA256)
    expectInvalid(
      try Fixture.verifierOfAllStores { $0.algorithms.remove(.rsaPSSSHA256) }.verify(receipt),
      .unsupportedAlgorithm)
  }

  @Test("a receipt without a signature is refused, whatever key there is")
  func unsigned() throws {
    let data =
      "{\"orderId\":\"transactionId.android.test.purchased\",\"packageName\":\"com.example.app\","
      + "\"productId\":\"android.test.purchased\",\"purchaseTime\":0,\"purchaseState\":0,"
      + "\"purchaseToken\":\"inapp:com.example.app:android.test.purchased\"}"
    let receipt = JSONValue.object([
      JSONMember(name: "data", value: .string(data)), JSONMember(name: "signature", value: .string("")),
    ]).encoded()
    for verifier in [try Fixture.verifierOfAllStores(), try verifier([])] {
      expectInvalid(verifier.verify(receipt), .unsigned, at: "$.signature")
    }
  }

  @Test("Google states no environment: proven for no policy of production alone")
  func environment() throws {
    let production = try Fixture.verifierOfAllStores { $0.environments = [.production] }
    expectUndetermined(
      production.verify(try Fixture.sample(.googlePlayPurchase)), .environmentUnproven)
    expectInvalid(production.verify(try Fixture.sample(.huaweiPurchase)), .wrongEnvironment)
    let real = try Fixture.receipts.huaweiPurchase { $0.purchaseType = nil }
    #expect(expectValid(production.verify(real))?.environment == .production)
  }

  @Test("kind, app and age are required as of other kinds", arguments: Fixture.detachedKinds)
  func policy(kind: ReceiptKind) throws {
    let receipt = try Fixture.sample(kind)
    expectInvalid(try Fixture.verifierOfAllStores { $0.kinds.remove(kind) }.verify(receipt), .wrongKind)
    expectInvalid(
      try Fixture.verifierOfAllStores { $0.bundleIds = .oneOf(["com.example.other"]) }.verify(receipt),
      .wrongBundle)
    expectInvalid(try Fixture.verifierOfAllStores { $0.maximumAge = 1 }.verify(receipt), .tooOld)
    expectInvalid(
      try Fixture.verifierOfAllStores { $0.timeRule = .at(Timestamp(secondsSince1970: 1)) }.verify(receipt),
      .signedInFuture)
  }

  @Test("an order list is of one app, and needs one order")
  func orderLists() throws {
    let signer = AppKeySigner(unchecked: SigningIdentity(appKey: try TestKeys.app()))
    let verifier = try Fixture.verifierOfAllStores()
    func list(_ orders: [GooglePlayPurchase]) throws -> [UInt8] {
      let list = GooglePlayOrderList(orders: orders).with { $0.nonce = .min }
      return try signer.sign(data: list.encodedJSON(), with: .sha1WithRSA)
    }
    let order = SampleReceipts.googlePlayPurchase
    let receipt = try #require(expectValid(verifier.verify(try list([order, order]))))
    #expect(receipt.transactions.count == 2)
    let unpaid = order.with { $0.purchaseState = GooglePlayPurchaseState(rawValue: 1) }
    #expect(expectValid(verifier.verify(try list([order, unpaid])))?.transactions.count == 1)
    guard case .detached(.googlePlayOrders(let content)) = receipt.content else {
      Issue.record("no order list")
      return
    }
    #expect(content.nonce == .min)
    expectInvalid(verifier.verify(try list([])), .malformed, at: "$.orders[0].packageName")
    let foreign = order.with { $0.packageName = "com.example.other" }
    expectInvalid(verifier.verify(try list([order, foreign])), .malformed, at: "$.orders[1].packageName")
  }

  @Test("no bit of a receipt that is signed here may change", arguments: Fixture.detachedKinds)
  func sweep(kind: ReceiptKind) async throws {
    let sample = try Fixture.sample(kind)
    let sweep = Sweep(verifier: try Fixture.verifierOfAllStores(), sample: sample)
    expectValid(sweep.verifier.verify(sample))
    // JSON has several spellings of one string, such as escapes; whatever is accepted is the same receipt.
    let flips = await sweep.acceptedFlips()
    #expect(flips.allSatisfy { $0.change == nil })
    #expect(await sweep.acceptedTruncations() == [])
  }
}
