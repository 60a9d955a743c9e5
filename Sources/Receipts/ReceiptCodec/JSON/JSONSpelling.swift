// SPDX-License-Identifier: Apache-2.0

/// A JSON string form of a value. The tables in `WireTypes/` name the form of each field.
package protocol JSONSpelling: JSONFieldValue {
  associatedtype Value
  var value: Value { get }
  init(_ value: Value)
}

/// A 64-bit integer as a string of decimal digits, as in the JSON form of protocol buffers.
///
/// A JSON number is accepted too.
package struct DecimalString: JSONSpelling {
  package let value: Int64

  package init(_ value: Int64) { self.value = value }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    guard json.position < json.bytes.count, json.bytes[json.position] == UInt8(ascii: "\"") else {
      value = try json.integer()
      return
    }
    let text = try json.string()
    guard let value = Int64(text), String(value) == text else {
      throw json.fieldFailure(.invalidValue, "expected an integer of 64 bits in decimal digits.")
    }
    self.value = value
  }

  package func write(to json: inout JSONWriter) { json.string(String(value)) }
}

/// A timestamp as a ``DecimalString`` of milliseconds since 1970.
package struct MillisecondsString: JSONSpelling {
  package let value: Timestamp

  package init(_ value: Timestamp) { self.value = value }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let milliseconds = Double(try DecimalString(from: &json).value)
    guard milliseconds.magnitude <= Timestamp.greatestMagnitude else {
      throw json.fieldFailure(.outOfRange, "the instant is more than 2^53 milliseconds from 1970.")
    }
    value = Timestamp(millisecondsSince1970: milliseconds)
  }

  package func write(to json: inout JSONWriter) { json.string(String(value.wholeMilliseconds)) }
}

/// A timestamp as an RFC 3339 string in UTC, of the years 0000 to 9999.
package struct DateTimeString: JSONSpelling {
  private static let milliseconds: Range<Double> = -62_167_219_200_000..<253_402_300_800_000

  package let value: Timestamp

  package init(_ value: Timestamp) { self.value = value }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let text = try json.stringBytes()
    // An offset can move the date outside these years.
    guard let value = Timestamp(iso8601: text.span),
      Self.milliseconds.contains(value.millisecondsSince1970)
    else {
      throw json.fieldFailure(.invalidValue, "expected a date such as 2025-10-01T07:09:12.835Z (RFC 3339).")
    }
    self.value = value
  }

  package func write(to json: inout JSONWriter) { json.string(value.iso8601) }
}

extension JSONFieldCoder {
  /// Codes a field whose JSON form differs from that of its type.
  package mutating func code<Spelling: JSONSpelling>(
    _ value: inout Spelling.Value?, as spelling: Spelling.Type
  ) throws(MalformedReceipt) {
    var spelled = value.map { Spelling($0) }
    try code(&spelled)
    value = spelled?.value
  }

  /// Codes a required field whose JSON form differs from that of its type.
  package mutating func code<Spelling: JSONSpelling>(
    _ value: inout Spelling.Value, as spelling: Spelling.Type
  ) throws(MalformedReceipt) {
    var spelled = Spelling(value)
    try code(&spelled)
    value = spelled.value
  }
}
