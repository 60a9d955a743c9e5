// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptBytes
import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// A refusal costs no more than an acceptance of the same length: what is looked for in an input is looked for in one pass
/// over its bytes.
@Suite struct SearchTests {
  /// Functions of the standard library and Foundation that search collections and strings generically: 0.15 to 0.5 µs a
  /// byte, where a pass over bytes takes a thousandth of that.
  private static let slowSearches = [
    "firstRange(of:", ".ranges(of:", ".range(of:", ".replacing(", "replacingOccurrences",
    "components(separatedBy",
  ]

  @Test("modules that read what strangers send do not search with generic algorithms")
  func generic() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Sources/Receipts")
    var count = 0
    for module in ["ReceiptBytes", "ReceiptCodec", "ReceiptCrypto", "ReceiptVerification"] {
      let files = try #require(
        FileManager.default.enumerator(at: sources.appending(path: module), includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        count += 1
        for (number, line) in try String(contentsOf: file, encoding: .utf8).split(
          separator: "\n", omittingEmptySubsequences: false
        ).enumerated() where !line.drop(while: { $0 == " " }).hasPrefix("//") {
          for search in Self.slowSearches where line.contains(search) {
            Issue.record("\(file.lastPathComponent):\(number + 1): \(search)")
          }
        }
      }
    }
    #expect(count > 100)
  }

  @Test("what became of a signature is told as before")
  func damage() throws {
    let receipts = try TestReceipts()
    let plain = String(decoding: try receipts.googlePlayPurchase(), as: UTF8.self)
    let value = try JSONValue(parsing: Array(plain.utf8))
    let data = try #require(value["data"]?.string)
    let signature = try #require(value["signature"]?.string)
    let rest = String(signature.dropFirst(8))
    let beginnings: [(String, String)] = [
      ("ab\\/cdef", "JSON escapes"), ("ab%2Bcde", "Percent-encoding"), ("ab%3Dcde", "Percent-encoding"),
      ("ab cdefg", "A space"), ("ab-_defg", "base64url"), ("ab\ncdefg", "line breaks"),
      ("ab!cdefg", "not standard base64"),
      // Of several the most telling is named.
      ("\\ % -\n%2B", "JSON escapes"), ("%2B \n-", "Percent-encoding"),
    ]
    var cases: [(String, String)] = [(String(signature.filter { $0 != "=" }.dropLast()), "cut short")]
    for (beginning, word) in beginnings { cases.append((beginning + rest, word)) }
    for (damaged, word) in cases {
      let error = #expect(throws: MalformedReceipt.self) {
        try UnverifiedDetachedReceipt(signedBytes: Array(data.utf8), signature: damaged)
      }
      #expect(error?.message.contains(word) == true, "\(damaged.prefix(12)): \(error?.message ?? "")")
    }
  }

  @Test("a part is found wherever it stands, and only there", arguments: [0, 1, 7, 8, 9, 31, 32, 33, 100])
  func contains(length: Int) {
    func isFound(_ bytes: [UInt8]) -> Bool { ByteSearch.contains("\\u00", in: bytes.span) }
    let filling = [UInt8](repeating: UInt8(ascii: "\\"), count: length)
    #expect(isFound(filling + Array("\\u00".utf8)))
    #expect(isFound(Array("\\u00".utf8) + filling))
    #expect(!isFound(filling + Array("u0\\u0".utf8)))
    #expect(!isFound(filling))
    #expect(!isFound(Array("\\u0".utf8)))
  }
}
