// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes

@testable import ReceiptCodec

/// Well-formed receipts that nobody signed: what the codec alone needs.
enum SampleReceipts {
  static let date = Timestamp(secondsSince1970: 1_700_000_000)

  static let transaction = Transaction(
    transactionId: "2000000000000002", originalTransactionId: "2000000000000001",
    productId: "com.example.app.gold", quantity: 3, purchaseDate: date,
    originalPurchaseDate: date.addingSeconds(-86_400), expiresDate: date.addingSeconds(2_592_000),
    revocationDate: date.addingSeconds(3_600))

  static let purchase = InAppPurchase(transaction: transaction).with {
    $0.productType = .autoRenewableSubscription
    $0.webOrderLineItemId = 2_000_000_040_552_616
    $0.isTrialPeriod = true
    $0.isInIntroOfferPeriod = false
    $0.promotionalOfferId = "spring"
    $0.additionalAttributes = [AppReceiptAttribute(type: 1709, value: [0x0C, 0x00])]
  }

  static let payload = AppReceiptPayload().with {
    $0.environment = .productionSandbox
    $0.appAppleId = 1_234_567_890
    $0.bundleId = "com.example.app"
    $0.applicationVersion = "1.2.3"
    $0.opaqueValue = Array(0..<16)
    $0.sha1Hash = Array(20..<40)
    $0.transactionDate = date
    $0.fulfillmentToolVersion = 1
    $0.ageRating = "4+"
    $0.developerId = 42
    $0.receiptCreationDate = Timestamp(millisecondsSince1970: 1_700_000_000_131)
    $0.downloadId = 77
    $0.installerVersion = 5
    $0.inAppPurchases = [purchase, InAppPurchase(transaction: Transaction(transactionId: "7"))]
    $0.originalPurchaseDate = date.addingSeconds(-100_000)
    $0.originalApplicationVersion = "1.0"
    $0.expirationDate = Timestamp(secondsSince1970: 64_092_211_200)
    $0.additionalAttributes = [AppReceiptAttribute(type: 9999, version: 3, value: [1, 2, 3])]
  }

  /// An empty certificate, and an empty name, as far as this codec looks.
  static let certificate: [UInt8] = [0x30, 0x03, 0x02, 0x01, 0x05]
  static let name: [UInt8] = [0x30, 0x00]

  static func container(of content: [UInt8]) -> CMSSignedData {
    CMSSignedData(
      content: content[...], digestAlgorithm: ObjectIdentifiers.sha256,
      certificates: [certificate[...], certificate[...]], issuer: name[...], serialNumber: [0x05],
      signature: [0xDE, 0xAD])
  }

  static let appReceipt: [UInt8] = container(of: payload.encoded()).encoded()

  static let purchaseInfo = TransactionReceiptPurchaseInfo(
    transaction: Transaction(
      transactionId: "2000000000000002", originalTransactionId: "2000000000000001",
      productId: "com.example.app.gold", quantity: 3,
      purchaseDate: Timestamp(millisecondsSince1970: 1_700_000_000_131), originalPurchaseDate: date,
      expiresDate: date.addingSeconds(2_592_000))
  ).with {
    $0.bundleId = "com.example.app"
    $0.applicationVersion = "1.2.3"
    $0.itemId = "123"
    $0.appItemId = "456"
    $0.versionExternalIdentifier = "0"
    $0.uniqueIdentifier = "00008110-0014551C0C6B801E"
    $0.uniqueVendorIdentifier = "E098713E-B423-4C53-89F0-42C4BAE20CC4"
    $0.webOrderLineItemId = "1000"
    $0.additionalEntries = [PropertyList.Entry(key: "is-trial-period", value: "false")]
  }

  static func transactionReceipt(version: UInt8 = 3) throws -> [UInt8] {
    try TransactionReceiptWriter.encode(
      signatureVersion: version, signature: [UInt8](repeating: 0xAB, count: version == 2 ? 128 : 256),
      leafCertificate: certificate, purchaseInfo: purchaseInfo.encoded(), environment: .sandbox)
  }

  static let jws: [UInt8] = {
    let header = Base64URL.encodeToString(Array(#"{"alg":"ES256","x5c":["MAMCAQU="]}"#.utf8))
    let payload = Base64URL.encodeToString(
      Array(#"{"transactionId":"1","productId":"p","bundleId":"b","purchaseDate":1700000000000}"#.utf8))
    return Array("\(header).\(payload).AAEC".utf8)
  }()
}
