// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@testable import ReceiptCodec

@Suite("Wrappings of receipts in text")
struct TextWrappingTests {
  private func base64(_ bytes: [UInt8]) -> String { Base64.encodeToString(bytes) }

  private func percentEncoded(_ text: String) -> String {
    text.replacing("%", with: "%25").replacing("+", with: "%2B").replacing("/", with: "%2f").replacing(
      "=", with: "%3D")
  }

  private func pem(_ bytes: [UInt8], _ label: String, end: String = "\n") -> String {
    let text = Array(base64(bytes))
    let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
    return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: end)
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    let groups = stride(from: 0, to: bytes.count, by: 4).map {
      Hexadecimal.encode(bytes[$0..<min($0 + 4, bytes.count)])
    }
    return "<" + groups.joined(separator: " ") + ">"
  }

  private func encoded(_ text: String) throws -> [UInt8] {
    try UnverifiedReceipt(parsing: Array(text.utf8)).encoded
  }

  @Test("what has one reading is read, and gives the receipt byte for byte")
  func unambiguous() throws {
    let propertyList = try SampleReceipts.transactionReceipt()
    for (bytes, isText) in [
      (SampleReceipts.appReceipt, false), (propertyList, true), (SampleReceipts.jws, true),
    ] {
      let text = base64(bytes)
      var forms = [
        "Bearer \(text)", "bearer  \(text)\n", "BEARER%20\(text)",
        "data:application/octet-stream;base64,\(text)",
        "DATA:;base64,\(percentEncoded(text))", pem(bytes, "PKCS7"), pem(bytes, "CMS", end: "\r\n"),
        "\n" + pem(bytes, "RECEIPT DATA"),
        pem(bytes, "PKCS7").replacing("BEGIN PKCS7-----", with: "BEGIN PKCS7----- \t"),
        percentEncoded(text), hexadecimal(bytes),
        hexadecimal(bytes).uppercased(),
        base64(Array(text.utf8)), base64(Array(base64(Array(text.utf8)).utf8)), text,
        "data:text/plain;base64,\(base64(Array(text.utf8)))", "Bearer data:;base64,\(percentEncoded(text))",
      ]
      if isText {
        let plain = String(decoding: bytes, as: UTF8.self)
        forms += ["Bearer \(plain)", "data:,\(percentEncoded(plain))"]
      }
      for form in forms {
        #expect(try encoded(form) == bytes, "\(form.prefix(60))")
        guard form.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 }) else { continue }
        #expect(try encoded("{\"receipt-data\":\"\(form)\"}") == bytes, "\(form.prefix(60))")
      }
    }
  }

  @Test("JSON in a percent-encoded form is read")
  func json() throws {
    let json = "{\"receipt-data\":\"\(base64(SampleReceipts.appReceipt))\"}"
    let form = json.utf8.map { byte in
      UInt8(ascii: "0")...UInt8(ascii: "z") ~= byte && byte != UInt8(ascii: "=")
        ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte])
    }.joined()
    #expect(try encoded(form) == SampleReceipts.appReceipt)
  }

  @Test("a changed byte inside a wrapping never gives the receipt that was wrapped")
  func changed() throws {
    let bytes = SampleReceipts.appReceipt
    for form in [
      pem(bytes, "PKCS7"), hexadecimal(bytes), percentEncoded(base64(bytes)),
      base64(Array(base64(bytes).utf8)),
    ] {
      let text = Array(form.utf8)
      for index in stride(from: 0, to: text.count, by: 7) where text[index] > 0x20 {
        var changed = text
        changed[index] = changed[index] == UInt8(ascii: "B") ? UInt8(ascii: "C") : UInt8(ascii: "B")
        guard let receipt = try? UnverifiedReceipt(parsing: changed) else { continue }
        #expect(
          receipt.encoded != bytes
            || String(decoding: changed, as: UTF8.self).uppercased() == form.uppercased())
      }
    }
  }

  private func expectFailure(
    _ code: MalformedReceipt.Code, _ word: String, _ text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: MalformedReceipt.self, sourceLocation: sourceLocation) {
      try UnverifiedReceipt(parsing: Array(text.utf8))
    }
    #expect(error?.code == code, "\(error?.description ?? "")", sourceLocation: sourceLocation)
    #expect(
      error?.message.contains(word) == true, "\(error?.description ?? "")", sourceLocation: sourceLocation)
  }

  @Test("what is ambiguous or damaged is refused with the damage and the way out")
  func ambiguous() throws {
    // Bytes whose base64 has a plus sign in the middle.
    let text = base64([0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 0xFB, count: 256))
    #expect(text.contains("+"))
    expectFailure(
      .invalidBase64, "A space stands in the base64 where \"+\" belongs", text.replacing("+", with: " "))
    expectFailure(
      .unsupported, "list of receipts, \"signedTransactions\"",
      "{\"revision\":\"1\",\"hasMore\":false,\"signedTransactions\":[\"eyJ\"]}")
    let receipt = SampleReceipts.appReceipt
    expectFailure(
      .unrecognized, "This is hexadecimal", Hexadecimal.encode([0x30, 0x82, 0x01, 0x02, 0x03, 0x04]))
    expectFailure(.truncated, "description of an NSData", "{length = 5090, bytes = 0x30821 ... 3e }")
    expectFailure(.truncated, "no comma", "data:application/octet-stream;base64")
    expectFailure(.invalidValue, "two hexadecimal digits", percentEncoded(base64(receipt)) + "%3")
    expectFailure(.invalidValue, "END line", String(pem(receipt, "PKCS7").dropLast(10)))
    expectFailure(.invalidValue, "END line", pem(receipt, "PKCS7").replacing("END PKCS7", with: "END CMS"))
    expectFailure(.invalidValue, "no lines", pem(receipt, "PKCS7").replacing("\n", with: ""))
    expectFailure(.empty, "empty text", "Bearer%20")
    var layers = base64(receipt)
    for _ in 0..<4 { layers = base64(Array(layers.utf8)) }
    expectFailure(.unsupported, "more than 3 wrappings", layers)
  }
}
