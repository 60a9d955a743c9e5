// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A JSON value that preserves its source: the order of members and the text of numbers.
public enum JSONValue: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number.
  case number(JSONNumber)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object, with its members in order.
  case object([JSONMember])

  /// Parses JSON strictly according to RFC 8259. Invalid UTF-8, lone surrogates, a byte order mark, duplicate member
  /// names and anything after the value are rejected.
  ///
  /// - Throws: ``MalformedReceipt`` with the byte offset, or with the path of a duplicate member.
  package init(parsing bytes: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    try self.init(parsing: bytes, part: "JSON document", limits: limits)
  }

  package init(parsing bytes: [UInt8], part: String, limits: ReceiptLimits) throws(MalformedReceipt) {
    var reader = try JSONReader(bytes, part: part, limits: limits)
    self = try reader.value()
    try reader.finish()
  }

  /// Returns the value as compact JSON: without white space, and only mandatory escapes.
  package func encoded() -> [UInt8] {
    var writer = JSONWriter()
    writer.value(self)
    return writer.bytes
  }

  package static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }

  /// Creates an object of the members that have a value.
  package static func members(_ members: (name: String, value: JSONValue?)...) -> JSONValue {
    .members(members)
  }

  package static func members(_ members: [(name: String, value: JSONValue?)]) -> JSONValue {
    .object(members.compactMap { member in member.value.map { JSONMember(name: member.name, value: $0) } })
  }

  /// The value of the member with exactly this name; `nil` if there is no such member, or this is not an object.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { UTF8Text.isIdentical($0.name, name) }?.value
  }

  package var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The value of a number that is a 64-bit integer; `nil` for any other value.
  package var int64: Int64? {
    guard case .number(let number) = self else { return nil }
    return number.int64
  }

  package var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

  package var object: [JSONMember]? { if case .object(let members) = self { members } else { nil } }
}

/// A JSON number, stored as text so that no digit is lost.
public struct JSONNumber: Sendable, Hashable {
  /// The number as written in JSON.
  package let text: String

  init(validated text: String) { self.text = text }

  /// Creates a number from its text; `nil` unless the text is a JSON number.
  package init?(text: String) {
    let bytes = Array(text.utf8)
    let number = JSONScan.number(bytes.span, from: 0)
    guard number.isValid, number.end == bytes.count else { return nil }
    self.text = text
  }

  package init(_ value: Int64) { self.text = String(value) }

  /// Creates a number from its shortest decimal form; `nil` for infinities and NaN.
  package init?(_ value: Double) {
    guard value.isFinite else { return nil }
    self.text = Int64(exactly: value).map { String($0) } ?? value.description
  }

  /// The value of a number without fraction or exponent that fits in 64 bits; `nil` for any other number.
  package var int64: Int64? {
    let bytes = Array(text.utf8)
    return JSONScan.number(bytes.span, from: 0).int64
  }

  /// The nearest floating-point value; infinite if the number is too large.
  public var double: Double { Double(text) ?? .nan }
}

/// Finds the members of a JSON document that recognition needs.
package enum JSONDocument {
  /// Returns the top-level members that have one of the names and a string value, in document order. The whole document
  /// is checked.
  ///
  /// - Throws: ``MalformedReceipt`` like ``JSONValue/init(parsing:limits:)``, or with `.wrongType` at `$` if the
  ///   document is not an object.
  package static func stringMembers(
    named names: [String], in bytes: [UInt8], limits: ReceiptLimits = .standard
  ) throws(MalformedReceipt) -> [(name: String, value: String)] {
    guard let members = try JSONValue(parsing: bytes, limits: limits).object else {
      throw MalformedReceipt(.wrongType, at: .jsonPath("$"), "The JSON document is not an object.")
    }
    return members.compactMap { member in
      guard let value = member.value.string, names.contains(where: { UTF8Text.isIdentical($0, member.name) })
      else { return nil }
      return (member.name, value)
    }
  }
}
