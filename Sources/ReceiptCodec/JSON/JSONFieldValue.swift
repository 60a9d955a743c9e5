// SPDX-License-Identifier: Apache-2.0

/// A type that a field of a payload may have.
protocol JSONFieldValue {
  init(from json: inout JSONReader) throws(MalformedReceipt)
  func write(to json: inout JSONWriter)
}

extension String: JSONFieldValue {
  init(from json: inout JSONReader) throws(MalformedReceipt) { self = try json.string() }
  func write(to json: inout JSONWriter) { json.string(self) }
}

extension Int64: JSONFieldValue {
  init(from json: inout JSONReader) throws(MalformedReceipt) { self = try json.integer() }
  func write(to json: inout JSONWriter) { json.integer(self) }
}

extension Bool: JSONFieldValue {
  init(from json: inout JSONReader) throws(MalformedReceipt) { self = try json.boolean() }
  func write(to json: inout JSONWriter) { json.bool(self) }
}

extension Timestamp: JSONFieldValue {
  init(from json: inout JSONReader) throws(MalformedReceipt) { self = try json.timestamp() }
  func write(to json: inout JSONWriter) { json.double(millisecondsSince1970) }
}

extension Array: JSONFieldValue where Element: JSONFieldValue {
  init(from json: inout JSONReader) throws(MalformedReceipt) {
    self = []
    guard json.position < json.bytes.count, json.bytes[json.position] == UInt8(ascii: "[") else {
      throw json.wrongType("an array")
    }
    try json.beginArray()
    while try json.nextElement(count) { append(try Element(from: &json)) }
  }

  func write(to json: inout JSONWriter) {
    json.beginArray()
    for element in self { element.write(to: &json) }
    json.endArray()
  }
}

/// An enumeration of the wire: any raw value is kept, known ones have names.
protocol JSONEnumeration: JSONFieldValue, RawRepresentable where RawValue: JSONFieldValue {
  init(rawValue: RawValue)
}

extension JSONEnumeration {
  init(from json: inout JSONReader) throws(MalformedReceipt) {
    self.init(rawValue: try RawValue(from: &json))
  }

  func write(to json: inout JSONWriter) { rawValue.write(to: &json) }
}

extension ReceiptEnvironment: JSONEnumeration {}
