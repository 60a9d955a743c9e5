// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A type that a payload's field may have.
package protocol JSONFieldValue {
  init(from json: inout JSONReader) throws(MalformedReceipt)
  func write(to json: inout JSONWriter)
}

extension String: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) { self = try json.string() }
  package func write(to json: inout JSONWriter) { json.string(self) }
}

extension Int64: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) { self = try json.integer() }
  package func write(to json: inout JSONWriter) { json.integer(self) }
}

extension Int: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    guard let value = Int(exactly: try json.integer()) else {
      throw json.fieldFailure(.outOfRange, "the number does not fit this machine's integers.")
    }
    self = value
  }
  package func write(to json: inout JSONWriter) { json.integer(Int64(self)) }
}

extension Bool: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) { self = try json.boolean() }
  package func write(to json: inout JSONWriter) { json.bool(self) }
}

extension Double: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    self = try json.number().double
    // JSON cannot represent infinity, so it could not be written back.
    guard isFinite else { throw json.fieldFailure(.outOfRange, "the number does not fit floating point.") }
  }
  package func write(to json: inout JSONWriter) { json.double(self) }
}

extension JSONValue: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) { self = try json.value() }
  package func write(to json: inout JSONWriter) { json.value(self) }
}

extension Timestamp: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) { self = try json.timestamp() }
  package func write(to json: inout JSONWriter) { json.double(millisecondsSince1970) }
}

extension Array: JSONFieldValue where Element: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    self = []
    guard json.position < json.bytes.count, json.bytes[json.position] == UInt8(ascii: "[") else {
      throw json.wrongType("an array")
    }
    try json.beginArray()
    while try json.nextElement(count) { append(try Element(from: &json)) }
  }

  package func write(to json: inout JSONWriter) {
    json.beginArray()
    for element in self { element.write(to: &json) }
    json.endArray()
  }
}

/// An enumeration on the wire, which keeps unknown raw values; known values have names.
package protocol JSONEnumeration: JSONFieldValue, RawRepresentable where RawValue: JSONFieldValue {
  init(rawValue: RawValue)
}

extension JSONEnumeration {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    self.init(rawValue: try RawValue(from: &json))
  }

  package func write(to json: inout JSONWriter) { rawValue.write(to: &json) }
}

/// A JSON form of a type that has more than one. The tables in `WireTypes/` name the form of each field.
package protocol JSONFieldForm: JSONFieldValue {
  associatedtype Value
  init(_ value: Value)
  var value: Value { get }
}

/// Bytes in a JSON string in standard base64 (RFC 4648, section 4), such as those of `x5c`.
package struct Base64Bytes: JSONFieldForm, Sendable, Hashable {
  package let value: [UInt8]

  package init(_ value: [UInt8]) { self.value = value }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let text = try json.stringBytes()
    do throws(Base64Error) {
      value = try Base64.decode(text)
    } catch {
      throw json.fieldFailure(.invalidBase64, "expected standard base64. \(error.message)")
    }
  }

  package func write(to json: inout JSONWriter) { json.string(Base64.encodeToString(value)) }
}

/// Bytes in a JSON string in hexadecimal.
package struct HexadecimalBytes: JSONFieldForm, Sendable, Hashable {
  package let value: [UInt8]

  package init(_ value: [UInt8]) { self.value = value }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    guard let bytes = Hexadecimal.decode(try json.string()) else {
      throw json.fieldFailure(.invalidValue, "expected hexadecimal digits, two for each byte.")
    }
    value = bytes
  }

  package func write(to json: inout JSONWriter) { json.string(Hexadecimal.encode(value)) }
}

/// A 64-bit integer as a string of decimal digits, as in the JSON form of protocol buffers. A JSON number is accepted
/// too.
package struct DecimalString: JSONFieldForm {
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

/// Whole seconds as a string such as `86400s`: the JSON form of a duration in protocol buffers, without a fraction.
package struct SecondsString: JSONFieldForm {
  package let value: Int64

  package init(_ value: Int64) { self.value = value }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let text = try json.string()
    guard text.last == "s", let value = Int64(text.dropLast()), "\(value)s" == text else {
      throw json.fieldFailure(.invalidValue, "expected whole seconds such as 86400s.")
    }
    self.value = value
  }

  package func write(to json: inout JSONWriter) { json.string("\(value)s") }
}

/// A timestamp as a ``DecimalString`` of milliseconds since 1970.
package struct MillisecondsString: JSONFieldForm {
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
package struct DateTimeString: JSONFieldForm {
  package let value: Timestamp

  package init(_ value: Timestamp) { self.value = value }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let text = try json.stringBytes()
    // An offset can move the date outside these years.
    guard let value = Timestamp(iso8601: text.span), value.hasFourDigitYear else {
      throw json.fieldFailure(.invalidValue, "expected a date such as 2025-10-01T07:09:12.835Z (RFC 3339).")
    }
    self.value = value
  }

  package func write(to json: inout JSONWriter) { json.string(value.iso8601) }
}
