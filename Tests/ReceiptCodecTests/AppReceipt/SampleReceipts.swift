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

  static let purchase = InAppPurchase(
    transaction: transaction, productType: .autoRenewableSubscription,
    webOrderLineItemId: 2_000_000_040_552_616, isTrialPeriod: true, isInIntroOfferPeriod: false,
    promotionalOfferId: "spring",
    additionalAttributes: [AppReceiptAttribute(type: 1709, value: [0x0C, 0x00])])

  static let payload = AppReceiptPayload(
    environment: .productionSandbox, appAppleId: 1_234_567_890, bundleId: "com.example.app",
    applicationVersion: "1.2.3", opaqueValue: Array(0..<16), sha1Hash: Array(20..<40),
    transactionDate: date, fulfillmentToolVersion: 1, ageRating: "4+", developerId: 42,
    receiptCreationDate: Timestamp(millisecondsSince1970: 1_700_000_000_131), downloadId: 77,
    installerVersion: 5,
    inAppPurchases: [purchase, InAppPurchase(transaction: Transaction(transactionId: "7"))],
    originalPurchaseDate: date.addingSeconds(-100_000), originalApplicationVersion: "1.0",
    expirationDate: Timestamp(secondsSince1970: 64_092_211_200),
    additionalAttributes: [AppReceiptAttribute(type: 9999, version: 3, value: [1, 2, 3])])

  /// An empty certificate, and an empty name, as far as this codec looks.
  static let certificate: [UInt8] = [0x30, 0x03, 0x02, 0x01, 0x05]
  static let name: [UInt8] = [0x30, 0x00]

  static func container(of content: [UInt8]) -> CMSSignedData {
    CMSSignedData(
      content: content[...], digestAlgorithm: CMSSignedData.sha256,
      certificates: [certificate[...], certificate[...]], issuer: name[...], serialNumber: [0x05],
      signature: [0xDE, 0xAD])
  }

  static let appReceipt: [UInt8] = container(of: payload.encoded()).encoded()

  static let purchaseInfo = TransactionReceiptPurchaseInfo(
    bundleId: "com.example.app", applicationVersion: "1.2.3", itemId: "123", appItemId: "456",
    versionExternalIdentifier: "0", uniqueIdentifier: "00008110-0014551C0C6B801E",
    uniqueVendorIdentifier: "E098713E-B423-4C53-89F0-42C4BAE20CC4", webOrderLineItemId: "1000",
    transaction: Transaction(
      transactionId: "2000000000000002", originalTransactionId: "2000000000000001",
      productId: "com.example.app.gold", quantity: 3,
      purchaseDate: Timestamp(millisecondsSince1970: 1_700_000_000_131), originalPurchaseDate: date,
      expiresDate: date.addingSeconds(2_592_000)),
    additionalEntries: [PropertyList.Entry(key: "is-trial-period", value: "false")])

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
