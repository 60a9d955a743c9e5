// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The contents of a receipt without its values, to show to strangers. Members, their order, the types and the lengths of
/// values stay: letters are replaced by `x`, digits of texts by `0` and of numbers by `1`. Punctuation, Booleans and
/// `null` stay, too. Of the texts stay those in ``kept``, which name formats, algorithms and closed lists of the stores.
enum RedactedContents {
  /// The values that stay, by the name of the enclosing member and their own; `nil` for every enclosing member.
  private static let kept: [(parent: String?, names: Set<String>)] = [
    (nil, ["digestAlgorithm", "digestAlgorithms", "environment", "signatureAlgorithm"]),
    (nil, ["inAppOwnershipType", "notificationType", "subtype", "transactionReason"]),
    ("", ["signatureVersion"]),
    ("header", ["alg", "typ"]),
    ("certificates", ["key", "notAfter", "notBefore"]),
    ("payload", ["type"]),
    ("attributes", ["name", "type", "version"]), ("extensions", ["name", "type"]),
    ("inAppPurchases", ["name", "type", "version"]), ("signedAttributes", ["name", "type"]),
    ("signerInfos", ["version"]),
  ]

  static func members(_ members: [JSONMember]) -> [JSONMember] { redacted(members, in: "") }

  /// Returns a text with its characters replaced.
  static func text(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar {
          case "0"..."9": "0"
          case "A"..."Z": "X"
          case "a"..."z": "x"
          default: scalar.isASCII ? scalar : "x"
          }
        }))
  }

  private static func redacted(_ members: [JSONMember], in parent: String) -> [JSONMember] {
    members.map { member in
      // A kind, or the error of one that is unknown, which may quote a value.
      let isKind = member.name == "format" && ReceiptKind(rawValue: member.value.string ?? "") != nil
      let keeps =
        isKind || kept.contains { ($0.parent ?? parent) == parent && $0.names.contains(member.name) }
      return JSONMember(name: member.name, value: value(member.value, of: member.name, keeps: keeps))
    }
  }

  private static func value(_ value: JSONValue, of name: String, keeps: Bool) -> JSONValue {
    switch value {
    case .null, .bool: value
    case .number(let number):
      // The numbers that stay are those of formats and attributes.
      keeps && ["signatureVersion", "type", "version"].contains(name) ? value : .number(redacted(number))
    case .string(let string): keeps && isWord(string) ? value : .string(text(string))
    case .array(let elements): .array(elements.map { Self.value($0, of: name, keeps: keeps) })
    case .object(let members): .object(redacted(members, in: name))
    }
  }

  private static func redacted(_ number: JSONNumber) -> JSONNumber {
    JSONNumber(text: String(number.text.map { $0.isNumber ? "1" : $0 })) ?? JSONNumber(1)
  }

  /// A text that stays is short, and neither an address nor encoded data.
  private static func isWord(_ text: String) -> Bool {
    text.utf8.count <= 80
      && text.utf8.allSatisfy { UInt8(ascii: " ")...UInt8(ascii: "z") ~= $0 && $0 != UInt8(ascii: "@") }
  }
}
