// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@testable import ReceiptCodec

@Suite("Transaction receipt")
struct TransactionReceiptTests {
  private func receipt(blob: [UInt8]) -> [UInt8] {
    var list = PropertyList()
    list["signature"] = Base64.encodeToString(blob)
    list["purchase-info"] = Base64.encodeToString(Array("{}".utf8))
    return list.encoded()
  }

  private func expectFailure(
    _ code: MalformedReceipt.Code, at place: MalformedReceipt.Place,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(throws: MalformedReceipt.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.place == place, sourceLocation: sourceLocation)
  }

  @Test("A payload with all fields is read back", arguments: [2, 3, 4] as [UInt8])
  func roundTrip(version: UInt8) throws {
    let receipt = try UnverifiedTransactionReceipt(
      parsing: SampleReceipts.transactionReceipt(version: version))
    #expect(receipt.signatureVersion == version)
    #expect(receipt.signature == [UInt8](repeating: 0xAB, count: version == 2 ? 128 : 256))
    #expect(receipt.leafCertificate == SampleReceipts.certificate)
    #expect(receipt.purchaseInfo == SampleReceipts.purchaseInfo.encoded())
    #expect(receipt.signedBytes == [version] + receipt.purchaseInfo)
    #expect(receipt.claimedEnvironment == .sandbox)
    #expect(receipt.pod == "100")
    #expect(receipt.signingStatus == "0")
    let info = try receipt.decoded().content
    #expect(info == SampleReceipts.purchaseInfo)
    #expect(info.transaction == SampleReceipts.purchaseInfo.transaction)
    #expect(info.additionalEntries == [PropertyList.Entry(key: "is-trial-period", value: "false")])
  }

