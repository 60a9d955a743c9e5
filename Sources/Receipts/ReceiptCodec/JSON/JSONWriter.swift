// SPDX-License-Identifier: Apache-2.0

/// Writes compact JSON: without white space, with members in the given order, and only mandatory escapes.
package struct JSONWriter: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  package mutating func reserveCapacity(_ byteCount: Int) { bytes.reserveCapacity(byteCount) }

  /// Ends a line of JSON Lines; the next value is independent.
  package mutating func endLine() {
    bytes.append(0x0A)
    needsComma = false
  }

  package mutating func beginObject() { begin(UInt8(ascii: "{")) }
  package mutating func endObject() { end(UInt8(ascii: "}")) }
  package mutating func beginArray() { begin(UInt8(ascii: "[")) }
  package mutating func endArray() { end(UInt8(ascii: "]")) }

  /// Begins a member; its value must follow.
  package mutating func name(_ name: String) {
    quote(name, followedBy: UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func string(_ text: String) { quote(text) }

  package mutating func integer(_ value: Int64) {
    separate()
    bytes.append(contentsOf: String(value).utf8)
  }

  /// Writes a date in ISO 8601 with milliseconds: ``Timestamp/iso8601``.
  package mutating func timestamp(_ value: Timestamp) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    value.appendISO8601(to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes the shortest decimal form that parses as this value. Infinities and NaN, which JSON cannot represent, are
  /// written as `null`.
  package mutating func double(_ value: Double) {
    separate()
    if let number = JSONNumber(value) {
      bytes.append(contentsOf: number.text.utf8)
    } else {
      bytes.append(contentsOf: "null".utf8)
    }
  }

  package mutating func bool(_ value: Bool) {
    separate()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  package mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Appends the value that another writer has written.
  package mutating func append(_ other: JSONWriter) {
    separate()
    bytes += other.bytes
  }

  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .number(let number):
      separate()
      bytes.append(contentsOf: number.text.utf8)
    case .string(let text): string(text)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        name(member.name)
        self.value(member.value)
      }
      endObject()
    }
  }

  private mutating func begin(_ byte: UInt8) {
    separate()
    bytes.append(byte)
    needsComma = false
  }

  private mutating func end(_ byte: UInt8) {
    bytes.append(byte)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Writes a string as the next value or name. Nearly all text is short and needs no escapes, so the comma, the
  /// quotation marks and the text are appended at once.
  private mutating func quote(_ text: String, followedBy mark: UInt8? = nil) {
    let utf8 = text.utf8.span
    guard JSONScan.endOfPlainText(utf8, from: 0) == utf8.count else {
      separate()
      bytes.append(UInt8(ascii: "\""))
      for byte in text.utf8 { appendEscaped(byte) }
      bytes.append(UInt8(ascii: "\""))
      if let mark { bytes.append(mark) }
      return
    }
    let isFirst = !needsComma
    bytes.append(addingCapacity: utf8.count + 4) { output in
      if !isFirst { output.append(UInt8(ascii: ",")) }
      output.append(UInt8(ascii: "\""))
      for index in utf8.indices { output.append(utf8[index]) }
      output.append(UInt8(ascii: "\""))
      if let mark { output.append(mark) }
    }
    needsComma = true
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
    case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
    case 0x0A: bytes.append(contentsOf: "\\n".utf8)
    case 0x0D: bytes.append(contentsOf: "\\r".utf8)
    case 0x09: bytes.append(contentsOf: "\\t".utf8)
    case 0x20...: bytes.append(byte)
    default:
      bytes.append(contentsOf: "\\u00".utf8)
      for digit in [byte >> 4, byte & 0xF] {
        bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
      }
    }
  }
}

/// Writes the members of objects that ReceiptKit itself defines; members without a value are omitted.
extension JSONWriter {
  /// The value of the `version` member of these objects. It increases if a member is removed or changes its meaning,
  /// but not if a member is added.
  package static let formatVersion: Int64 = 1

  /// Begins an object with the members `type` and `version`.
  package init(type: String) {
    self.init()
    beginObject(type: type)
  }

  /// Begins an object with the members `type` and `version`.
  package mutating func beginObject(type: String) {
    // Few objects are much smaller, and a verdict is not much larger. Without this, a verdict's buffer would be
    // allocated six times.
    reserveCapacity(1024)
    beginObject()
    member("type", type)
    member("version", Self.formatVersion)
  }

  /// Writes a member whose value is the object that the closure writes.
  package mutating func object(_ name: String, _ write: (inout JSONWriter) -> Void) {
    ownName(name)
    object(write)
  }

  /// Writes an object with the members that the closure writes.
  package mutating func object(_ write: (inout JSONWriter) -> Void) {
    beginObject()
    write(&self)
    endObject()
  }

  /// Writes a member whose value is an array with what the closure writes for each element.
  package mutating func array<Element>(
    _ name: String, _ elements: some Sequence<Element>, _ write: (Element, inout JSONWriter) throws -> Void
  ) rethrows {
    ownName(name)
    beginArray()
    for element in elements { try write(element, &self) }
    endArray()
  }

  /// Begins a member of an object of ours, whose name needs no escapes.
  private mutating func ownName(_ name: String) {
    let utf8 = name.utf8.span
    let isFirst = !needsComma
    bytes.append(addingCapacity: utf8.count + 4) { output in
      if !isFirst { output.append(UInt8(ascii: ",")) }
      output.append(UInt8(ascii: "\""))
      for index in utf8.indices { output.append(utf8[index]) }
      output.append(UInt8(ascii: "\""))
      output.append(UInt8(ascii: ":"))
    }
    needsComma = false
  }

  package mutating func member(_ name: String, _ value: String?) {
    guard let value else { return }
    let (name8, value8) = (name.utf8.span, value.utf8.span)
    guard JSONScan.endOfPlainText(value8, from: 0) == value8.count else {
      self.name(name)
      return string(value)
    }
    let isFirst = !needsComma
    bytes.append(addingCapacity: name8.count + value8.count + 6) { output in
      if !isFirst { output.append(UInt8(ascii: ",")) }
      output.append(UInt8(ascii: "\""))
      for index in name8.indices { output.append(name8[index]) }
      output.append(UInt8(ascii: "\""))
      output.append(UInt8(ascii: ":"))
      output.append(UInt8(ascii: "\""))
      for index in value8.indices { output.append(value8[index]) }
      output.append(UInt8(ascii: "\""))
    }
    needsComma = true
  }

  package mutating func member(_ name: String, _ value: Int64?) {
    guard let value else { return }
    ownName(name)
    integer(value)
  }

  package mutating func member(_ name: String, _ value: Bool?) {
    guard let value else { return }
    ownName(name)
    bool(value)
  }

  /// Writes a member in ISO 8601 with milliseconds.
  package mutating func member(_ name: String, _ value: Timestamp?) {
    guard let value else { return }
    ownName(name)
    timestamp(value)
  }

  package mutating func member(_ name: String, _ value: ReceiptEnvironment?) {
    member(name, value?.plainName)
  }

  package mutating func member(_ name: String, _ texts: [String]) {
    array(name, texts) { $1.string($0) }
  }
}
