// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// A field of a receipt, with its nested fields and its meaning. Control characters in untrusted text are replaced;
/// markup is not escaped.
package struct InspectedField: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    /// A string unchanged, or any other value as JSON.
    case value(String)
    case object([InspectedField])
    /// The elements of an array, with the names `[0]`, `[1]`, …
    case array([InspectedField])
    /// An attribute of an app receipt, a signed attribute, or an extension of a certificate.
    case attribute([AttributePart])
  }

  /// The name by which the store writes the field.
  package let name: String
  package let content: Content
  /// The meanings of the value, such as the meaning of a number, or a note that the field is unknown; usually at most
  /// one.
  package let meanings: [String]

  private init(name: String, _ content: Content, meanings: [String] = []) {
    self.name = ShownText.plain(name)
    self.content = content
    self.meanings = meanings.map { ShownText.plain($0) }
  }

  /// Returns the fields of a report.
  static func all(_ members: [JSONMember], of kind: ReceiptKind?) -> [InspectedField] {
    let builder = Builder(meanings: FieldMeanings(of: kind))
    return members.map { builder.field($0) }
  }

  private struct Builder {
    let meanings: FieldMeanings

    /// Returns the field for a member of the object `parent`, or of the report if `parent` is `nil`. `known` contains
    /// the documented names of the object's members; it is `nil` if any name is allowed.
    func field(
      _ member: JSONMember, among siblings: [JSONMember] = [], known: Set<String>? = nil,
      of parent: String? = nil
    ) -> InspectedField {
      let isUnknown = known.map { !$0.contains(member.name) } ?? false
      let note =
        isUnknown ? "unknown field" : Money.text(of: member, in: siblings) ?? meanings.meaning(of: member)
      let names = meanings.knownNames(in: member.name, of: parent)
      return field(member.value, named: member.name, note: note, known: names, as: member.name)
    }

    private func field(
      _ value: JSONValue, named name: String, note: String? = nil, known: Set<String>?, as object: String
    ) -> InspectedField {
      let notes = note.map { [$0] } ?? []
      switch value {
      case .object(let members) where InspectionContents.isAttribute(members):
        return InspectedField(name: name, .attribute(members.map(part)))
      case .object(let members):
        let fields = members.map { field($0, among: members, known: known, of: object) }
        return InspectedField(name: name, .object(fields), meanings: notes)
      case .array(let elements):
        let fields = elements.enumerated().map { index, element in
          field(element, named: "[\(index)]", known: known, as: object)
        }
        return InspectedField(name: name, .array(fields), meanings: notes)
      default:
        let decoded = decoded(value, named: name, isNoted: note != nil).map { [$0] } ?? []
        return InspectedField(name: name, .value(Self.text(value)), meanings: decoded + notes)
      }
    }

    private func part(_ member: JSONMember) -> AttributePart {
      AttributePart(name: ShownText.plain(member.name), value: Self.text(member.value))
    }

    private static func text(_ value: JSONValue) -> String {
      ShownText.plain(value.string ?? String(decoding: value.encoded(), as: UTF8.self))
    }

    /// Returns `true` if a member of a report is an object identifier. Both its name and its form are checked, because
    /// version numbers of apps have the same form.
    private static func isObjectIdentifier(_ text: String, in member: String) -> Bool {
      let members = ["digestAlgorithm", "signatureAlgorithm", "type"]
      guard members.contains(member) || member.hasPrefix("[") else { return false }
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      return parts.count > 3 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { "0"..."9" ~= $0 } }
    }

    /// Returns the name of an object identifier, or the date of an instant.
    private func decoded(_ value: JSONValue, named name: String, isNoted: Bool) -> String? {
      switch value {
      case .string(let text):
        guard Self.isObjectIdentifier(text, in: name) else { return nil }
        return ObjectIdentifiers.names[text] ?? "unknown"
      case .number(let number):
        guard !isNoted, FieldMeanings.isInstant(name), abs(number.double) < Timestamp.greatestMagnitude else {
          return nil
        }
        return TimeText.full(Timestamp(millisecondsSince1970: number.double))
      default: return nil
      }
    }
  }
}
