// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning

/// Receipts around any content, signed by an identity that is trusted.
enum SignedReceipts {
  static func jws(payload: [UInt8]) -> [UInt8] {
    mustSucceed("cannot sign") { try jwsSigner.sign(encodedPayload: payload) }
  }

  static func appReceipt(content: [UInt8]) -> [UInt8] {
    let leaf = Identities.rsa.chain[0]
    let signature = mustSucceed("cannot sign") {
      try Identities.rsa.privateKey.signature(for: content, using: .rsaPKCS1v15(.sha256))
    }
    return CMSSignedData(
      content: content[...], digestAlgorithm: "2.16.840.1.101.3.4.2.1",
      certificates: Identities.rsa.chain.map { $0.der[...] }, issuer: leaf.issuerDER[...],
      serialNumber: leaf.serialNumber[...], signature: signature[...]
    ).encoded()
  }

  static func transactionReceipt(purchaseInfo: [UInt8]) -> [UInt8]? {
    let signed = TransactionReceiptWriter.signedBytes(signatureVersion: 4, purchaseInfo: purchaseInfo)
    let signature = mustSucceed("cannot sign") {
      try Identities.rsa.privateKey.signature(for: signed, using: .rsaPKCS1v15(.sha256))
    }
    return try? TransactionReceiptWriter.encode(
      signatureVersion: 4, signature: signature, leafCertificate: Identities.rsa.chain[0].der,
      purchaseInfo: purchaseInfo, environment: .sandbox)
  }

  static let validJWS = jws(
    payload: Array(
      """
      {"transactionId":"2","originalTransactionId":"1","bundleId":"com.example.app","productId":"gems",\
      "purchaseDate":1700000000000,"quantity":1,"type":"Consumable","signedDate":1700000000500,\
      "environment":"Production"}
      """.utf8))

  static let validAppReceipt: [UInt8] = {
    let purchased = Timestamp(secondsSince1970: 1_700_000_000)
    let payload = AppReceiptPayload().with {
      $0.environment = .production
      $0.appAppleId = 1
      $0.bundleId = "com.example.app"
      $0.applicationVersion = "1"
      $0.receiptCreationDate = purchased
      $0.inAppPurchases = [
        InAppPurchase(
          transaction: Transaction(
            transactionId: "2", originalTransactionId: "1", productId: "gems", quantity: 1,
            purchaseDate: purchased))
      ]
    }
    return appReceipt(content: payload.encoded())
  }()

  static let validTransactionReceipt: [UInt8] = {
    let info = TransactionReceiptPurchaseInfo(
      transaction: Transaction(
        transactionId: "2", originalTransactionId: "1", productId: "gems", quantity: 1,
        purchaseDate: Timestamp(secondsSince1970: 1_700_000_000))
    ).with {
      $0.bundleId = "com.example.app"
    }
    return transactionReceipt(purchaseInfo: info.encoded()) ?? []
  }()

  private static let jwsSigner = mustSucceed("no signer") { try JWSSigner(identity: Identities.p256) }
}