  @Test("A production receipt has no environment")
  func production() throws {
    let bytes = try TransactionReceiptWriter.encode(
      signatureVersion: 3, signature: [UInt8](repeating: 0, count: 256),
      leafCertificate: SampleReceipts.certificate, purchaseInfo: [])
    let receipt = try UnverifiedTransactionReceipt(parsing: bytes)
    #expect(!receipt.hasEnvironmentKey)
    #expect(receipt.claimedEnvironment == .production)
    #expect(
      receipt.propertyList.entries.map(\.key) == ["signature", "purchase-info", "pod", "signing-status"])
  }

  @Test("The writer refuses values that readers would refuse")
  func writerRefusals() {
    let place = MalformedReceipt.Place.propertyListKey("signature")
    for (version, length, certificate, code) in [
      (1, 128, SampleReceipts.certificate, MalformedReceipt.Code.unsupported),
      (3, 128, SampleReceipts.certificate, .invalidValue),
      (2, 256, SampleReceipts.certificate, .invalidValue),
      (3, 256, [], .invalidValue), (3, 256, SampleReceipts.certificate + [0], .invalidValue),
    ] as [(UInt8, Int, [UInt8], MalformedReceipt.Code)] {
      expectFailure(code, at: place) {
        _ = try TransactionReceiptWriter.encode(
          signatureVersion: version, signature: [UInt8](repeating: 0, count: length),
          leafCertificate: certificate, purchaseInfo: [])
      }
    }
  }

  @Test("A signature of the wrong version or length is refused")
  func signatureBlobs() {
    let place = MalformedReceipt.Place.propertyListKey("signature")
    let certificate = SampleReceipts.certificate
    func blob(_ version: UInt8, _ length: Int, _ claimed: UInt8, _ certificate: [UInt8]) -> [UInt8] {
      [version] + [UInt8](repeating: 9, count: length) + [0, 0, 0, claimed] + certificate
    }
    for (blob, code) in [
      ([], MalformedReceipt.Code.missing), (blob(0, 128, 5, certificate), .unsupported),
      (blob(5, 256, 5, certificate), .unsupported), ([2, 1], .truncated),
      (blob(3, 128, 5, certificate), .truncated), (blob(3, 256, 4, certificate), .trailingData),
      (blob(3, 256, 6, certificate), .truncated), (blob(3, 256, 6, certificate + [0]), .invalidValue),
      (blob(3, 256, 0, []), .invalidValue), (blob(3, 256, 2, [0x31, 0x00]), .invalidValue),
      ([3] + [UInt8](repeating: 9, count: 256) + [0xFF, 0xFF, 0xFF, 0xFF] + certificate, .truncated),
    ] as [([UInt8], MalformedReceipt.Code)] {
      expectFailure(code, at: place) { _ = try UnverifiedTransactionReceipt(parsing: receipt(blob: blob)) }
    }
    // Version 2 read with the signature length of version 3 and the other way round.
    expectFailure(.truncated, at: place) {
      _ = try UnverifiedTransactionReceipt(parsing: receipt(blob: blob(2, 256, 5, certificate)))
    }
  }

  @Test("Both signed keys are required, in base64")
  func requiredKeys() throws {
    let sample = try PropertyList(parsing: SampleReceipts.transactionReceipt())
    for key in ["signature", "purchase-info"] {
      var list = sample
      list[key] = nil
      expectFailure(.missing, at: .propertyListKey(key)) {
        _ = try UnverifiedTransactionReceipt(parsing: list.encoded())
      }
      list[key] = "AAA*"
      expectFailure(.invalidBase64, at: .byteOffset(3, within: key)) {
        list.entries.sort { first, _ in first.key == key }
        if key == "purchase-info" { list["signature"] = sample["signature"] }
        _ = try UnverifiedTransactionReceipt(parsing: list.encoded())
      }
    }
  }

  @Test("Dates are taken in milliseconds, else to the second, and must agree")
  func dates() throws {
    func decode(_ text: String) throws -> TransactionReceiptPurchaseInfo {
      try TransactionReceiptPurchaseInfo(decoding: Array(text.utf8))
    }
    let whole = Timestamp(secondsSince1970: 1_354_432_554)
    #expect(try decode(#"{"purchase-date"="2012-12-02 07:15:54 Etc/GMT";}"#).purchaseDate == whole)
    #expect(
      try decode(#"{purchase-date-ms=1354432554999;"purchase-date"="2012-12-02 07:15:54 Etc/GMT";}"#)
        .purchaseDate == Timestamp(millisecondsSince1970: 1_354_432_554_999))
    #expect(try decode("{expires-date=1354432554000;}").expiresDate == whole)
    #expect(try decode(#"{expires-date-formatted="2012-12-02 07:15:54 Etc/GMT";}"#).expiresDate == whole)
    expectFailure(.invalidValue, at: .propertyListKey("original-purchase-date")) {
      _ = try decode(
        #"{original-purchase-date-ms=1354432555001;original-purchase-date="2012-12-02 07:15:54 Etc/GMT";}"#)
    }
    expectFailure(.invalidValue, at: .propertyListKey("purchase-date")) {
      _ = try decode(#"{"purchase-date"="2012-12-02T07:15:54Z";}"#)
    }
    expectFailure(.invalidValue, at: .propertyListKey("purchase-date-ms")) {
      _ = try decode(#"{"purchase-date-ms"="1354432554.5";}"#)
    }
    expectFailure(.outOfRange, at: .propertyListKey("purchase-date-ms")) {
      _ = try decode("{purchase-date-ms=9007199254740993;}")
    }
    expectFailure(.outOfRange, at: .propertyListKey("quantity")) {
      _ = try decode("{quantity=9223372036854775808;}")
    }
    for text in [#""""#, "-", "x1", #""+1""#, #"" 1""#] {
      expectFailure(.invalidValue, at: .propertyListKey("quantity")) { _ = try decode("{quantity=\(text);}") }
    }
    #expect(try decode("{quantity=-2;}").quantity == -2)
    for text in [#""""#, "abc", "1234567890x", #""+1234567890""#] {
      expectFailure(.invalidValue, at: .propertyListKey("app-item-id")) {
        _ = try decode("{app-item-id=\(text);}")
      }
    }
    // 2^64 and the number of an app.
    expectFailure(.outOfRange, at: .propertyListKey("app-item-id")) {
      _ = try decode("{app-item-id=18446744074944119506;}")
    }
  }
}
