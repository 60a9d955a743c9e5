// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptBytes
import ReceiptCodec

protocol OutputPart {
  func append(to object: inout JSONWriter)
}

/// An object that commands print with `--json`, such as ``Output/AuditTrail``. `Schemas/receipt-tool` has a schema for
/// each type.
protocol OutputObject: OutputPart {
  /// The value of the first member, `type`.
  static var type: String { get }
}

extension OutputObject {
  /// The object and a line feed; absent members are left out.
  func line() -> [UInt8] { JSONWriter.line(Self.type, append(to:)) }
}

extension JSONWriter {
  /// An output object with the members that the closure writes, and a line feed.
  static func line(_ type: String, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var object = JSONWriter(type: type)
    write(&object)
    object.endObject()
    object.endLine()
    return object.bytes
  }

  /// An object of any format with the members that the closure writes.
  static func bytes(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    json.object(write)
    return json.bytes
  }

  mutating func member(_ name: String, _ parts: [some OutputPart]?) {
    guard let parts else { return }
    array(name, parts) { part, json in json.object(part.append(to:)) }
  }

  mutating func member(_ name: String, _ value: JSONValue) {
    self.name(name)
    self.value(value)
  }

  mutating func member(_ name: String, _ entry: EntryReport?) {
    guard let entry else { return }
    object(name, entry.append(to:))
  }
}

/// The text of a report: lines of names and values below a first line.
struct ReportText {
  private(set) var lines: [String]
  /// The column of the values, two spaces apart from the beginning of the names.
  private let column: Int

  init(_ first: String, column: Int = 13) {
    lines = [first]
    self.column = column
  }

  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    lines.append("  " + name + String(repeating: " ", count: max(1, column - name.count)) + value)
  }

  var text: String { Self.text(lines) }

  /// The lines with control characters escaped.
  static func text(_ lines: [String]) -> String { lines.map { ShownText.plain($0) + "\n" }.joined() }
}

protocol OutputOptions {
  var json: Bool { get }
  var colors: Colors { get }
}

extension OutputOptions {
  var colors: Colors { .off }

  /// The form that the options choose: JSON, or human-readable text whose control characters are escaped.
  func chosen(_ object: @autoclosure () -> [UInt8], _ text: @autoclosure () -> String) -> [UInt8] {
    json ? object() : Array(colors.painted(text()).utf8)
  }

  /// Prints an object, or lines of human-readable text, with control characters escaped.
  func write(_ object: some OutputObject, _ lines: String...) throws(ExitCode) { try write(object, lines) }

  func write(_ object: some OutputObject, _ lines: [String]) throws(ExitCode) {
    try writeAll(chosen(object.line(), ReportText.text(lines)))
  }
}

extension JSONOption: OutputOptions {}

extension ReportOptions: OutputOptions {
  var json: Bool { format.json }
  var colors: Colors { color.colors }
}

extension Output.APIResponse {
  /// Prints a store's response: unchanged, for programs that know the store's formats, or with `--json` as a member of
  /// an output object. The response cannot be an output object itself, because the stores use members `type` and
  /// `version` of their own.
  static func write(_ body: [UInt8], of endpoint: String, json: Bool) throws(ExitCode) {
    guard json else { return try writeAll(body + [0x0A]) }
    let response: JSONValue
    do throws(MalformedReceipt) {
      response = try JSONValue(parsing: body, limits: ReceiptLimits(maximumByteCount: body.count))
    } catch {
      throw ToolExit.failure(.undetermined, "the answer is no JSON: \(error)")
    }
    try writeAll(Self(endpoint: endpoint, response: response).line())
  }
}
