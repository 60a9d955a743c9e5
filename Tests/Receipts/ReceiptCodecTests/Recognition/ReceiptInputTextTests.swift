// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Testing

@Suite("What is put around a receipt")
struct ReceiptInputTextTests {
  private func stripped(_ text: String) -> String {
    String(decoding: ReceiptInputText.stripped(Array(text.utf8)), as: UTF8.self)
  }

  @Test(
    "A byte order mark and a pair of quotation marks are removed",
    arguments: [
      "MIIB", "\u{FEFF}MIIB", "\"MIIB\"", "\u{FEFF}\"MIIB\"", " \"MIIB\"\r\n", "\r\n\" MIIB\t\"",
    ])
  func removed(_ text: String) { #expect(stripped(text) == "MIIB") }

  @Test("A JSON object within plain quotation marks is freed of them")
  func object() {
    #expect(stripped(#""{"signature":"\n"}""#) == #"{"signature":"\n"}"#)
    #expect(stripped(#""{ "a":1}""#) == #"{ "a":1}"#)
  }

  @Test(
    "All else is left as it is: JSON strings with escapes, two pairs, one mark, nothing within",
    arguments: [
      #""{\"signature\":1}""#, #""a\/b""#, #"""MIIB"""#, "\"MIIB", "MIIB\"", "\"\"", "\"", "",
      "{\"a\": \"b\"}", "e30.e30.", " MIIB ",
    ])
  func left(_ text: String) { #expect(stripped(text) == text) }

  @Test("Bytes that are not text are left as they are")
  func binary() {
    for bytes: [UInt8] in [[0x30, 0x80, 0x22], [0xEF, 0xBB], [0x00, 0x22], [0x22, 0xFF, 0xFE]] {
      #expect(ReceiptInputText.stripped(bytes) == bytes)
    }
    #expect(ReceiptInputText.stripped([0xEF, 0xBB, 0xBF]) == [])
  }
}
