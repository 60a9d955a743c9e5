// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A table of names that are matched against bytes.
package struct NameTable: Sendable {
  private let names: [[UInt8]]
  private let fingerprints: [UInt64]

  package init(_ names: [String]) {
    self.names = names.map { Array($0.utf8) }
    fingerprints = self.names.map { ByteSearch.fingerprint($0.span) }
  }

  /// Returns the index of a name; `nil` if it is not in the table. The search begins at the likely index.
  func index(of name: Span<UInt8>, likely start: Int) -> Int? {
    let fingerprint = ByteSearch.fingerprint(name)
    let fingerprints = fingerprints.span
    for index in start..<max(start, fingerprints.count) where fingerprints[index] == fingerprint {
      if isName(index, name) { return index }
    }
    for index in 0..<min(start, fingerprints.count) where fingerprints[index] == fingerprint {
      if isName(index, name) { return index }
    }
    return nil
  }

  private func isName(_ index: Int, _ name: Span<UInt8>) -> Bool {
    let candidate = names[index]
    return ByteSearch.isEqual(candidate.span, name)
  }
}

/// The names of an object's fields.
package struct JSONFieldNames<Field: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  let fields: [Field]
  /// A bit for each field, by its index in `fields`, that is set if the field is required.
  let required: UInt64
  private let names: NameTable

  /// Creates the names of at most 64 fields: an object stores in one word the fields that it has read.
  package init(required: [Field] = []) {
    let fields = Array(Field.allCases)
    self.fields = fields
    self.required = required.reduce(0) { bits, field in
      bits | 1 &<< UInt64(fields.firstIndex { $0.rawValue == field.rawValue } ?? 0)
    }
    names = NameTable(fields.map(\.rawValue))
  }

  /// Returns the index of the current member's field; `nil` if it has no field. Objects usually have their members in
  /// the same order, so the search begins at the field after the preceding one.
  func index(in json: borrowing JSONReader, likely start: Int) throws(MalformedReceipt) -> Int? {
    if json.nameHasEscapes {
      let name = try json.unescape(json.nameRange)
      return names.index(of: name.span, likely: start)
    }
    return names.index(of: json.bytes.span.extracting(json.nameRange), likely: start)
  }
}

/// A string enumeration on the wire: known values are cases, and any other value is kept as received. Known values are
/// found by their bytes, without creating a string. The types are generated from the tables in `WireTypes/`.
package protocol WireEnumeration: JSONEnumeration, Sendable where RawValue == String {
  static var known: WireEnumerationTable<Self> { get }
}

extension WireEnumeration {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    guard json.position < json.bytes.count, json.bytes[json.position] == UInt8(ascii: "\"") else {
      throw json.wrongType("a string")
    }
    let content = try json.skipString()
    let known = Self.known
    if !content.hasEscapes,
      let index = known.names.index(of: json.bytes.span.extracting(content.range), likely: 0)
    {
      self = known.values[index]
    } else {
      self.init(rawValue: try json.text(content.range, hasEscapes: content.hasEscapes))
    }
  }
}

/// The known values of an enumeration.
package struct WireEnumerationTable<Value: RawRepresentable<String> & Sendable>: Sendable {
  fileprivate let values: [Value]
  fileprivate let names: NameTable

  package init(_ values: [Value]) {
    self.values = values
    names = NameTable(values.map(\.rawValue))
  }

  /// The known value with this raw value; `nil` if it is unknown.
  package subscript(text: String) -> Value? {
    names.index(of: text.utf8.span, likely: 0).map { values[$0] }
  }
}
