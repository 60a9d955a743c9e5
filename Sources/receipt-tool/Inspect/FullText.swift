// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec

/// Everything in a receipt as indented lines, with the names and meanings of what it states by numbers and words. What is
/// not known is shown as it is, and said to be unknown. The first and the last line say that nothing was verified.
struct FullText {
  private let fields: FieldMeanings
  private var lines: [String] = []

  static func text(of report: JSONValue, _ colors: Colors) -> String {
    let members = report.object ?? []
    let purchase = ["payload", "inAppPurchases", "attributes", "purchaseInfo", "data"]
    let heading = ["type", "version", "source", "verified", "notice", "format"]
    let format = report["format"]?.string ?? ""
    var text = FullText(fields: FieldMeanings(of: ReceiptKind(rawValue: format)))
    for name in purchase {
      for member in members where member.name == name { text.append(member) }
    }
    for member in members where !(purchase + heading).contains(member.name) {
      text.append(member)
    }
    let first = "  \(format)  \(report["source"]?.string ?? "")"
    return colors("UNVERIFIED", .caution) + ShownText.plain(first) + "\n"
      + text.lines.map { ShownText.plain($0) + "\n" }.joined()
      + colors("UNVERIFIED", .caution) + Inspection.notice + "\n"
  }

  private init(fields: FieldMeanings) { self.fields = fields }

  /// Appends a member of the object `parent`, or of the report where that is `nil`. `known` are the names that are
  /// documented there, or `nil` where any may stand.
  private mutating func append(
    _ member: JSONMember, among siblings: [JSONMember] = [], known: Set<String>? = nil,
    of parent: String? = nil,
    indent: Int = 0
  ) {
    let isUnknown = known.map { !$0.contains(member.name) } ?? false
    let note =
      isUnknown ? "unknown field" : Money.text(of: member, in: siblings) ?? fields.meaning(of: member)
    let names = fields.knownNames(in: member.name, of: parent)
    append(member.value, named: member.name, note: note, known: names, as: member.name, indent: indent)
  }

  private mutating func append(
    _ value: JSONValue, named name: String, note: String? = nil, known: Set<String>?, as object: String,
    indent: Int
  ) {
    let margin = String(repeating: "  ", count: indent)
    let suffix = note.map { " (\($0))" } ?? ""
    switch value {
    case .object(let members) where AttributeReport.isAttribute(members):
      lines.append(margin + "\(name) \(Self.attributeLine(members))")
    case .object(let members):
      lines.append(margin + "\(name):\(suffix)")
      for member in members { append(member, among: members, known: known, of: object, indent: indent + 1) }
    case .array(let elements):
      lines.append(margin + "\(name): \(elements.count)\(suffix)")
      for (index, element) in elements.enumerated() {
        append(element, named: "[\(index)]", known: known, as: object, indent: indent + 1)
      }
    default:
      lines.append(margin + "\(name): \(scalar(value, named: name, isNoted: note != nil))\(suffix)")
    }
  }

  /// Attributes are many and small: one line each.
  private static func attributeLine(_ members: [JSONMember]) -> String {
    members.map { member in
      let text = member.value.string ?? String(decoding: member.value.encoded(), as: UTF8.self)
      return "\(member.name) \(text)"
    }.joined(separator: "  ")
  }

  private func scalar(_ value: JSONValue, named name: String, isNoted: Bool) -> String {
    switch value {
    case .string(let text):
      guard ObjectIdentifierNames.isObjectIdentifier(text, in: name) else {
        return text.isEmpty ? "(empty)" : text
      }
      return "\(text) (\(ObjectIdentifierNames.name(of: text) ?? "unknown"))"
    case .number(let number):
      guard !isNoted, FieldMeanings.isInstant(name), abs(number.double) < Timestamp.greatestMagnitude else {
        return number.text
      }
      return "\(number.text) (\(TimeText.full(Timestamp(millisecondsSince1970: number.double))))"
    default: return String(decoding: value.encoded(), as: UTF8.self)
    }
  }
}
