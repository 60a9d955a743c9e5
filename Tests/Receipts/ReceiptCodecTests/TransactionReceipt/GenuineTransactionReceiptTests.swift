// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ReceiptCodec

@Suite(
  "Genuine transaction receipts",
  .enabled(if: GenuineReceiptFolder.isPresent, "SKIPPED: no genuine receipts; set RECEIPTKIT_SHARED."))
struct GenuineTransactionReceiptTests {
  static let readable = GenuineReceiptFolder.entries(kind: "transaction-receipt")
    .filter { $0.kind != "transaction-receipt-negative" }

  @Test("The manifest lists them")
  func manifest() {
    #expect(Self.readable.count >= 11)
  }

  @Test("The outer property list is read", arguments: readable)
  func outer(entry: GenuineReceiptFolder.Entry) throws {
    let expected = entry.expected
    let receipt = try UnverifiedTransactionReceipt(parsing: entry.binary())
    #expect(Int(receipt.signatureVersion) == expected.signature_version)
    #expect(receipt.signature.count == (receipt.signatureVersion == 2 ? 128 : 256))
    #expect(receipt.leafCertificate.count == expected.cert_len)
    #expect(receipt.propertyList.entries.map(\.key) == expected.outer_keys)
    #expect(receipt.propertyList["environment"] == expected.environment_outer_unsigned)
    #expect(receipt.hasEnvironmentKey == (expected.environment_outer_unsigned != nil))
    #expect(
      receipt.claimedEnvironment.rawValue == expected.environment_outer_unsigned ?? "Production")
    #expect(receipt.pod == expected.pod_outer_unsigned)
    #expect(receipt.signingStatus == expected.signing_status_outer_unsigned)
    #expect(receipt.purchaseInfo.count == expected.payload_len)
    #expect(receipt.signedBytes == [receipt.signatureVersion] + receipt.purchaseInfo)
  }

  @Test("The purchase has the values of the manifest", arguments: readable)
  func purchase(entry: GenuineReceiptFolder.Entry) throws {
    let expected = entry.expected
    let info = try UnverifiedTransactionReceipt(parsing: entry.binary()).decoded().content
    #expect(info.bundleId == expected.bundle_id)
    #expect(info.applicationVersion == expected.app_version)
    #expect(info.productId == expected.product_ids?.first)
    #expect(info.transactionId == expected.transaction_ids?.first)
    #expect([info.originalTransactionId] == expected.original_transaction_ids)
    #expect(info.purchaseDate.map { [$0.iso8601Seconds] } == expected.purchase_dates)
    #expect(info.originalPurchaseDate?.iso8601Seconds == expected.original_purchase_date)
    if let exact = expected.purchase_date_ms { #expect(info.purchaseDate?.iso8601 == exact) }
    if let exact = expected.original_purchase_date_ms { #expect(info.originalPurchaseDate?.iso8601 == exact) }
    #expect(info.expiresDate?.iso8601 == expected.expires_date)
    #expect(info.quantity == expected.quantity)
    #expect(info.transaction.productId == info.productId)
    #expect(info.transaction.revocationDate == nil)
  }

  @Test("What is written has the keys and values that were read", arguments: readable)
  func rewritten(entry: GenuineReceiptFolder.Entry) throws {
    let receipt = try UnverifiedTransactionReceipt(parsing: entry.binary())
    let original = try PropertyList(parsing: receipt.purchaseInfo)
    let info = try receipt.decoded().content
    let written = try PropertyList(parsing: info.encoded())
    for entry in original.entries { #expect(written[entry.key] == entry.value, "\(entry.key)") }
    if original["purchase-date-ms"] != nil { #expect(written.entries.count == original.entries.count) }
    #expect(try TransactionReceiptPurchaseInfo(decoding: info.encoded()) == info)
    #expect(original.encoded() == receipt.purchaseInfo)
  }

  @Test("A placeholder instead of a signature is of an unknown version")
  func placeholder() throws {
    let entry = try #require(
      GenuineReceiptFolder.entries.first { $0.kind == "transaction-receipt-negative" })
    let bytes = try entry.binary()
    let error = #expect(throws: MalformedReceipt.self) { try UnverifiedTransactionReceipt(parsing: bytes) }
    #expect(error?.code == .unsupported)
    #expect(error?.place == .propertyListKey("signature"))
  }
}
