// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ReceiptCodec

@Suite("Kind of a JWS payload")
struct PayloadKindTests {
  private static let realtime = #"""
    "originalTransactionId":"1","appAppleId":2,"productId":"p","userLocale":"en-US",\#
    "requestIdentifier":"8f2c8a8e-2c31-4a40-8f3e-2d0b0a5f1a11","environment":"Sandbox","signedDate":3
    """#

  @Test(
    arguments: [
      (#""transactionId":"1""#, .signedTransaction), (#""notificationType":"TEST""#, .signedNotification),
      (#""notificationUUID":"x""#, .signedNotification), (#""receiptType":"Xcode""#, .signedAppTransaction),
      (#""receiptCreationDate":1"#, .signedAppTransaction),
      (#""autoRenewProductId":"p""#, .signedRenewalInfo),
      (#""autoRenewStatus":1"#, .signedRenewalInfo), (realtime, .signedRealtimeRequest),
      (#""bundleId":"b","x":{"notificationType":1},"transactionId":"1""#, .signedTransaction),
      (#""\u0074ransactionId":"1""#, .signedTransaction),
      (#""bundleId":"b","environment":"Sandbox","signedDate":1"#, .signedTransaction),
    ] as [(String, ReceiptKind)])
  func `The members determine the kind`(members: String, kind: ReceiptKind) throws {
    let payload = try JWSPayload(decoding: Array("{\(members)}".utf8))
    #expect(payload.kind == kind)
    #expect(try JWSPayload(decoding: Array("{\(members)}".utf8), as: kind) == payload)
  }

  @Test(arguments: [
    "", #""requestIdentifier":"x""#, #""bundleId":"b","signedDate":1"#, #""environment":"Sandbox""#,
    #""bundleId":"b","environment":"Sandbox","data":{}"#,
    #""bundleId":"b","environment":"Sandbox","requestIdentifier":"x""#,
  ])
  func `Without such members it is unrecognized`(members: String) {
    expectMalformed(.unrecognized, at: .jsonPath("$")) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: Array("{\(members)}".utf8))
    }
  }

  @Test(arguments: [
    #""transactionId":"1","notificationType":"TEST""#, #""notificationType":"TEST","transactionId":"1""#,
    #""transactionId":null,"autoRenewStatus":null"#,
    #""productId":"p","receiptType":"x","transactionId":"1""#,
    #""transactionId":"1","receiptType":"Sandbox""#,
    #""transactionId":"1","autoRenewStatus":1"#, #""notificationUUID":"x","receiptCreationDate":1"#,
    #""notificationUUID":"x","autoRenewProductId":"1""#, #""receiptType":"x","autoRenewStatus":1"#,
    #""transactionId":"1","# + realtime,
  ])
  func `Members of two kinds are refused`(members: String) {
    expectMalformed(.unexpected, at: .jsonPath("$")) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: Array("{\(members)}".utf8))
    }
  }

  @Test func `A payload must not contradict the requested kind`() throws {
    let renewal = Array(#"{"autoRenewStatus":1}"#.utf8)
    expectMalformed(.unexpected, at: .jsonPath("$")) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: renewal, as: .signedTransaction)
    }
    let bare = Array(#"{"productId":"p"}"#.utf8)
    #expect(
      try JWSPayload(decoding: bare, as: .signedTransaction)
        == .transaction(
          JWSTransaction().with {
            $0.productId = "p"
          }))
    expectMalformed(.unsupported, at: .jsonPath("$")) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: bare, as: .appReceipt)
    }
  }

  /// Therefore discriminators of other kinds are looked for among unknown fields alone.
  @Test func `No kind has a field that is the discriminator of another`() {
    func expectForeign<Field: CaseIterable & RawRepresentable<String>>(
      _: Field.Type, own: Set<JWSPayloadDiscriminator>
    ) {
      let discriminators = Set(Field.allCases.compactMap { JWSPayloadDiscriminator(rawValue: $0.rawValue) })
      #expect(discriminators == own)
    }
    for kind in ReceiptKind.allCases {
      switch kind {
      case .signedTransaction: expectForeign(JWSTransaction.Field.self, own: [.transactionId])
      case .signedRenewalInfo:
        expectForeign(JWSRenewalInfo.Field.self, own: [.autoRenewProductId, .autoRenewStatus])
      case .signedAppTransaction:
        expectForeign(AppTransaction.Field.self, own: [.receiptType, .receiptCreationDate])
      case .signedNotification:
        expectForeign(Notification.Field.self, own: [.notificationType, .notificationUUID])
      case .signedRealtimeRequest:
        expectForeign(RealtimeRequest.Field.self, own: [.requestIdentifier, .userLocale])
      case .appReceipt, .transactionReceipt, .googlePlayPurchase, .googlePlayLicense, .huaweiPurchase: break
      }
    }
  }

  @Test func `Every kind of JWS has a sample, and is told by its members`() throws {
    let samples = JWSPayload.samples
    #expect(
      Set(samples.map(\.kind))
        == Set(ReceiptKind.allCases.filter { !$0.isDetached }).subtracting([.appReceipt, .transactionReceipt])
    )
    for sample in samples { #expect(try JWSPayload(decoding: sample.encoded()).kind == sample.kind) }
  }

  @Test(arguments: [("[]", "$"), ("null", "$"), ("\"transactionId\"", "$"), ("17", "$")])
  func `A payload is an object`(text: String, path: String) {
    expectMalformed(.wrongType, at: .jsonPath(path)) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: Array(text.utf8))
    }
  }

  @Test func `A payload that is not JSON is reported as such`() {
    expectMalformed(.unexpected, at: .byteOffset(6, within: "JWS payload")) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: Array(#"{"a":[}}"#.utf8))
    }
    expectMalformed(.unexpected, at: .byteOffset(0, within: "JWS payload")) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: Array("<xml/>".utf8))
    }
  }

  @Test func `A notification has one subject`() {
    let text = #"{"notificationType":"TEST","data":{},"summary":{}}"#
    expectMalformed(.unexpected, at: .jsonPath("$")) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: Array(text.utf8))
    }
  }

  @Test func `Every kind has the common fields`() throws {
    let samples = JWSPayload.samples
    #expect(
      samples.map(\.kind) == [
        .signedTransaction, .signedRenewalInfo, .signedAppTransaction, .signedNotification,
        .signedNotification,
        .signedNotification, .signedNotification, .signedRealtimeRequest,
      ])
    #expect(
      samples.map { $0.environment?.rawValue } == [
        "Sandbox", "Sandbox", "Production", "Sandbox", "Production", "Sandbox", "Xcode", "Sandbox",
      ])
    #expect(samples.map(\.bundleId) == ["b", nil, "b", "b", "b", "b", "b", nil])
    #expect(samples.map(\.appAppleId) == [nil, nil, 7, 7, 7, 7, 7, 7])
    #expect(samples.map(\.transactions.count) == [1, 1, 0, 0, 0, 0, 0, 1])
    #expect(samples.allSatisfy { $0.signedDate == Timestamp(millisecondsSince1970: 1_759_302_518_835) })
    let transaction = try #require(samples[0].transactions.first)
    #expect(transaction.transactionId == "t" && transaction.originalTransactionId == "o")
    #expect(transaction.productId == "p" && transaction.quantity == 2)
    #expect(JWSTransaction(transaction).transaction == transaction)
    #expect(samples[1].transactions == [Transaction(originalTransactionId: "o", productId: "p")])
    #expect(samples[7].transactions == [Transaction(originalTransactionId: "o", productId: "p")])
    let token = ExternalPurchaseToken().with {
      $0.externalPurchaseId = "8ad2"
    }
    #expect(token.environment == .production)
    #expect(ExternalPurchaseToken().environment == nil)
  }
}
