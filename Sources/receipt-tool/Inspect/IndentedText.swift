// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec

/// Shows a JSON value as indented, human-readable lines. Dates in milliseconds are also shown in ISO 8601.
enum IndentedText {
  /// The report of a receipt: what was bought first, then who signed. The first and the last line say that it is not
  /// verified.
  static func text(of report: JSONValue) -> String {
    let members = report.object ?? []
    let purchase = ["payload", "inAppPurchases", "attributes", "purchaseInfo", "data"]
    let heading = ["source", "verified", "notice", "format"]
    var lines = [
      "UNVERIFIED  " + ShownText.plain("\(report["format"]?.string ?? "")  \(report["source"]?.string ?? "")")
    ]
    append(purchase.flatMap { name in members.filter { $0.name == name } }, indent: 0, to: &lines)
    append(members.filter { !(purchase + heading).contains($0.name) }, indent: 0, to: &lines)
    lines.append(report["notice"]?.string ?? "UNVERIFIED")
    return lines.joined(separator: "\n") + "\n"
  }

  private static func append(_ members: [JSONMember], indent: Int, to lines: inout [String]) {
    for member in members {
      if let money = Money.text(of: member, in: members) {
        let amount = "\(member.name): \(scalar(member.value, named: "")) (\(money))"
        lines.append(ShownText.plain(String(repeating: "  ", count: indent) + amount))
        continue
      }
      append(member.value, named: ShownText.plain(member.name), indent: indent, to: &lines)
    }
  }

  private static func append(_ value: JSONValue, named name: String, indent: Int, to lines: inout [String]) {
    let margin = String(repeating: "  ", count: indent)
    switch value {
    case .object(let members) where isAttribute(members):
      lines.append(margin + "\(name) \(attributeLine(members))")
    case .object(let members):
      lines.append(margin + "\(name):")
      append(members, indent: indent + 1, to: &lines)
    case .array(let elements):
      lines.append(margin + "\(name): (\(elements.count))")
      for (index, element) in elements.enumerated() {
        append(element, named: "[\(index)]", indent: indent + 1, to: &lines)
      }
    default:
      lines.append(margin + "\(name): \(scalar(value, named: name))")
    }
  }

  /// Attributes are many and small: one line each.
  private static func isAttribute(_ members: [JSONMember]) -> Bool {
    members.first?.name == "type" && members.dropFirst().first?.name == "name"
  }

  private static func attributeLine(_ members: [JSONMember]) -> String {
    members.map { "\($0.name) \(scalar($0.value, named: $0.name))" }.joined(separator: "  ")
  }

  private static func scalar(_ value: JSONValue, named name: String) -> String {
    switch value {
    case .string(let text):
      if let known = ObjectIdentifierNames.name(of: text) { return "\(text) (\(known))" }
      return text.isEmpty ? "(empty)" : ShownText.plain(text)
    case .number(let number):
      guard name.hasSuffix("Date") || name == "purchaseTime", abs(number.double) < Timestamp.greatestMagnitude
      else {
        return number.text
      }
      return "\(number.text) (\(Timestamp(millisecondsSince1970: number.double).iso8601))"
    case .bool(let flag): return flag ? "true" : "false"
    case .null: return "null"
    default: return String(decoding: value.encoded(), as: UTF8.self)
    }
  }
}
