// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import Testing

@Suite struct ReceiptInputTests {
  private func sign(_ json: String, as kind: ReceiptKind) throws -> [UInt8] {
    let isRSA = kind == .appReceipt || kind == .transactionReceipt
    let identity = try (isRSA ? TestIdentities.rsa : TestIdentities.es256).get()
    return try ReceiptSigner(identity: identity)
      .sign(ReceiptInput(decoding: Array(json.utf8), as: kind, signedAt: testStart))
  }

  private func payload(_ json: String, as kind: ReceiptKind) throws -> JWSPayload {
    try UnverifiedJWS(parsing: sign(json, as: kind)).decoded().content
  }

  private func error(_ json: String, as kind: ReceiptKind) -> SigningError? {
    signingError { () throws(SigningError) in
      try ReceiptInput(decoding: Array(json.utf8), as: kind, signedAt: testStart)
    }
  }

  private let transaction =
    #""bundleId":"com.example.app","productId":"coins","transactionId":"1000","purchaseDate":1759276800000"#

  @Test func aTransactionIsSignedWithUnknownFieldsAndTheSigningDateFilledIn() throws {
    let json = """
      {"bundleId": "com.example.app", "productId": "coins", "transactionId": "1000",
       "purchaseDate": "2025-10-01T07:09:12.5+02:00", "novelty": {"a": [1, 2.50]}}
      """
    guard case .transaction(let payload) = try payload(json, as: .signedTransaction) else {
      Issue.record("not a transaction")
      return
    }
    #expect(payload.purchaseDate == Timestamp(millisecondsSince1970: 1_759_295_352_500))
    #expect(payload.signedDate == testStart)
    #expect(payload.unknownFields.map(\.name) == ["novelty"])
    #expect(payload.unknownFields.first?.value["a"]?.array?.count == 2)
  }

