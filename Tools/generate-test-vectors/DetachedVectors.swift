// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// The vectors of purchases and licences of Google Play and Huawei AppGallery.
struct DetachedVectors {
  private(set) var list = VectorList(
    .googlePlayPurchase, "json", PolicyFlags(trust: [], others: keys(of: "com.example.app", "app-key")))
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

  private static func keys(of app: String, _ name: String) -> [String] {
    ["--play-key", "--huawei-key"].flatMap { [$0, "\(app)=certificates/\(name).txt"] }
  }

  private func facts(_ content: DetachedContent, algorithm: ReceiptAlgorithm? = nil) -> Vector.Facts {
    Vector.Facts(
      environment: content.environment, bundleId: content.packageName, signedAt: content.signedDate,
      algorithm: algorithm ?? (content.store == .googlePlay ? .rsaSHA1 : .rsaSHA256),
      transactions: content.transactions)
  }

  private mutating func addValid() throws {
    list.accept("valid", "RSA with SHA-1.", try signer.sign(google), facts(google))
    list.accept(
      "valid", of: .googlePlayLicense, "A licence response.", try signer.sign(license), facts(license))
    list.accept("valid", of: .huaweiPurchase, "RSA with SHA-256.", try signer.sign(huawei), facts(huawei))
    list.accept(
      "valid-pss", of: .huaweiPurchase, "RSASSA-PSS, which is stated beside the signature.",
      try signer.sign(huawei, usesPSS: true), facts(huawei, algorithm: .rsaPSSSHA256))
    let subscription = DetachedContent.googlePlayPurchase(
      SampleReceipts.googlePlayPurchase.with {
        $0.orderId = nil
        $0.autoRenewing = true
        $0.developerPayload = "{\"user\":\"1\"}"
      })
    list.accept(
      "valid-test-subscription", "A test subscription without an order, its payload JSON itself.",
      try signer.sign(subscription), facts(subscription))
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
    list.accept(
      "valid-order-list", "The form of 2011, with a nonce of 64 bits.", try signer.sign(orders), facts(orders)
    )
    let pending = DetachedContent.googlePlayPurchase(
      SampleReceipts.googlePlayPurchase.with { $0.purchaseState = .pending })
    list.accept(
      "valid-pending", "Genuine, and not paid for: no transaction.", try signer.sign(pending), facts(pending))
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
    list.accept(
      "valid-unity", "As Unity wraps it.",
      object(["Store": .string("GooglePlay"), "TransactionID": .string("1"), "Payload": .string(payload)]),
      facts(google))
    list.accept(
      "valid-cordova", "As Cordova wraps it.",
      object([
        "transaction": .object([
          JSONMember(name: "type", value: .string("android-playstore")),
          JSONMember(name: "receipt", value: data),
          JSONMember(name: "signature", value: signature),
        ])
      ]), facts(google))
    list.refuse(
      "data-parsed", "The data is an object, and no longer the text that was signed.",
      object(["data": try JSONValue(parsing: receipt.signedBytes), "signature": signature]), .malformed)
    list.refuse("signature-missing", "There is no signature.", object(["data": data]), .malformed)
    list.refuse(
      "unsigned", "The signature is empty, as of static test products.",
      object(["data": data, "signature": .string("")]))
    let spaced = Base64.encodeToString(receipt.signature).map { $0 == "+" || $0 == "A" ? " " : String($0) }
      .joined()
    list.refuse(
      "signature-with-spaces", "A space for a plus.", object(["data": data, "signature": .string(spaced)]),
      .malformed)
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
      list.refuse(
        "product-edited", of: kind, "Another product than was signed.",
        try changed(content) { $0.replacing(product, with: "com.example.app.gold") }, .signatureMismatch)
      list.refuse(
        "reserialized", of: kind, "The same JSON value with white space.",
        try changed(content) { $0.replacing(",\"", with: ", \"") }, .signatureMismatch)
      list.refuse(
        "trailing-newline", of: kind, "A line end after the data.", try changed(content) { $0 + "\n" },
        .signatureMismatch)
    }
    list.refuse(
      "code-edited", of: .googlePlayLicense, "A licence that was refused.",
      try changed(license) { "1" + $0.dropFirst() }, .signatureMismatch)
    list.refuse(
      "sha256", "Signed with SHA-256, as Google Play does not.",
      try signer.sign(data: google.encoded(), with: .sha256WithRSA), .signatureMismatch)
    list.refuse(
      "sha1", of: .huaweiPurchase, "Signed with SHA-1, as Huawei does not.",
      try signer.sign(data: huawei.encoded(), with: .sha1WithRSA), .signatureMismatch)
    list.refuse(
      "algorithm-unknown", of: .huaweiPurchase, "An algorithm is stated that Huawei does not use.",
      try signer.sign(data: huawei.encoded(), with: .sha256WithRSA, stating: "MD5WithRSA"),
      .unsupportedAlgorithm)
  }

  private mutating func addPolicies() throws {
    for (kind, content) in [
      (ReceiptKind.googlePlayPurchase, google), (.googlePlayLicense, license), (.huaweiPurchase, huawei),
    ] {
      let receipt = try signer.sign(content)
      list.refuse(
        "key-missing", of: kind, "The policy names no key of the app.", receipt,
        policy: { $0.others = Self.keys(of: "com.example.other", "app-key") })
      list.refuse("wrong-bundle", of: kind, receipt)
    }
    let key = "com.example.app=certificates/other-app-key.txt"
    list.refuse(
      "wrong-key", "Signed by another key than the app's.", try signer.sign(google), .signatureMismatch,
      policy: { $0.others = ["--play-key", key] })
    list.accept(
      "valid-second-key", "The app has two keys.", try signer.sign(google), facts(google),
      policy: { $0.others = ["--play-key", key] + $0.others })
    list.refuse(
      "sha1-refused", "The policy accepts no SHA-1.", try signer.sign(google), .unsupportedAlgorithm,
      policy: { $0.others += ["--algorithm", "RSA-SHA256"] })
    list.refuse("environment-unproven", "Google Play states no environment.", try signer.sign(google))
  }
}
