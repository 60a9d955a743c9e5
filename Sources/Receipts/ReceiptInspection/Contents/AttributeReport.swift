// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The report of an app receipt's attribute: its number, its name if known, and its value as text or number, otherwise
/// in hexadecimal.
enum AttributeReport {
  /// Returns `true` for the report of an attribute, a signed attribute or an extension, which have a type and a name.
  static func isAttribute(_ members: [JSONMember]) -> Bool {
    members.first?.name == "type" && members.dropFirst().first?.name == "name"
  }

  static func value(_ attribute: AppReceiptAttribute) -> JSONValue {
    var members = [JSONMember(name: "type", value: .integer(Int64(attribute.type)))]
    members.append(JSONMember(name: "name", value: .string(attribute.name ?? "unknown")))
    if attribute.version != 1 {
      members.append(JSONMember(name: "version", value: .integer(Int64(attribute.version))))
    }
    members.append(attribute.jsonMember)
    return .object(members)
  }
}