  @Test func aSigningDateThatIsGivenIsKept() throws {
    let payload = try payload(#"{\#(transaction),"signedDate":1700000000000}"#, as: .signedTransaction)
    #expect(payload.signedDate == Timestamp(secondsSince1970: 1_700_000_000))
    let input = try ReceiptInput(
      decoding: Array(#"{\#(transaction),"signedDate":null}"#.utf8), as: .signedTransaction,
      signedAt: testStart)
    #expect(input.signedAt == testStart)
  }

  @Test(arguments: ["bundleId", "productId", "transactionId"])
  func whatATransactionCannotDoWithoutIsNamed(field: String) {
    let json = "{\(transaction)}".replacing("\"\(field)\"", with: "\"x\"")
    for kind in [ReceiptKind.signedTransaction, .transactionReceipt] {
      let error = error(json, as: kind)
      if kind == .signedTransaction {
        #expect(error?.code == .missingField)
        #expect(error?.place == "$.\(field)")
      } else {
        // Here the unknown name is found first.
        #expect(error?.code == .unknownField)
        #expect(error?.place == "$.x")
      }
    }
  }

  @Test(arguments: [
    (ReceiptKind.signedRenewalInfo, #"{"productId":"p"}"#, "$.originalTransactionId"),
    (.signedRenewalInfo, #"{"productId":"p","originalTransactionId":"1"}"#, "$.autoRenewStatus"),
    (.signedAppTransaction, #"{"receiptType":"Sandbox"}"#, "$.bundleId"),
    (.signedAppTransaction, #"{"bundleId":"b","applicationVersion":"1"}"#, "$.receiptType"),
    (.signedNotification, #"{"data":{}}"#, "$.notificationType"),
    (.signedNotification, #"{"notificationType":"TEST","notificationUUID":"u"}"#, "$.data"),
    (.signedRealtimeRequest, #"{"appAppleId":1}"#, "$.originalTransactionId"),
    (.appReceipt, #"{"applicationVersion":"1"}"#, "$.bundleId"),
    (
      .appReceipt,
      #"{"bundleId":"b","applicationVersion":"1","inApp":[{"productId":"p","quantity":1}]}"#,
      "$.inApp[0].transactionId"
    ),
    (.transactionReceipt, #"{"bundleId":"b"}"#, "$.productId"),
    (.transactionReceipt, #"{"bundleId":"b","productId":"p","transactionId":"1"}"#, "$.purchaseDate"),
  ])
  func whatAKindCannotDoWithoutIsNamed(kind: ReceiptKind, json: String, place: String) {
    let error = error(json, as: kind)
    #expect(error?.code == .missingField)
    #expect(error?.place == place)
  }

  @Test(arguments: [
    (#"{"bundleId":"b","applicationVersion":"1","bundelId":"x"}"#, "$.bundelId"),
    (
      #"{"bundleId":"b","applicationVersion":"1","inApp":[{"prodctId":"p"}]}"#, "$.inApp[0].prodctId"
    ),
  ])
  func aTypoInAnAppReceiptDoesNotVanish(json: String, place: String) {
    let error = error(json, as: .appReceipt)
    #expect(error?.code == .unknownField)
    #expect(error?.place == place)
  }

  @Test(arguments: [
    (ReceiptKind.signedTransaction, "[]", "$"),
    (
      .signedTransaction, #"{"bundleId":7,"productId":"p","transactionId":"1","purchaseDate":1}"#,
      "$.bundleId"
    ),
    (
      .signedTransaction, #"{"bundleId":"b","productId":"p","transactionId":"1","purchaseDate":"today"}"#,
      "$.purchaseDate"
    ),
    (.appReceipt, #"{"bundleId":"b","applicationVersion":1}"#, "$.applicationVersion"),
    (
      .appReceipt, #"{"bundleId":"b","applicationVersion":"1","receiptCreationDate":"now"}"#,
      "$.receiptCreationDate"
    ),
    (.appReceipt, #"{"bundleId":"b","applicationVersion":"1","deviceId":"x"}"#, "$.deviceId"),
    (.appReceipt, #"{"bundleId":"b","applicationVersion":"1","inApp":[1]}"#, "$.inApp[0]"),
    (
      .appReceipt, #"{"bundleId":"b","applicationVersion":"1","inApp":[{"quantity":"x"}]}"#,
      "$.inApp[0].quantity"
    ),
    (
      .appReceipt,
      #"{"bundleId":"b","applicationVersion":"1","inApp":[{"bundleId":"c","productId":"p","transactionId":"1","purchaseDate":1}]}"#,
      "$.inApp[0].bundleId"
    ),
    (
      .appReceipt, #"{"bundleId":"b","applicationVersion":"1","expirationDate":253402300800000}"#,
      "$.expirationDate"
    ),
    (
      .appReceipt,
      #"{"bundleId":"b","applicationVersion":"1","inApp":[{"productId":"p","transactionId":"1","purchaseDate":1e15}]}"#,
      "$.inApp[0].purchaseDate"
    ),
    (.transactionReceipt, #"{"version":2}"#, "$.version"),
    (.transactionReceipt, #"{"applicationVersion":"1","bvrs":"1"}"#, "$.bvrs"),
  ])
  func aValueThatIsWrongIsNamedByItsPath(kind: ReceiptKind, json: String, place: String) {
    let error = error(json, as: kind)
    #expect(error?.code == .malformedInput)
    #expect(error?.place == place)
  }

  @Test func brokenJSONIsReportedWithItsOffset() {
    let error = error(#"{"bundleId": }"#, as: .appReceipt)
    #expect(error?.code == .malformedInput)
    #expect(error?.place == "byte 13 of the JSON document")
  }

  @Test func anAppReceiptIsWrittenFromJWSNames() throws {
    let json = """
      {"bundleId": "com.example.app", "applicationVersion": "2.1", "originalApplicationVersion": "1.0",
       "receiptCreationDate": "2025-10-01T07:09:12Z", "environment": "Sandbox", "appAppleId": 0,
       "originalPurchaseDate": 1759276800000, "expirationDate": "2030-01-01T00:00:00Z",
       "deviceId": "00010203-0405-0607-0809-0a0b0c0d0e0f",
       "inApp": [
         {"transactionId": "1001", "originalTransactionId": "1000", "productId": "monthly", "quantity": 1,
          "purchaseDate": "2025-10-01T07:09:12Z", "originalPurchaseDate": 1759276800000,
          "expiresDate": "2025-11-01T07:09:12Z", "revocationDate": "2025-10-02T00:00:00Z",
          "webOrderLineItemId": "77", "type": "Auto-Renewable Subscription", "offerType": 1,
          "offerDiscountType": "FREE_TRIAL", "bundleId": "com.example.app", "price": 1990, "currency": "USD"},
         {"transactionId": "1002", "productId": "coins", "purchaseDate": 1759276800000, "offerType": 2,
          "offerIdentifier": "autumn"}]}
      """
    let payload = try UnverifiedAppReceipt(parsing: sign(json, as: .appReceipt)).decoded().content
    #expect(payload.environment == .productionSandbox)
    #expect(payload.receiptCreationDate == Timestamp(secondsSince1970: 1_759_302_552))
    #expect(payload.appAppleId == 0 && payload.originalApplicationVersion == "1.0")
    #expect(payload.sha1Hash?.count == 20 && payload.opaqueValue?.count == 16)
    try #require(payload.inAppPurchases.count == 2)
    let purchases = payload.inAppPurchases.sorted { ($0.transactionId ?? "") < ($1.transactionId ?? "") }
    #expect(
      purchases[0].transaction
        == Transaction(
          transactionId: "1001", originalTransactionId: "1000", productId: "monthly", quantity: 1,
          purchaseDate: Timestamp(secondsSince1970: 1_759_302_552), originalPurchaseDate: testStart,
          expiresDate: Timestamp(secondsSince1970: 1_761_980_952),
          revocationDate: Timestamp(secondsSince1970: 1_759_363_200), type: .autoRenewableSubscription,
          offerType: .introductory, offerDiscountType: .freeTrial))
    #expect(purchases[0].webOrderLineItemId == 77)
    #expect(purchases[0].productType == .autoRenewableSubscription)
    #expect(purchases[0].isTrialPeriod == true && purchases[0].isInIntroOfferPeriod == false)
    #expect(purchases[1].promotionalOfferId == "autumn" && purchases[1].isTrialPeriod == nil)
  }

  @Test func anAppReceiptWithoutADateIsDatedNow() throws {
    let receipt = try sign(#"{"bundleId":"b","applicationVersion":"1"}"#, as: .appReceipt)
    let payload = try UnverifiedAppReceipt(parsing: receipt).decoded().content
    #expect(payload.receiptCreationDate == testStart)
    #expect(payload.sha1Hash == nil)
  }

  @Test func aTransactionReceiptIsWrittenFromJWSNames() throws {
    let json = """
      {"bundleId": "com.example.app", "bvrs": "2.1", "productId": "coins", "transactionId": "1000",
       "originalTransactionId": "1000", "quantity": 2, "purchaseDate": 1759276800123,
       "originalPurchaseDate": "2025-10-01T00:00:00Z", "expiresDate": 1761955200000,
       "webOrderLineItemId": "5", "environment": "Sandbox", "version": 3, "appAppleId": 12,
       "inAppOwnershipType": "PURCHASED", "isTrialPeriod": false, "price": 990}
      """
    let receipt = try UnverifiedTransactionReceipt(parsing: sign(json, as: .transactionReceipt))
    #expect(receipt.signatureVersion == 3)
    #expect(receipt.claimedEnvironment == .sandbox)
    let info = try receipt.decoded().content
    #expect(info.bundleId == "com.example.app" && info.applicationVersion == "2.1" && info.appItemId == "12")
    #expect(info.quantity == 2 && info.webOrderLineItemId == "5")
    #expect(info.purchaseDate == Timestamp(millisecondsSince1970: 1_759_276_800_123))
    #expect(info.expiresDate == Timestamp(secondsSince1970: 1_761_955_200))
    #expect(info.additionalEntries.map(\.key) == ["is-trial-period", "in-app-ownership-type"])
    let plain = try UnverifiedTransactionReceipt(parsing: sign("{\(transaction)}", as: .transactionReceipt))
    #expect(plain.signatureVersion == 4 && !plain.hasEnvironmentKey)
  }

  @Test func theSignedPartsOfANotificationMayBeObjects() throws {
    let json = """
      {"notificationType": "SUBSCRIBED", "notificationUUID": "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11",
       "version": "2.0", "signedDate": "2025-10-01T07:09:12Z",
       "data": {"bundleId": "com.example.app", "environment": "Sandbox",
         "signedTransactionInfo": {\(transaction), "environment": "Sandbox"},
         "signedRenewalInfo": {"originalTransactionId": "1000", "productId": "coins", "autoRenewStatus": 1}}}
      """
    guard case .notification(let notification) = try payload(json, as: .signedNotification) else {
      Issue.record("not a notification")
      return
    }
    let key = try TestIdentities.es256.get().privateKey.publicKey
    for nested in [notification.data?.signedTransactionInfo, notification.data?.signedRenewalInfo] {
      let jws = Array(try #require(nested).utf8)
      let parsed = try UnverifiedJWS(parsing: jws)
      #expect(
        try key.isValidSignature(
          parsed.signature, for: Array(jws[parsed.signingInputRange]), using: .ecdsaP256SHA256))
      // Undated parts bear the notification's date.
      #expect(try parsed.decoded().content.signedDate == Timestamp(secondsSince1970: 1_759_302_552))
    }
    #expect(notification.data?.bundleId == "com.example.app")
  }

  @Test func aFaultInsideASignedPartHasTheWholePath() {
    let json = """
      {"notificationType": "REFUND", "notificationUUID": "u", "data": {"signedTransactionInfo":
        {"bundleId": "b", "productId": "p", "transactionId": "1", "purchaseDate": []}}}
      """
    let error = error(json, as: .signedNotification)
    #expect(error?.code == .malformedInput)
    #expect(error?.place == "$.data.signedTransactionInfo.purchaseDate")
  }

  @Test func theSignedAppTransactionOfANotificationMayBeAnObject() throws {
    let json = """
      {"notificationType": "RESCIND_CONSENT", "notificationUUID": "u", "appData": {"bundleId": "b",
        "signedAppTransactionInfo": {"bundleId": "b", "receiptType": "Sandbox", "applicationVersion": "1"}}}
      """
    guard case .notification(let notification) = try payload(json, as: .signedNotification) else {
      Issue.record("not a notification")
      return
    }
    let nested = try UnverifiedJWS(
      parsing: Array(#require(notification.appData?.signedAppTransactionInfo).utf8))
    #expect(try nested.decoded().content.kind == .signedAppTransaction)
  }

  @Test func anIdentityThatDoesNotSuitTheKindIsRefused() throws {
    let signer = ReceiptSigner(identity: try TestIdentities.rsa.get())
    let input = try ReceiptInput(
      decoding: Array("{\(transaction)}".utf8), as: .signedTransaction, signedAt: testStart)
    let error = signingError { () throws(SigningError) in try signer.sign(input) }
    #expect(error?.code == .unsuitableKey)
  }
}
