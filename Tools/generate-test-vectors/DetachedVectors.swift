// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// The vectors of purchases and licences of Google Play and Huawei AppGallery.
struct DetachedVectors {
  private(set) var vectors: [Vector] = []
  private let signer: AppKeySigner
  private let google = DetachedContent.googlePlayPurchase(SampleReceipts.googlePlayPurchase)
  private let huawei = DetachedContent.huaweiPurchase(SampleReceipts.huaweiPurchase)
  private let license = DetachedContent.googlePlayLicense(SampleReceipts.googlePlayLicense)

  init() throws {
    signer = try AppKeySigner(identity: SigningIdentity(appKey: TestKeys.app()))
    try addValid()
    try addForms()
    try addSignatures()
    try addPolicies()
  }

  private mutating func add(
    _ kind: ReceiptKind, _ name: String, _ summary: String, _ contents: [UInt8],
    policy: PolicyFlags = .appKeys,
    _ expectation: Vector.Expectation
  ) {
    vectors.append(
      Vector(
        kind: kind, name: name, fileExtension: "json", summary: summary, contents: contents, policy: policy,
        expectation: expectation))
  }

  private func facts(_ content: DetachedContent, algorithm: ReceiptAlgorithm? = nil) -> Vector.Facts {
    Vector.Facts(
      environment: content.environment, bundleId: content.packageName, signedAt: content.signedDate,
      algorithm: algorithm ?? (content.store == .googlePlay ? .rsaSHA1 : .rsaSHA256),
      transactions: content.transactions)
  }

  private mutating func addValid() throws {
    add(.googlePlayPurchase, "valid", "RSA with SHA-1.", try signer.sign(google), .valid(facts(google)))
    add(.googlePlayLicense, "valid", "A licence response.", try signer.sign(license), .valid(facts(license)))
    add(.huaweiPurchase, "valid", "RSA with SHA-256.", try signer.sign(huawei), .valid(facts(huawei)))
    add(
      .huaweiPurchase, "valid-pss", "RSASSA-PSS, which is stated beside the signature.",
      try signer.sign(huawei, usesPSS: true), .valid(facts(huawei, algorithm: .rsaPSSSHA256)))
    let subscription = DetachedContent.googlePlayPurchase(
      SampleReceipts.googlePlayPurchase.with {
        $0.orderId = nil
        $0.autoRenewing = true
        $0.developerPayload = "{\"user\":\"1\"}"
      })
    add(
      .googlePlayPurchase, "valid-test-subscription",
      "A test subscription without an order, its payload JSON itself.",
      try signer.sign(subscription), .valid(facts(subscription)))
    let orders = DetachedContent.googlePlayOrders(
      GooglePlayOrderList(orders: [
        SampleReceipts.googlePlayPurchase.with {
          $0.purchaseToken = nil
          $0.quantity = nil
          $0.acknowledged = nil
          $0.obfuscatedAccountId = nil
          $0.notificationId = "-6441531684346654540"
        }
      ]).with { $0.nonce = -5_465_853_498_583_976_126 })
    add(
      .googlePlayPurchase, "valid-order-list", "The form of 2011, with a nonce of 64 bits.",
      try signer.sign(orders),
      .valid(facts(orders)))
    let pending = DetachedContent.googlePlayPurchase(
      SampleReceipts.googlePlayPurchase.with { $0.purchaseState = .pending })
    add(
      .googlePlayPurchase, "valid-pending", "Genuine, and not paid for: no transaction.",
      try signer.sign(pending),
      .valid(facts(pending)))
  }

  /// Adds other wrappings, and forms that are not valid wrappings.
  private mutating func addForms() throws {
    let receipt = try UnverifiedDetachedReceipt(parsing: signer.sign(google))
    let data = JSONValue.string(String(decoding: receipt.signedBytes, as: UTF8.self))
    let signature = JSONValue.string(Base64.encodeToString(receipt.signature))
    func object(_ members: KeyValuePairs<String, JSONValue>) -> [UInt8] {
      JSONValue.object(members.map { JSONMember(name: $0.key, value: $0.value) }).encoded()
    }
    let payload = String(decoding: object(["json": data, "signature": signature]), as: UTF8.self)
    add(
      .googlePlayPurchase, "valid-unity", "As Unity wraps it.",
      object(["Store": .string("GooglePlay"), "TransactionID": .string("1"), "Payload": .string(payload)]),
      .valid(facts(google)))
    add(
      .googlePlayPurchase, "valid-cordova", "As Cordova wraps it.",
      object([
        "transaction": .object([
          JSONMember(name: "type", value: .string("android-playstore")),
          JSONMember(name: "receipt", value: data),
          JSONMember(name: "signature", value: signature),
        ])
      ]), .valid(facts(google)))
    add(
      .googlePlayPurchase, "data-parsed", "The data is an object, and no longer the text that was signed.",
      object(["data": try JSONValue(parsing: receipt.signedBytes), "signature": signature]),
      .invalid(.malformed))
    add(
      .googlePlayPurchase, "signature-missing", "There is no signature.", object(["data": data]),
      .invalid(.malformed))
    add(
      .googlePlayPurchase, "unsigned", "The signature is empty, as of static test products.",
      object(["data": data, "signature": .string("")]), .invalid(.unsigned))
    let spaced = Base64.encodeToString(receipt.signature).map { $0 == "+" || $0 == "A" ? " " : String($0) }
      .joined()
    add(
      .googlePlayPurchase, "signature-with-spaces", "A space for a plus.",
      object(["data": data, "signature": .string(spaced)]), .invalid(.malformed))
  }

