// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ReceiptCodec

/// A JWS file of the shared folder, with what the manifest says it holds.
struct GenuineJWS: Sendable, CustomTestStringConvertible {
  let file: String
  let expected: JSONValue

  var testDescription: String { file }

  static let all: [GenuineJWS] = {
    guard GenuineReceiptFolder.isPresent,
      let manifest = try? Data(
        contentsOf: GenuineReceiptFolder.receipts.appendingPathComponent("manifest.json")),
      let entries = try? JSONValue(parsing: [UInt8](manifest)).array
    else { return [] }
    return entries.compactMap { entry in
      guard let file = entry["file"]?.string, file.hasPrefix("jws/"), let expected = entry["expected"] else {
        return nil
      }
      return GenuineJWS(file: file, expected: expected)
    }
  }()

  /// The compact serialization, without the line break at the end of the file.
  func compact() throws -> [UInt8] {
    var bytes = [UInt8](try Data(contentsOf: GenuineReceiptFolder.receipts.appendingPathComponent(file)))
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    return bytes
  }
}

@Suite(
  "Genuine JWS",
  .enabled(if: GenuineReceiptFolder.isPresent, "no genuine receipts: set RECEIPTKIT_SHARED to their folder"))
struct GenuineJWSTests {
  @Test func `The shared folder has JWS files`() { #expect(GenuineJWS.all.count >= 22) }

  @Test(arguments: GenuineJWS.all)
  func `Decodes to the values of the manifest`(genuine: GenuineJWS) throws {
    let jws = try UnverifiedJWS(parsing: genuine.compact())
    try check(jws, genuine.expected)
    guard genuine.expected["type"]?.string != "other" else { return }
    guard let nested = genuine.expected["nested"]?.object else { return }
    guard case .notification(let notification) = try jws.decoded().content else {
      Issue.record("not a notification")
      return
    }
    for member in nested {
      let text = try #require(
        member.name == "signedTransactionInfo"
          ? notification.data?.signedTransactionInfo : notification.data?.signedRenewalInfo)
      try check(UnverifiedJWS(parsing: Array(text.utf8)), member.value)
    }
  }

  private func check(_ jws: UnverifiedJWS, _ expected: JSONValue) throws {
    let header = try jws.header()
    #expect(header.alg == expected["alg"]?.string)
    #expect(header.x5c.count == expected["x5c_count"]?.int64.map(Int.init))
    let headerNames = try #require(JSONValue(parsing: header.encoded()).object).map(\.name)
    #expect(Set(headerNames) == Set(expected["header_keys"]?.array?.compactMap(\.string) ?? []))
    #expect(jws.payload.count == expected["payload_len"]?.int64.map(Int.init))
    #expect(jws.signature.count == 64)

    guard expected["type"]?.string != "other" else {
      // The test data of Apple's libraries states its app and environment alone.
      #expect(try jws.decoded().content.kind == .signedTransaction)
      return
    }
    let payload = try jws.decoded().content
    #expect(payload.kind.rawValue == "signed-" + (expected["type"]?.string ?? ""))
    #expect(payload.environment?.rawValue == expected["environment"]?.string)
    #expect(payload.bundleId == expected["bundle_id"]?.string)
    #expect(payload.appAppleId == expected["app_apple_id"]?.int64)
    let signed = expected["signed_date"] ?? expected["receipt_creation_date"]
    #expect(payload.signedDate?.iso8601 == signed?.string)

    let written = try JSONValue(parsing: payload.encoded())
    let original = try JSONValue(parsing: jws.payload)
    let isFaithful = sorted(written) == sorted(original)
    #expect(isFaithful, "nothing lost, nothing added")
    #expect(try JWSPayload(decoding: payload.encoded()) == payload)

    let names = original.object?.map(\.name)
    #expect(names == expected["payload_keys"]?.array?.compactMap(\.string))
    for member in expected["fields"]?.object ?? [] {
      #expect((original[member.name] ?? original["data"]?[member.name]) == member.value)
    }
    for (key, name) in Self.dates {
      guard let raw = expected[key + "_raw"], case .number(let number) = raw else { continue }
      let timestamp = try #require(Self.date(name, of: payload))
      #expect(timestamp.millisecondsSince1970 == number.double)
      guard number.double > -62_135_596_800_000 else { continue }
      #expect(timestamp.iso8601 == expected[key]?.string)
    }
    if expected["nested"] == nil {
      #expect(payload.transactions.compactMap(\.transactionId) == strings(expected["transaction_ids"]))
      #expect(
        payload.transactions.compactMap(\.originalTransactionId)
          == strings(expected["original_transaction_ids"]))
      #expect(payload.transactions.compactMap(\.productId) == strings(expected["product_ids"]))
      #expect(
        payload.transactions.compactMap { $0.purchaseDate?.iso8601 } == strings(expected["purchase_dates"]))
    }
  }

  /// With members in the order of their names, as the order is not kept.
  private func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      .object(
        members.map { JSONMember(name: $0.name, value: sorted($0.value)) }.sorted { $0.name < $1.name })
    case .array(let elements): .array(elements.map(sorted))
    default: value
    }
  }

  private func strings(_ value: JSONValue?) -> [String] { value?.array?.compactMap(\.string) ?? [] }

  private static let dates = [
    ("purchase_date", "purchaseDate"), ("original_purchase_date", "originalPurchaseDate"),
    ("expires_date", "expiresDate"), ("signed_date", "signedDate"), ("renewal_date", "renewalDate"),
    ("recent_subscription_start_date", "recentSubscriptionStartDate"),
    ("receipt_creation_date", "receiptCreationDate"),
  ]

  private static func date(_ name: String, of payload: JWSPayload) -> Timestamp? {
    switch payload {
    case .transaction(let payload):
      switch name {
      case "purchaseDate": payload.purchaseDate
      case "originalPurchaseDate": payload.originalPurchaseDate
      case "expiresDate": payload.expiresDate
      default: payload.signedDate
      }
    case .renewalInfo(let payload):
      switch name {
      case "renewalDate": payload.renewalDate
      case "recentSubscriptionStartDate": payload.recentSubscriptionStartDate
      default: payload.signedDate
      }
    case .appTransaction(let payload):
      name == "originalPurchaseDate" ? payload.originalPurchaseDate : payload.receiptCreationDate
    case .notification(let payload): payload.signedDate
    case .realtimeRequest(let payload): payload.signedDate
    }
  }
}
