// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// A genuine purchase that was parsed and written again is refused, and the refusal says so.
@Suite struct ReserializedDataTests {
  /// Writes JSON as some library would.
  struct Writer {
    var colon = ":"
    var comma = ","
    var line = ""
    var indent = ""
    var escapesSlash = false
    var escapesHTML = false
    var escapesNonASCII = false
    var isUppercase = false

    func text(_ value: JSONValue, depth: Int = 0) -> String {
      let outer = line.isEmpty ? "" : line + String(repeating: indent, count: depth)
      let inner = line.isEmpty ? "" : line + String(repeating: indent, count: depth + 1)
      switch value {
      case .object(let members):
        let parts = members.map { "\(inner)\(string($0.name))\(colon)\(text($0.value, depth: depth + 1))" }
        return "{" + parts.joined(separator: comma) + outer + "}"
      case .array(let elements):
        let parts = elements.map { inner + text($0, depth: depth + 1) }
        return "[" + parts.joined(separator: comma) + outer + "]"
      case .string(let text): return string(text)
      default: return String(decoding: value.encoded(), as: UTF8.self)
      }
    }

    private func string(_ text: String) -> String {
      var result = ""
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": result += "\\\(scalar)"
        case "/" where escapesSlash: result += "\\/"
        case "<", ">", "&", "=", "'":
          result += escapesHTML ? escape(UInt16(scalar.value)) : String(scalar)
        case _ where scalar.value > 0x7E && escapesNonASCII:
          result += String(scalar).utf16.map(escape).joined()
        default: result += String(scalar)
        }
      }
      return "\"\(result)\""
    }

    private func escape(_ unit: UInt16) -> String {
      let digits = String(unit, radix: 16, uppercase: isUppercase)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }

  private typealias Members = [JSONMember]

  private static func purchase() throws -> (data: String, signature: String) {
    let receipt = try UnverifiedDetachedReceipt(
      parsing: TestReceipts().googlePlayPurchase {
        $0.developerPayload = "{\"user\":\"a/b=c&<d>'é😀\",\"n\":\"1\"}"
        $0.autoRenewing = true
      })
    return (String(decoding: receipt.signedBytes, as: UTF8.self), Base64.encodeToString(receipt.signature))
  }

  private static func setting(_ name: String, _ value: JSONValue) -> (Members) -> Members {
    { $0.map { $0.name == name ? JSONMember(name: name, value: value) : $0 } }
  }

  /// The payload, parsed as well.
  private static func nested(_ members: Members) -> Members {
    members.map { member in
      guard member.name == "developerPayload", let text = member.value.string,
        let value = try? JSONValue(parsing: Array(text.utf8))
      else { return member }
      return JSONMember(name: member.name, value: value)
    }
  }

  /// Ways to write, ways to change the members, and words of the explanation.
  private static func ways() -> [(Writer, (Members) -> Members, String)] {
    let same: (Members) -> Members = { $0 }
    let sorted: (Members) -> Members = { $0.sorted { $0.name < $1.name } }
    let reversed: (Members) -> Members = { $0.reversed() }
    let rotated: (Members) -> Members = { Array($0.dropFirst(3)) + $0.prefix(3) }
    let swapped: (Members) -> Members = { members in
      var members = members
      members.swapAt(0, 1)
      return members
    }
    let adding: (Members) -> Members = { $0 + [JSONMember(name: "store", value: .string("x"))] }
    let null: (Members) -> Members = { $0 + [JSONMember(name: "obfuscatedProfileId", value: .null)] }
    let spaces = Writer(colon: ": ", comma: ", ")
    let pretty = Writer(colon: ": ", line: "\n", indent: "  ")
    let writers = [
      spaces, Writer(colon: ": "), Writer(colon: " : "), Writer(comma: ", "), pretty,
      Writer(colon: ": ", line: "\n", indent: "    "), Writer(colon: ": ", line: "\n", indent: "\t"),
      Writer(line: "\r\n", indent: " "),
    ]
    var ways = writers.map { ($0, same, "white space was added") }
    for order in [sorted, reversed, rotated, swapped] {
      ways.append((Writer(), order, "reordered"))
      ways.append((spaces, order, "reordered"))
      ways.append((pretty, order, "white space was added"))
    }
    let escapes = [
      Writer(escapesSlash: true), Writer(escapesHTML: true), Writer(escapesNonASCII: true),
      Writer(escapesNonASCII: true, isUppercase: true), Writer(escapesSlash: true, escapesNonASCII: true),
      Writer(escapesHTML: true, isUppercase: true), Writer(escapesHTML: true, escapesNonASCII: true),
    ]
    for writer in escapes {
      ways.append((writer, same, "escaped otherwise"))
      ways.append((writer, sorted, "reordered"))
    }
    let changes: [(Members) -> Members] = [
      nested, { sorted(nested($0)) },
      setting("purchaseTime", .string("1759302550000")), setting("purchaseState", .string("0")),
      setting("quantity", .string("1")), setting("acknowledged", .string("false")),
      setting("acknowledged", .integer(0)), setting("autoRenewing", .string("1")),
    ]
    ways += changes.map { (Writer(), $0, "changed their type") }
    if let exponent = JSONNumber(text: "1.75930255E12"), let fraction = JSONNumber(text: "1759302550000.0") {
      ways.append((Writer(), setting("purchaseTime", .number(exponent)), "changed their type"))
      ways.append((spaces, setting("purchaseTime", .number(fraction)), "changed their type"))
    }
    ways.append((Writer(), null, "written again"))
    ways.append((Writer(), adding, "members were added"))
    return ways
  }

  @Test("written again in forty ways, it is refused with the diagnosis")
  func fortyWays() throws {
    let (data, signature) = try Self.purchase()
    let verifier = try Fixture.verifierOfAllStores()
    expectValid(verifier.verify(Self.receipt(data, signature)))
    let members = try #require(try JSONValue(parsing: Array(data.utf8)).object)
    let ways = Self.ways()
    #expect(ways.count >= 40)
    #expect(Writer().text(.object(members)) == data)
    for (index, (writer, change, words)) in ways.enumerated() {
      let rewritten = writer.text(.object(change(members)))
      #expect(rewritten != data, "way \(index)")
      let verdict = verifier.verify(Self.receipt(rewritten, signature))
      expectInvalid(verdict, .signatureMismatch, at: "$.signature", "way \(index): \(rewritten)")
      let message = verdict.reason?.message ?? ""
      #expect(message.contains("parsed and written again") && message.contains(words), "\(index): \(message)")
      #expect(message.contains("byte for byte"))
    }
  }

  @Test("what was put around the data, or taken away, is named")
  func ends() throws {
    let (data, signature) = try Self.purchase()
    let verifier = try Fixture.verifierOfAllStores()
    for around in ["\(data)\n", "\(data)\r\n", " \(data)", "\n\(data)\n"] {
      let verdict = verifier.verify(Self.receipt(around, signature))
      expectInvalid(verdict, .signatureMismatch, at: "$.signature")
      #expect(verdict.reason?.message.contains("white space, such as a line end, was put around") == true)
    }
    let mark = verifier.verify(Self.receipt("\u{FEFF}\(data)", signature))
    expectInvalid(mark, .signatureMismatch, at: "$.signature")
    #expect(mark.reason?.message.contains("byte order mark was put in front") == true)
    let signer = AppKeySigner(unchecked: SigningIdentity(appKey: try TestKeys.app()))
    let signed = try UnverifiedDetachedReceipt(
      parsing: signer.sign(data: Array("\(data)\n".utf8), with: .sha1WithRSA))
    let cut = verifier.verify(Self.receipt(data, Base64.encodeToString(signed.signature)))
    expectInvalid(cut, .signatureMismatch, at: "$.signature")
    #expect(cut.reason?.message.contains("is signed and was removed") == true)
  }

  @Test(
    "what became of the signature is named",
    arguments: [
      ("+", " ", "A space stands where"), ("/", "\\/", "JSON escapes"), ("=", "\\u003d", "JSON escapes"),
      ("+", "%2B", "Percent-encoding"), ("/", "_", "base64url"), ("=", "", "padding"),
      ("A", "A\n", "line breaks"),
    ])
  func signature(found: String, replacement: String, words: String) throws {
    // A signature with all of these characters.
    let text = "ab+/AAAAAAAAAAAAAA=="
    #expect(text.contains(found))
    let damaged = text.split(separator: found, omittingEmptySubsequences: false).joined(
      separator: replacement)
    let verdict = try Fixture.verifierOfAllStores().verify(Self.receipt(try Self.purchase().data, damaged))
    expectInvalid(verdict, .malformed, at: "$.signature")
    #expect(verdict.reason?.message.contains(words) == true, "\(verdict.summary)")
  }

  private static func receipt(_ data: String, _ signature: String) -> [UInt8] {
    JSONValue.object([
      JSONMember(name: "data", value: .string(data)),
      JSONMember(name: "signature", value: .string(signature)),
    ]).encoded()
  }
}