  private mutating func addSignatures() throws {
    func changed(_ content: DetachedContent, _ change: (String) -> String) throws -> [UInt8] {
      let receipt = try UnverifiedDetachedReceipt(parsing: signer.sign(content))
      return try UnverifiedDetachedReceipt(
        signedBytes: Array(change(String(decoding: receipt.signedBytes, as: UTF8.self)).utf8),
        signature: Base64.encodeToString(receipt.signature)
      ).encoded
    }
    for (kind, content, product) in [
      (ReceiptKind.googlePlayPurchase, google, "com.example.app.coins"),
      (.huaweiPurchase, huawei, "com.example.app.monthly"),
    ] {
      add(
        kind, "product-edited", "Another product than was signed.",
        try changed(content) { $0.replacing(product, with: "com.example.app.gold") },
        .invalid(.signatureMismatch))
      add(
        kind, "reserialized", "The same JSON value with white space.",
        try changed(content) { $0.replacing(",\"", with: ", \"") }, .invalid(.signatureMismatch))
      add(
        kind, "trailing-newline", "A line end after the data.", try changed(content) { $0 + "\n" },
        .invalid(.signatureMismatch))
    }
    add(
      .googlePlayLicense, "code-edited", "A licence that was refused.",
      try changed(license) { "1" + $0.dropFirst() }, .invalid(.signatureMismatch))
    add(
      .googlePlayPurchase, "sha256", "Signed with SHA-256, as Google Play does not.",
      try signer.sign(data: google.encoded(), with: .sha256WithRSA), .invalid(.signatureMismatch))
    add(
      .huaweiPurchase, "sha1", "Signed with SHA-1, as Huawei does not.",
      try signer.sign(data: huawei.encoded(), with: .sha1WithRSA), .invalid(.signatureMismatch))
    add(
      .huaweiPurchase, "algorithm-unknown", "An algorithm is stated that Huawei does not use.",
      try signer.sign(data: huawei.encoded(), with: .sha256WithRSA, stating: "MD5WithRSA"),
      .invalid(.unsupportedAlgorithm))
  }

  private mutating func addPolicies() throws {
    let other = PolicyFlags.appKeys.with {
      $0.others = [
        "--play-key", "com.example.other=certificates/app-key.txt", "--huawei-key",
        "com.example.other=certificates/app-key.txt",
      ]
    }
    for (kind, content) in [
      (ReceiptKind.googlePlayPurchase, google), (.googlePlayLicense, license), (.huaweiPurchase, huawei),
    ] {
      let receipt = try signer.sign(content)
      add(
        kind, "key-missing", "The policy names no key of the app.", receipt, policy: other,
        .undetermined(.keyMissing))
      add(
        kind, "wrong-bundle", "A good receipt of another app.", receipt,
        policy: .appKeys.with { $0.bundleIds = ["com.example.other"] }, .invalid(.wrongBundle))
    }
    let key = "com.example.app=certificates/other-app-key.txt"
    add(
      .googlePlayPurchase, "wrong-key", "Signed by another key than the app's.", try signer.sign(google),
      policy: .appKeys.with { $0.others = ["--play-key", key] }, .invalid(.signatureMismatch))
    add(
      .googlePlayPurchase, "valid-second-key", "The app has two keys.", try signer.sign(google),
      policy: .appKeys.with { $0.others = ["--play-key", key] + $0.others }, .valid(facts(google)))
    add(
      .googlePlayPurchase, "sha1-refused", "The policy accepts no SHA-1.", try signer.sign(google),
      policy: .appKeys.adding("--algorithm", "RSA-SHA256"), .invalid(.unsupportedAlgorithm))
    add(
      .googlePlayPurchase, "environment-unproven", "Google Play states no environment.",
      try signer.sign(google),
      policy: .appKeys.with { $0.environments = ["production"] }, .undetermined(.environmentUnproven))
  }
}

extension PolicyFlags {
  static let appKeys = PolicyFlags(
    trust: [],
    others: [
      "--play-key", "com.example.app=certificates/app-key.txt", "--huawei-key",
      "com.example.app=certificates/app-key.txt",
    ])
}
