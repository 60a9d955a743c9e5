// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptFoundationCompat
import Testing

@testable import ReceiptCodec

@Suite("JWS payload round trips")
struct PayloadRoundTripTests {
  @Test(arguments: JWSPayload.samples)
  func `Every field survives`(payload: JWSPayload) throws {
    let bytes = payload.encoded()
    let read = try JWSPayload(decoding: bytes)
    #expect(read == payload)
    #expect(read.encoded() == bytes)
    let names = try #require(JSONValue(parsing: bytes).object).map(\.name)
    #expect(names.suffix(2) == ["futureField", "Second"])
  }

  @Test func `The samples have every field of every type`() {
    func expectComplete(_ value: Any, except names: Set<String> = []) {
      for child in Mirror(reflecting: value).children {
        let field = Mirror(reflecting: child.value)
        let isAbsent = field.displayStyle == .optional && field.children.isEmpty
        #expect(!isAbsent || names.contains(child.label ?? ""), "\(child.label ?? "?") is not set")
      }
    }
    expectComplete(JWSPayload.transactionSample)
    expectComplete(JWSPayload.renewalSample)
    expectComplete(JWSPayload.appTransactionSample)
    expectComplete(JWSPayload.notificationDataSample)
    expectComplete(JWSPayload.summarySample)
    expectComplete(JWSPayload.tokenSample)
    expectComplete(JWSPayload.appDataSample)
    if let info = JWSPayload.transactionSample.advancedCommerceInfo { expectComplete(info) }
    if let info = JWSPayload.renewalSample.advancedCommerceInfo { expectComplete(info) }
  }

  @Test func `Fields are written in the documented order, absent ones left out`() {
    let payload = JWSTransaction().with {
      $0.originalTransactionId = "1"
      $0.transactionId = "2"
      $0.purchaseDate = Timestamp(millisecondsSince1970: 3)
      $0.quantity = 1
      $0.type = .consumable
      $0.isUpgraded = false
    }
    let text = String(decoding: payload.encodedJSON(), as: UTF8.self)
    #expect(
      text == #"{"originalTransactionId":"1","transactionId":"2","purchaseDate":3,"quantity":1,"#
        + #""type":"Consumable","isUpgraded":false}"#)
  }

  @Test func `Fractions of a millisecond are written as they were read`() throws {
    let text = #"{"transactionId":"1","purchaseDate":1697679936049.7297,"expiresDate":1700358336049.5}"#
    let payload = try JWSTransaction(decoding: Array(text.utf8))
    #expect(payload.purchaseDate?.iso8601 == "2023-10-19T01:45:36.049Z")
    let written = String(decoding: payload.encodedJSON(), as: UTF8.self)
    #expect(written.contains(#""purchaseDate":1697679936049.7297"#))
    #expect(written.contains(#""expiresDate":1700358336049.5"#))
  }

  @Test func `Values that are not known yet are kept`() throws {
    let text =
      #"{"transactionId":"1","type":"Rental","revocationReason":77,"environment":"Staging","price":0}"#
    let payload = try JWSTransaction(decoding: Array(text.utf8))
    #expect(payload.type == ProductType(rawValue: "Rental"))
    #expect(payload.revocationReason?.rawValue == 77)
    #expect(payload.environment?.category == nil)
    #expect(try JWSTransaction(decoding: payload.encodedJSON()) == payload)
  }

  @Test func `A UUID keeps its spelling`() throws {
    let text = #"{"transactionId":"1","appAccountToken":"207262DA-1AC8-4e0a-a399-5aa62a82800f"}"#
    let token = try #require(JWSTransaction(decoding: Array(text.utf8)).appAccountToken)
    #expect(token.rawValue == "207262DA-1AC8-4e0a-a399-5aa62a82800f")
    #expect(token.uuid == UUID(uuidString: "207262da-1ac8-4e0a-a399-5aa62a82800f"))
    #expect(UUIDString(rawValue: "").uuid == nil)
    #expect(token.uuid.map { UUIDString($0).rawValue } == "207262da-1ac8-4e0a-a399-5aa62a82800f")
  }

  @Test func `An unknown field cannot take the name of a known one`() throws {
    let payload = JWSTransaction().with {
      $0.transactionId = "1"
      $0.unknownFields = [JSONMember(name: "transactionId", value: .string("2"))]
    }
    #expect(
      try JWSTransaction(decoding: payload.encodedJSON())
        == JWSTransaction().with {
          $0.transactionId = "1"
        })
  }

  @Test func `No type has more fields than bits in a word`() {
    #expect(JWSTransaction.Field.allCases.count <= 64)
    #expect(JWSRenewalInfo.Field.allCases.count <= 64)
  }
}
