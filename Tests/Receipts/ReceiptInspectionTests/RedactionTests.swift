// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptInspection
import ReceiptTesting
import Testing

/// A place within a document, the type there, the length of the text, and the text.
private struct Leaf: Hashable {
  var path: String
  var shape: String
  var text: String
}

extension JSONValue {
  fileprivate func leaves(_ path: String = "") -> [Leaf] {
    switch self {
    case .null: [Leaf(path: path, shape: "null", text: "null")]
    case .bool(let bool): [Leaf(path: path, shape: "bool", text: "\(bool)")]
    case .number(let number): [Leaf(path: path, shape: "number \(number.text.count)", text: number.text)]
    case .string(let string): [Leaf(path: path, shape: "string \(string.unicodeScalars.count)", text: string)]
    case .array(let elements): elements.enumerated().flatMap { $1.leaves("\(path)[\($0)]") }
    case .object(let members): members.flatMap { $0.value.leaves("\(path).\($0.name)") }
    }
  }
}

@Suite("A redacted receipt")
struct RedactionTests {
  /// The last names of the paths of values that may stay.
  private let kept: Set<String> = [
    "alg", "critical", "digestAlgorithm", "digestAlgorithms", "environment", "format", "inAppOwnershipType",
    "key", "name",
    "notAfter",
    "notBefore", "notificationType", "notice", "signatureAlgorithm", "signatureVersion", "subtype",
    "transactionReason", "typ", "type", "verified", "version",
  ]

  @Test("Names, order, types and lengths stay; the values do not", arguments: ReceiptKind.allCases)
  func structure(kind: ReceiptKind) throws {
    let inspection = try Inspection(of: kind)
    let whole = try inspection.json().leaves()
    let redacted = try inspection.json(redacting: true).leaves()
    #expect(whole.map(\.path) == redacted.map(\.path))
    #expect(whole.map(\.shape) == redacted.map(\.shape))
    let changed = zip(whole, redacted).filter { $0 != $1 }
    #expect(changed.count > 3)
    for (before, after) in zip(whole, redacted) where before == after {
      let name = String(before.path.split(separator: ".").last?.split(separator: "[").first ?? "")
      let hasNothing = !before.text.unicodeScalars.contains { $0.properties.isAlphabetic || "2"..."9" ~= $0 }
      #expect(
        kept.contains(name) || hasNothing || ["bool", "null"].contains(before.shape), "\(before) stays")
    }
    #expect(try inspection.json(redacting: true)["format"]?.string == kind.rawValue)
  }

  @Test("What a customer wrote is nowhere in it, in whichever member")
  func values() throws {
    let payload = #"""
      {"type":"alice@example.com","environment":"Zürich","bundleId":"com.secret.app","transactionId":"4711",
      "header":{"alg":"alice@example.com","kid":"alice"},"format":"alice","appAccountToken":"Alice-4711",
      "nested":[{"attributes":[{"type":4711,"name":"x","text":"Älice 4711"}]},[4711,-47.11e3,true,null]],
      "productId":"secret.product"}
      """#
    let inspection = try Inspection(jws: payload, certificates: [])
    let redacted = try inspection.json(redacting: true)
    let all = redacted.leaves().map(\.text).joined(separator: "\n")
    for secret in ["alice", "Alice", "lice", "secret", "Zürich", "rich", "47.11"] {
      #expect(!all.contains(secret), "\(secret) is in \(all)")
    }
    #expect(redacted["payload"]?["appAccountToken"] == .string("Xxxxx-0000"))
    #expect(redacted["payload"]?["transactionId"] == .string("0000"))
    #expect(redacted["payload"]?["bundleId"] == .string("xxx.xxxxxx.xxx"))
    #expect(redacted["header"]?["alg"] == .string("ES256"))
  }

  @Test("The error of a malformed part, which may quote a value, is replaced as well")
  func malformed() throws {
    let inspection = try Inspection(jws: #"{"environment":4711}"#, certificates: [[0x30, 0x47, 0x11]])
    let redacted = try inspection.json(redacting: true)
    #expect(redacted["certificates"]?.array?.first?.string?.hasPrefix("xxxxxxxxx: ") == true)
    #expect(redacted["format"]?.string?.hasPrefix("xxxxxxx") == true)
    #expect(redacted.leaves().allSatisfy { !$0.text.contains("4711") })
  }
}
