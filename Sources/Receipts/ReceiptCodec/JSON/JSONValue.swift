// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Any JSON value, faithful to its source: members keep their order, numbers their text.
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
  /// An object, its members in order.
  case object([JSONMember])

  /// Reads JSON strictly as RFC 8259 has it; invalid UTF-8, lone surrogates, a byte order mark, repeated member
  /// names and anything after the value are refused.
  ///
  /// - Throws: ``MalformedReceipt`` with the byte offset, or for a repeated member its path.
  package init(parsing bytes: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    try self.init(parsing: bytes, part: "JSON document", limits: limits)
  }

  package init(parsing bytes: [UInt8], part: String, limits: ReceiptLimits) throws(MalformedReceipt) {
    var reader = try JSONReader(bytes, part: part, limits: limits)
    self = try reader.value()
    try reader.finish()
  }

  /// The value as compact JSON: no white space, only what must be escaped is.
  package func encoded() -> [UInt8] {
    var writer = JSONWriter()
    writer.value(self)
    return writer.bytes
  }

  /// An integer.
  package static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }

  /// The member of an object with exactly this name; `nil` without one, or no object.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { UTF8Text.isIdentical($0.name, name) }?.value
  }

  /// The content of a string.
  public var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The value of a number that is an integer of 64 bits.
  public var int64: Int64? {
    guard case .number(let number) = self else { return nil }
    return number.int64
  }

  /// The elements of an array.
  public var array: [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }

  /// The members of an object.
  public var object: [JSONMember]? {
    guard case .object(let members) = self else { return nil }
    return members
  }
}

/// A member of a JSON object.
public struct JSONMember: Sendable, Hashable {
  /// Its name, escapes resolved.
  public var name: String
  /// Its value.
  public var value: JSONValue

  /// Creates a member.
  public init(name: String, value: JSONValue) {
    self.name = name
    self.value = value
  }
}

/// A JSON number, kept as its text: no digit is lost.
public struct JSONNumber: Sendable, Hashable {
  /// The number as JSON writes it.
  public let text: String

  init(validated text: String) { self.text = text }

  /// Creates a number from its text; `nil` unless the text is a JSON number.
  package init?(text: String) {
    let bytes = Array(text.utf8)
    let number = JSONScan.number(bytes.span, from: 0)
    guard number.isValid, number.end == bytes.count else { return nil }
    self.text = text
  }

  /// Creates an integer.
  package init(_ value: Int64) { self.text = String(value) }

  /// Creates a number from its shortest decimal; `nil` for infinities and not-a-number.
  package init?(_ value: Double) {
    guard value.isFinite else { return nil }
    self.text = Int64(exactly: value).map { String($0) } ?? value.description
  }

  /// The value of a number without fraction and exponent that fits 64 bits.
  public var int64: Int64? {
    let bytes = Array(text.utf8)
    return JSONScan.number(bytes.span, from: 0).int64
  }

  /// The nearest floating-point value; infinite where the number is too large for one.
  public var double: Double { Double(text) ?? .nan }
}

/// The parts of a JSON document around a receipt that recognition needs.
package enum JSONDocument {
  /// The top-level members that have one of the names and a string as value, in the order of the document,
  /// which is checked in full.
  ///
  /// - Throws: ``MalformedReceipt`` as ``JSONValue/init(parsing:limits:)`` does; `.wrongType` at `$` if it is
  ///   not an object.
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
