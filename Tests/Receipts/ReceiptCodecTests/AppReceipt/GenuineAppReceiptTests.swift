// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@testable import ReceiptCodec

@Suite(
  "Genuine app receipts",
  .enabled(if: GenuineReceiptFolder.isPresent, "SKIPPED: no genuine receipts; set RECEIPTKIT_SHARED."))
struct GenuineAppReceiptTests {
  static let readable = GenuineReceiptFolder.entries(kind: "app-receipt").filter {
    $0.expected.parses != false
  }

  @Test("The manifest lists them")
  func manifest() {
    #expect(Self.readable.count >= 24)
  }

  @Test("The container is read", arguments: readable.filter { $0.expected.embedded_cert_count != nil })
  func container(entry: GenuineReceiptFolder.Entry) throws {
    let expected = entry.expected
    let signedData = try UnverifiedAppReceipt(parsing: entry.binary()).signedData
    #expect(signedData.version == 1)
    #expect(signedData.certificates.count == expected.embedded_cert_count)
    #expect(signedData.certificatesBytes.count == signedData.certificates.reduce(0) { $0 + $1.count })
    #expect(signedData.content.count == expected.payload_len)
    #expect(signedData.signerInfos.count == expected.signer_infos)
    let signer = try #require(signedData.signerInfos.first)
    let digest = expected.digest == "sha1" ? ObjectIdentifiers.sha1 : ObjectIdentifiers.sha256
    #expect(signedData.digestAlgorithms == [digest])
    #expect(signer.digestAlgorithm == digest)
    #expect(signer.signatureAlgorithm == expected.signature_alg_oid)
    #expect((signer.signedAttributes != nil) == expected.signed_attrs)
    #expect(signer.signature.count == 256)
    let leaf = try #require(signedData.certificates.first { $0.contains(signer.issuer) })
    #expect(leaf.contains(signer.serialNumber))
    if let attributes = signer.signedAttributes {
      #expect(attributes.contentType == "1.2.840.113549.1.7.1")
      #expect(attributes.messageDigest?.count == 32)
    }
  }

  @Test(
    "The payload has the values of the manifest", arguments: readable.filter { $0.expected.in_app != nil })
  func payload(entry: GenuineReceiptFolder.Entry) throws {
    let expected = entry.expected
    let payload = try UnverifiedAppReceipt(parsing: entry.binary()).decoded().content
    #expect(payload.environment?.rawValue == expected.environment)
    #expect(payload.bundleId == expected.bundle_id)
    #expect(payload.applicationVersion == expected.app_version)
    #expect(payload.originalApplicationVersion == expected.original_app_version)
    #expect(payload.receiptCreationDate?.iso8601Seconds == expected.receipt_creation_date)
    #expect(payload.originalPurchaseDate?.iso8601Seconds == expected.original_purchase_date)
    #expect(payload.expirationDate?.iso8601Seconds == expected.expiration_date)
    #expect(payload.opaqueValue?.hexadecimal == expected.opaque_hex)
    #expect(payload.sha1Hash?.hexadecimal == expected.sha1_hash_hex)
    #expect(payload.bundleIdValue.hexadecimal == expected.bundle_id_attr_hex)
    #expect(payload.attributes.map(\.type).sorted() == expected.app_attribute_types)

    let purchases = try #require(expected.in_app)
    #expect(payload.inAppPurchases.count == purchases.count)
    for (purchase, expected) in zip(payload.inAppPurchases, purchases) {
      #expect(purchase.productId == expected.product_id)
      #expect(purchase.transactionId == expected.transaction_id)
      #expect(purchase.originalTransactionId == expected.original_transaction_id)
      #expect(purchase.quantity == expected.quantity)
      #expect(purchase.purchaseDate?.iso8601Seconds == expected.purchase_date)
      #expect(purchase.originalPurchaseDate?.iso8601Seconds == expected.original_purchase_date)
      #expect(purchase.expiresDate?.iso8601Seconds == expected.expires_date)
      #expect(purchase.cancellationDate?.iso8601Seconds == expected.cancellation_date)
      #expect(purchase.webOrderLineItemId == expected.web_order_line_item_id)
      #expect(purchase.isInIntroOfferPeriod.map { $0 ? 1 : 0 } == expected.is_in_intro_offer)
      #expect(purchase.attributes.map(\.type).sorted() == expected.attribute_types)
    }
    #expect(payload.transactions == payload.inAppPurchases.map(\.transaction))
  }

  @Test("A payload encodes back to the bytes it was decoded from", arguments: readable)
  func roundTrip(entry: GenuineReceiptFolder.Entry) throws {
    let receipt = try UnverifiedAppReceipt(parsing: entry.binary())
    let payload = try receipt.decoded().content
    #expect(payload.encoded() == Array(receipt.signedData.content))
  }

  @Test("Neither a text nor a truncated receipt is read")
  func negatives() throws {
    for (file, code) in [
      ("app-receipt/NEG-not-a-receipt.der", MalformedReceipt.Code.unrecognized),
      ("app-receipt/NEG-truncated.der", .truncated),
    ] {
      let entry = try #require(GenuineReceiptFolder.entries.first { $0.file == file })
      let bytes = try entry.binary()
      let error = #expect(throws: MalformedReceipt.self) { try UnverifiedAppReceipt(parsing: bytes) }
      #expect(error?.code == code)
      #expect(error?.place == .byteOffset(0, within: "app receipt"))
    }
  }
}

extension ArraySlice<UInt8> {
  /// Returns `true` if the bytes occur in this slice.
  fileprivate func contains(_ other: ArraySlice<UInt8>) -> Bool {
    guard !other.isEmpty, other.count <= count else { return false }
    return indices.dropLast(other.count - 1).contains { self[$0..<($0 + other.count)] == other }
  }
}
