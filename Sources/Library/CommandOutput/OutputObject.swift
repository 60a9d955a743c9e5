// SPDX-License-Identifier: Apache-2.0

package import AuditTrail
package import ReceiptCodec

package protocol OutputPart {
  func append(to object: inout JSONWriter)
}

/// An object that commands print with `--json`, such as ``Output/AuditTrail``. `Schemas/receipt-tool` has a schema for
/// each type.
package protocol OutputObject: OutputPart {
  /// The value of the first member, `type`.
  static var type: String { get }
}

extension OutputObject {
  /// The object and a line feed; absent members are left out.
  package func line() -> [UInt8] { JSONWriter.line(Self.type, append(to:)) }

  /// The same without the line feed.
  package var object: [UInt8] { JSONWriter.object(Self.type, append(to:)) }
}

extension JSONWriter {
  /// An output object with the members that the closure writes, and a line feed.
  package static func line(_ type: String, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var line = object(type, write)
    line.append(0x0A)
    return line
  }

  /// The same without the line feed.
  package static func object(_ type: String, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var object = JSONWriter(type: type)
    write(&object)
    object.endObject()
    return object.bytes
  }

  /// An object of any format with the members that the closure writes.
  package static func bytes(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    json.object(write)
    return json.bytes
  }

  package mutating func member(_ name: String, _ parts: [some OutputPart]?) {
    guard let parts else { return }
    array(name, parts) { part, json in json.object(part.append(to:)) }
  }

  package mutating func member(_ name: String, _ value: JSONValue) {
    self.name(name)
    self.value(value)
  }

  package mutating func member(_ name: String, _ entry: EntryReport?) {
    guard let entry else { return }
    object(name, entry.append(to:))
  }
}
