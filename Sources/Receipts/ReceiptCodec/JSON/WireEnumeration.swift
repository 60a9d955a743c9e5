// SPDX-License-Identifier: Apache-2.0

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
