// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptBytes
import ReceiptCodec

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
