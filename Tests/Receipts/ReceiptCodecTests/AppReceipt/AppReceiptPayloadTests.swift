// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@testable import ReceiptCodec

@Suite("App receipt payload")
struct AppReceiptPayloadTests {
  /// A set with one attribute in it, in DER.
  private func set(_ attributes: [AppReceiptAttribute]) -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(.set) { set in for attribute in attributes { set.append(attribute.encoded()) } }
    return writer.bytes
  }

  private func inApp(_ attributes: [AppReceiptAttribute]) -> AppReceiptAttribute {
    AppReceiptAttribute(type: 17, value: set(attributes)[...])
  }

  private func expectFailure(
    _ code: MalformedReceipt.Code, at place: MalformedReceipt.Place, decoding content: [UInt8],
    limits: ReceiptLimits = .standard, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: MalformedReceipt.self, sourceLocation: sourceLocation) {
      try AppReceiptPayload(decoding: content[...], limits: limits)
    }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.place == place, sourceLocation: sourceLocation)
  }

  @Test("A payload with all fields is read back")
  func roundTrip() throws {
    let payload = SampleReceipts.payload
    let decoded = try AppReceiptPayload(decoding: payload.encoded()[...])
    #expect(decoded == payload)
    #expect(decoded.hashValue == payload.hashValue)
    #expect(decoded.encoded() == payload.encoded())
    #expect(decoded.environment == .productionSandbox)
    #expect(decoded.appAppleId == 1_234_567_890)
    #expect(decoded.bundleId == "com.example.app")
    #expect(decoded.bundleIdValue == [0x0C, 0x0F] + Array("com.example.app".utf8))
    #expect(decoded.applicationVersion == "1.2.3")
    #expect(decoded.opaqueValue == Array(0..<16))
    #expect(decoded.sha1Hash == Array(20..<40))
    #expect(decoded.transactionDate == SampleReceipts.date)
    #expect(decoded.fulfillmentToolVersion == 1)
    #expect(decoded.ageRating == "4+")
    #expect(decoded.developerId == 42)
    #expect(decoded.receiptCreationDate?.millisecondsSince1970 == 1_700_000_000_131)
    #expect(decoded.downloadId == 77)
    #expect(decoded.installerVersion == 5)
    #expect(decoded.originalPurchaseDate == SampleReceipts.date.addingSeconds(-100_000))
    #expect(decoded.originalApplicationVersion == "1.0")
    #expect(decoded.expirationDate?.iso8601Seconds == "4001-01-01T00:00:00Z")
    #expect(decoded.attributes.contains { $0.type == 9999 && $0.version == 3 && $0.value == [1, 2, 3] })
    #expect(decoded.attributes.contains { $0.type == 4 && $0.version == 2 })
    #expect(decoded.attributes.contains { $0.type == 10 && $0.value == [0x16, 0x02, 0x34, 0x2B] })
    #expect(decoded.attributes.contains { $0.type == 12 && $0.value.first == 0x16 })
    #expect(Set(decoded.inAppPurchases) == Set(payload.inAppPurchases))
    let purchase = try #require(decoded.inAppPurchases.first { $0.transactionId == "2000000000000002" })
    var transaction = SampleReceipts.transaction
    transaction.type = .autoRenewableSubscription
    transaction.offerType = .promotional
    transaction.offerIdentifier = "spring"
    transaction.offerDiscountType = .freeTrial
    #expect(purchase.transaction == transaction)
    #expect(purchase.productType == .autoRenewableSubscription)
    #expect(purchase.webOrderLineItemId == 2_000_000_040_552_616)
    #expect(purchase.isTrialPeriod == true)
    #expect(purchase.isInIntroOfferPeriod == false)
    #expect(purchase.promotionalOfferId == "spring")
    #expect(purchase.attributes.contains { $0.type == 1709 && $0.value == [0x0C, 0x00] })
    #expect(purchase == SampleReceipts.purchase)
  }

  @Test(
    "Changing a field keeps attributes of unknown type; changing it back does not restore the original bytes")
  func changedAfterDecoding() throws {
    let content = set([
      AppReceiptAttribute(type: 9999, value: [1]), AppReceiptAttribute(type: 3, value: [0x0C, 0x01, 0x31]),
      AppReceiptAttribute(type: 2, value: [0x16, 0x01, 0x61]),
    ])
    var payload = try AppReceiptPayload(decoding: content[...])
    #expect(payload.encoded() == content)
    #expect(payload.attributes.map(\.type) == [9999, 3, 2])
    #expect(payload.bundleIdValue == [0x16, 0x01, 0x61])
    payload.applicationVersion = "2"
    #expect(payload.attributes.map(\.type).sorted() == [2, 3, 9999])
    #expect(payload.bundleIdValue == [0x16, 0x01, 0x61])
    payload.bundleId = "b"
    #expect(payload.bundleIdValue == [0x0C, 0x01, 0x62])
    let decoded = try AppReceiptPayload(decoding: payload.encoded()[...])
    #expect(decoded.bundleId == "b")
    #expect(decoded.applicationVersion == "2")
    payload.bundleId = nil
    #expect(payload.bundleIdValue == [])
    #expect(try AppReceiptPayload(decoding: payload.encoded()[...]).bundleId == nil)
  }

  @Test("Texts are UTF8String or IA5String, and empty dates mean none")
  func tolerance() throws {
    let content = set([
      AppReceiptAttribute(type: 2, value: [0x16, 0x01, 0x61]),
      AppReceiptAttribute(type: 19, value: [0x0C, 0x00]),
      AppReceiptAttribute(type: 12, value: [0x0C, 0x14] + Array("2020-09-01T13:58:49Z".utf8)),
      AppReceiptAttribute(type: 8, value: [0x16, 0x00]), AppReceiptAttribute(type: 18, value: [0x16, 0x00]),
      AppReceiptAttribute(type: 21, value: [0x0C, 0x00]),
      inApp([
        AppReceiptAttribute(type: 1704, value: [0x16, 0x18] + Array("2020-09-01T16:58:49+0300".utf8)),
        AppReceiptAttribute(type: 1708, value: [0x16, 0x00]),
        AppReceiptAttribute(type: 1712, value: [0x0C, 0x00]),
      ]),
    ])
    let payload = try AppReceiptPayload(decoding: content[...])
    #expect(payload.bundleId == "a")
    #expect(payload.originalApplicationVersion == "")
    #expect(payload.receiptCreationDate?.iso8601Seconds == "2020-09-01T13:58:49Z")
    #expect(payload.transactionDate == nil)
    #expect(payload.originalPurchaseDate == nil)
    #expect(payload.expirationDate == nil)
    #expect(payload.inAppPurchases.first?.purchaseDate == payload.receiptCreationDate)
    #expect(payload.inAppPurchases.first?.expiresDate == nil)
    #expect(payload.inAppPurchases.first?.cancellationDate == nil)
  }

  @Test("Reports name an attribute by its field, and show opaque octets in hexadecimal")
  func reports() {
    let number = JSONMember(name: "value", value: .integer(7))
    let hexadecimal = JSONMember(name: "hex", value: .string("020107"))
    for (type, name, member) in [
      (1, "appAppleId", number), (4, "opaqueValue", hexadecimal), (5, "sha1Hash", hexadecimal),
      (6, nil, hexadecimal), (7, nil, hexadecimal), (17, nil, number), (20, nil, number),
      (1701, "quantity", number), (1717, nil, number),
    ] {
      let attribute = AppReceiptAttribute(type: type, value: [0x02, 0x01, 0x07])
      #expect(attribute.name == name)
      #expect(attribute.jsonMember == member)
    }
  }

  @Test("Values of the wrong type are refused, with the attribute")
  func badValues() {
    func place(_ type: Int) -> MalformedReceipt.Place { .attribute(type: type, inAppIndex: nil) }
    let cases: [(Int, [UInt8], MalformedReceipt.Code)] = [
      (2, [0x04, 0x01, 0x61], .wrongType), (2, [0x0C, 0x01, 0x61, 0x00], .trailingData),
      (2, [0x0C, 0x02, 0x61], .invalidValue), (2, [0x0C, 0x01, 0xFF], .invalidUTF8), (2, [], .invalidValue),
      (2, [0x0C, 0x81, 0x01, 0x61], .invalidValue), (0, [0x02, 0x01, 0x00], .wrongType),
      (1, [0x0C, 0x01, 0x31], .wrongType), (1, [0x02, 0x02, 0x00, 0x01], .invalidValue),
      (1, [0x02, 0x09, 1, 0, 0, 0, 0, 0, 0, 0, 0], .outOfRange),
      (1, [0x02, 0x01, 0x00, 0x00], .trailingData),
      (12, [0x16, 0x01, 0x31], .invalidValue),
      (12, [0x16, 0x14] + Array("2020-02-30T13:58:49Z".utf8), .invalidValue),
    ]
    for (type, value, code) in cases {
      expectFailure(
        code, at: place(type), decoding: set([AppReceiptAttribute(type: type, value: value[...])]))
    }
    expectFailure(
      .invalidValue, at: .attribute(type: 1713, inAppIndex: 1),
      decoding: set([inApp([]), inApp([AppReceiptAttribute(type: 1713, value: [0x02, 0x01, 0x02])])]))
  }

  @Test("A repeated attribute is refused, known or not, except for in-app purchases")
  func duplicates() throws {
    for type in [2, 20, 9999, -5, -128] {
      let attribute = AppReceiptAttribute(type: type, value: [0x0C, 0x00])
      expectFailure(
        .duplicate, at: .attribute(type: type, inAppIndex: nil), decoding: set([attribute, attribute]))
    }
    for type in [17, 1702, 1718, 5000, 1637] {
      let attribute = AppReceiptAttribute(type: type, value: [0x0C, 0x00])
      expectFailure(
        .duplicate, at: .attribute(type: type, inAppIndex: 0), decoding: set([inApp([attribute, attribute])]))
    }
    #expect(try AppReceiptPayload(decoding: set([inApp([]), inApp([])])[...]).inAppPurchases.count == 2)
  }

  @Test("A malformed set is refused, with the offset")
  func brokenSets() {
    func place(_ offset: Int) -> MalformedReceipt.Place { .byteOffset(offset, within: "app receipt payload") }
    expectFailure(.truncated, at: place(0), decoding: [])
    expectFailure(.unexpected, at: place(0), decoding: [0x30, 0x00])
    expectFailure(.trailingData, at: place(2), decoding: [0x31, 0x00, 0x00])
    expectFailure(.unsupported, at: place(0), decoding: [0x04, 0x02, 0x31, 0x00])
    expectFailure(.unsupported, at: place(0), decoding: [0x24, 0x80, 0x04, 0x02, 0x31, 0x00, 0x00, 0x00])
    expectFailure(.unsupported, at: place(1), decoding: [0x31, 0x80, 0x00, 0x00])
    expectFailure(.unexpected, at: place(2), decoding: [0x31, 0x02, 0x31, 0x00])
    // An attribute with a fourth member, and one with a needless octet in its version.
    expectFailure(
      .trailingData, at: place(12),
      decoding: [0x31, 0x0C, 0x30, 0x0A, 0x02, 0x01, 0x02, 0x02, 0x01, 0x01, 0x04, 0x00, 0x05, 0x00])
    expectFailure(
      .invalidValue, at: place(7),
      decoding: [0x31, 0x0B, 0x30, 0x09, 0x02, 0x01, 0x02, 0x02, 0x02, 0x00, 0x01, 0x04, 0x00])
    expectFailure(
      .invalidValue, at: place(4),
      decoding: [0x31, 0x0B, 0x30, 0x09, 0x02, 0x02, 0x00, 0x02, 0x02, 0x01, 0x01, 0x04, 0x00])
  }

  @Test("Attributes beyond the limit are refused, including those in purchases")
  func limits() throws {
    let one = AppReceiptAttribute(type: 1702, value: [0x0C, 0x00])
    let content = set([inApp([one]), inApp([one]), inApp([one])])
    _ = try AppReceiptPayload(decoding: content[...], limits: ReceiptLimits(maximumElementCount: 6))
    expectFailure(
      .tooLarge, at: .whole, decoding: content, limits: ReceiptLimits(maximumElementCount: 5))
    expectFailure(
      .tooDeep, at: .byteOffset(12, within: "app receipt payload"), decoding: content,
      limits: ReceiptLimits(maximumDepth: 2))
  }

  @Test(
    "A million attributes are read, or refused, in time proportional to their size")
  func million() throws {
    var attributes: [UInt8] = []
    for type in UInt32(0x010000)..<(0x010000 + 1_000_000) {
      attributes += [0x30, 0x0A, 0x02, 0x03, UInt8(type >> 16), UInt8(type >> 8 & 0xFF), UInt8(type & 0xFF)]
      attributes += [0x02, 0x01, 0x01, 0x04, 0x00]
    }
    var purchase = ASN1Writer()
    purchase.write(.set, contents: attributes)
    let content = set([AppReceiptAttribute(type: 17, value: purchase.bytes[...])])
    expectFailure(.tooLarge, at: .whole, decoding: content, limits: ReceiptLimits(maximumElementCount: 1000))
    let limits = ReceiptLimits(maximumElementCount: 1_000_001)
    #expect(try AppReceiptPayload(decoding: content[...], limits: limits).inAppPurchases.count == 1)
  }
}
