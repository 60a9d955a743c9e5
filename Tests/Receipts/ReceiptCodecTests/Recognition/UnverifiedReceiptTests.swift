// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@testable import ReceiptCodec

@Suite("Recognition of receipts")
struct UnverifiedReceiptTests {
  private func expectFailure(
    _ code: MalformedReceipt.Code, at place: MalformedReceipt.Place, _ bytes: [UInt8],
    limits: ReceiptLimits = .standard, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: MalformedReceipt.self, sourceLocation: sourceLocation) {
      try UnverifiedReceipt(parsing: bytes, limits: limits)
    }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.place == place, sourceLocation: sourceLocation)
  }

  private func kind(_ bytes: [UInt8]) throws -> ReceiptKind { try UnverifiedReceipt(parsing: bytes).kind() }
  private func kind(_ text: String) throws -> ReceiptKind { try kind(Array(text.utf8)) }

  /// Breaks text into lines of 76.
  private func lines(_ text: [UInt8], end: String) -> [UInt8] {
    var broken: [UInt8] = []
    for start in stride(from: 0, to: text.count, by: 76) {
      broken += text[start..<min(start + 76, text.count)]
      broken += end.utf8
    }
    return broken
  }

  @Test("Each kind is recognized as it is and with white space around it")
  func plain() throws {
    let jws = SampleReceipts.jws
    let propertyList = try SampleReceipts.transactionReceipt()
    #expect(try kind(jws) == .signedTransaction)
    #expect(try kind([0x0A] + jws + [0x0D, 0x0A]) == .signedTransaction)
    #expect(try kind(SampleReceipts.appReceipt) == .appReceipt)
    #expect(try kind(propertyList) == .transactionReceipt)
    #expect(try kind([0x20, 0x09] + propertyList + [0x0A]) == .transactionReceipt)
    #expect(
      try kind("{signature" + String(decoding: propertyList.dropFirst(14), as: UTF8.self))
        == .transactionReceipt)
    guard case .appReceipt(let receipt) = try UnverifiedReceipt(parsing: SampleReceipts.appReceipt) else {
      Issue.record("not an app receipt")
      return
    }
    #expect(receipt.encoded == SampleReceipts.appReceipt)
  }

  @Test("Base64 is decoded, in lines or not, in both alphabets, padded or not")
  func base64() throws {
    for (bytes, expected) in [
      (SampleReceipts.appReceipt, ReceiptKind.appReceipt),
      (try SampleReceipts.transactionReceipt(), .transactionReceipt),
    ] {
      let text = Base64.encode(bytes)
      #expect(try kind(text) == expected)
      #expect(try kind(lines(text, end: "\n")) == expected)
      #expect(try kind([0x0A] + lines(text, end: "\r\n")) == expected)
      #expect(try kind(Base64URL.encode(bytes)) == expected)
      #expect(try kind(lines(Base64URL.encode(bytes), end: "\r\n")) == expected)
      #expect(try kind(text.filter { $0 != UInt8(ascii: "=") }) == expected)
    }
    // FB FF gives both symbols in which the alphabets differ.
    let mixed = Array("MIAA+_8A".utf8)
    expectFailure(.invalidBase64, at: .byteOffset(4, within: "base64 text"), mixed)
    expectFailure(.invalidBase64, at: .byteOffset(4, within: "base64 text"), Array("MIAA*AAA".utf8))
    expectFailure(.invalidBase64, at: .byteOffset(5, within: "base64 text"), Array("MIAAA".utf8))
  }

  @Test(
    "A receipt in JSON is unwrapped",
    arguments: [
      "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo", "signedPayload",
      "receipt-data",
      "latest_receipt",
    ])
  func json(name: String) throws {
    let jws = String(decoding: SampleReceipts.jws, as: UTF8.self)
    #expect(try kind(" {\"\(name)\" : \"\(jws)\"}\n") == .signedTransaction)
    let base64 = Base64.encodeToString(SampleReceipts.appReceipt).replacing("/", with: "\\/")
    #expect(
      try kind("{\n  \"status\": 0, \"\(name)\": \"\(base64)\", \"other\": {\"receipt-data\": 1}}")
        == .appReceipt)
    let propertyList = Base64.encodeToString(try SampleReceipts.transactionReceipt())
    #expect(try kind("{\"password\":\"x\",\"\(name)\":\"\(propertyList)\\n\"}") == .transactionReceipt)
    #expect(try kind("\"\(jws)\"") == .signedTransaction)
  }

  @Test(
    "A receipt is unwrapped from what the plugins of apps hand over",
    arguments: ["jws", "jwsRepresentation", "transactionReceipt", "appStoreReceipt"])
  func pluginJSON(name: String) throws {
    let jws = String(decoding: SampleReceipts.jws, as: UTF8.self)
    #expect(try kind("{\"store\": \"apple\", \"\(name)\": \"\(jws)\"}") == .signedTransaction)
    let transaction = "{\"type\": \"apple-sk2\", \"id\": \"p\", \"\(name)\": \"\(jws)\"}"
    #expect(try kind("{\"id\": \"com.example.app\", \"transaction\": \(transaction)}") == .signedTransaction)
    let other = name == "jws" ? "appStoreReceipt" : "jws"
    let two = "{\"transaction\": {\"\(name)\": \"\(jws)\", \"\(other)\": \"\(jws)\"}}"
    expectFailure(.unsupported, at: .jsonPath("$.transaction.\(name)"), Array(two.utf8))
    expectFailure(.unsupported, at: .jsonPath("$.\(name)"), Array("{\"\(name)\": 1}".utf8))
  }

  @Test("A JWS whose header begins with white space is a JWS", arguments: [" ", "\n", "\r\n", "\t "])
  func whiteSpaceBeforeTheHeader(space: String) throws {
    let parts = String(decoding: SampleReceipts.jws, as: UTF8.self).split(separator: ".")
    let header = Array(space.utf8) + (try Base64URL.decode(Array(parts[0].utf8)))
    #expect(try kind("\(Base64URL.encodeToString(header)).\(parts[1]).\(parts[2])") == .signedTransaction)
  }

  @Test("JSON with no receipt, several, or more JSON inside is refused")
  func badJSON() throws {
    let jws = String(decoding: SampleReceipts.jws, as: UTF8.self)
    func expect(
      _ code: MalformedReceipt.Code, at place: MalformedReceipt.Place, _ text: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      expectFailure(code, at: place, Array(text.utf8), sourceLocation: sourceLocation)
    }
    expect(.unrecognized, at: .jsonPath("$"), "{}")
    expect(.unrecognized, at: .jsonPath("$"), "{\"receipt\": \"\(jws)\"}")
    expect(.unrecognized, at: .jsonPath("$"), "[\"\(jws)\"]")
    expect(.unsupported, at: .jsonPath("$"), "{\"receipt-data\": \"\(jws)\", \"latest_receipt\": \"\(jws)\"}")
    expect(.unsupported, at: .jsonPath("$"), "{\"receipt-data\": \"{\\\"receipt-data\\\": 1}\"}")
    expect(.unsupported, at: .jsonPath("$"), "\"\\\"\(jws)\\\"\"")
    expect(.wrongType, at: .jsonPath("$.receipt-data"), "{\"receipt-data\": {}}")
    expect(.wrongType, at: .jsonPath("$.receipt-data"), "{\"receipt-data\": null}")
    expect(.empty, at: .whole, "{\"receipt-data\": \" \"}")
    expect(.unrecognized, at: .jsonPath("$"), "{\"receipt-data\": \"*\"}")
    expect(
      .duplicate, at: .jsonPath("$.receipt-data"),
      "{\"receipt-data\": \"\(jws)\", \"receipt-data\": \"\(jws)\"}")
    let error = #expect(throws: MalformedReceipt.self) {
      try UnverifiedReceipt(parsing: Array("{}".utf8))
    }
    for name in ["signedTransactionInfo", "signedPayload", "receipt-data", "latest_receipt"] {
      #expect(error?.message.contains(name) == true)
    }
  }

  @Test("Data that is not a receipt is refused at once, with a clear error")
  func noReceipt() {
    expectFailure(.empty, at: .whole, [])
    expectFailure(.empty, at: .whole, Array(" \r\n\t".utf8))
    let place = MalformedReceipt.Place.byteOffset(0, within: "input")
    for text in ["{", "{\"a", "{\"a\" 5}", ".", ".a.b", "*", "é", "=", "<xml/>"] {
      expectFailure(.unrecognized, at: place, Array(text.utf8))
    }
    expectFailure(.unrecognized, at: .byteOffset(0, within: "decoded base64"), Array("aGVsbG8=".utf8))
    expectFailure(
      .unrecognized, at: .byteOffset(0, within: "decoded base64"), Base64.encode(Array("{\"alg\":1}".utf8)))
    expectFailure(.truncated, at: .byteOffset(3, within: "JWS"), Array("a.b".utf8))
    expectFailure(.truncated, at: .byteOffset(2, within: "property list").inReceipt, Array("{a".utf8))
  }

  @Test("Size is checked before anything else")
  func sizes() {
    let zeros = [UInt8](repeating: 0, count: 100 << 20)
    expectFailure(.tooLarge, at: .whole, zeros)
    let limits = ReceiptLimits(maximumByteCount: 200 << 20)
    expectFailure(.unrecognized, at: .byteOffset(0, within: "input"), zeros, limits: limits)
    let letters = [UInt8](repeating: UInt8(ascii: "A"), count: 1 << 20)
    expectFailure(.unrecognized, at: .byteOffset(0, within: "decoded base64"), letters)
    let open = [UInt8](repeating: UInt8(ascii: "{"), count: 1 << 20)
    expectFailure(.unsupported, at: .byteOffset(1, within: "transaction receipt"), open)
  }

  @Test(
    "Genuine receipts are recognized",
    .enabled(if: GenuineReceiptFolder.isPresent, "SKIPPED: no genuine receipts; set RECEIPTKIT_SHARED."),
    arguments: GenuineReceiptFolder.entries)
  func genuine(entry: GenuineReceiptFolder.Entry) throws {
    if entry.kind.hasSuffix("-negative"), entry.expected.parses != true { return }
    if entry.kind == "transaction-receipt-negative" { return }
    switch try UnverifiedReceipt(parsing: entry.bytes()) {
    case .jws: #expect(entry.kind.hasPrefix("jws"))
    case .appReceipt: #expect(entry.kind.hasPrefix("app-receipt"))
    case .transactionReceipt: #expect(entry.kind.hasPrefix("transaction-receipt"))
    case .detached: Issue.record("None of Apple's receipts has its signature beside it.")
    }
  }

  @Test(
    "a name of a purchase is no receipt, and the error says what it is good for",
    arguments: [
      ("opbbgbgccfhbhbndhhdpdakb.AO-J1Ozt1kYV3f2gWtkXoLCHQ", "a purchase token of Google Play"),
      (" 2000000123456789\n", "a transaction identifier of the App Store"),
    ])
  func purchaseNames(text: String, name: String) throws {
    let error = #expect(throws: MalformedReceipt.self) { try UnverifiedReceipt(parsing: Array(text.utf8)) }
    #expect(error?.code == .unrecognized)
    #expect(error?.message.contains(name) == true && error?.message.contains("lookup") == true)
  }

  @Test(
    "what only resembles a name of a purchase gets the error of its form",
    arguments: ["12345", "opbb.AO-J1Ozt1kYV"])
  func noPurchaseNames(text: String) throws {
    let error = #expect(throws: MalformedReceipt.self) { try UnverifiedReceipt(parsing: Array(text.utf8)) }
    #expect(error?.message.contains("lookup") == false)
  }
}

extension MalformedReceipt.Place {
  /// The same offset, in the text that recognition names.
  fileprivate var inReceipt: MalformedReceipt.Place {
    guard case .byteOffset(let offset, _) = self else { return self }
    return .byteOffset(offset, within: "transaction receipt")
  }
}
