// SPDX-License-Identifier: Apache-2.0

/// A property list in the subset of the OpenStep format that transaction receipts use: one dictionary of strings.
///
/// ```
/// {
/// 	"pod" = "100";
/// 	"signing-status" = "0";
/// }
/// ```
///
/// The entries keep their order, and no key occurs twice.
package struct PropertyList: Sendable, Hashable {
  package var entries: [Entry]

  /// Creates a property list. Readers reject a list in which two entries have the same key.
  package init(entries: [Entry] = []) { self.entries = entries }

  package var jsonValue: JSONValue {
    .object(entries.map { JSONMember(name: $0.key, value: .string($0.value)) })
  }

  /// Parses UTF-8 text. Keys and values may be quoted or bare. Escapes are those of the OpenStep format.
  ///
  /// - Throws: ``MalformedReceipt`` with the offset. The codes are `unexpected` or `truncated` for invalid syntax;
  ///   `unsupported` for comments, arrays, data and nested dictionaries; `duplicate` (placed at the key);
  ///   `invalidValue` for an invalid escape; `invalidUTF8`; `trailingData`; `tooLarge`; and `empty`.
  package init(
    parsing text: [UInt8], limits: ReceiptLimits = .standard, part: String = "property list"
  ) throws(MalformedReceipt) {
    try limits.require(text.count, of: "property list", at: .whole)
    let bytes = text.span
    var reader = PropertyListReader(part: part)
    entries = try reader.readDictionary(maximumCount: limits.maximumElementCount, bytes)
  }

  /// The value of a key; `nil` if there is no such key. Setting it replaces the value or appends an entry. Setting it
  /// to `nil` removes the entry.
  package subscript(key: String) -> String? {
    get { entries.first { $0.key == key }?.value }
    set {
      guard let newValue else {
        entries.removeAll { $0.key == key }
        return
      }
      if let index = entries.firstIndex(where: { $0.key == key }) {
        entries[index].value = newValue
      } else {
        entries.append(Entry(key: key, value: newValue))
      }
    }
  }

  /// Returns the text as the App Store writes it: one entry a line, indented with a tab, all strings quoted.
  package func encoded() -> [UInt8] {
    var text: [UInt8] = [UInt8(ascii: "{"), UInt8(ascii: "\n")]
    for entry in entries {
      text.append(UInt8(ascii: "\t"))
      Self.append(quoted: entry.key, to: &text)
      text += " = ".utf8
      Self.append(quoted: entry.value, to: &text)
      text += ";\n".utf8
    }
    text.append(UInt8(ascii: "}"))
    return text
  }

  private static func append(quoted string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for unit in string.utf16 {
      switch unit {
      case UInt16(UInt8(ascii: "\"")): text += "\\\"".utf8
      case UInt16(UInt8(ascii: "\\")): text += "\\\\".utf8
      case UInt16(UInt8(ascii: "\n")): text += "\\n".utf8
      case UInt16(UInt8(ascii: "\t")): text += "\\t".utf8
      case UInt16(UInt8(ascii: "\r")): text += "\\r".utf8
      case 0x20...0x7E: text.append(UInt8(unit))
      default:
        let digits = String(unit, radix: 16)
        text += "\\U".utf8
        text += repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count)
        text += digits.utf8
      }
    }
    text.append(UInt8(ascii: "\""))
  }
}
