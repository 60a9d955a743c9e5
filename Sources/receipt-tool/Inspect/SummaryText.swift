// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes

/// Lines of names and values. What strangers wrote is shown without control characters.
struct SummaryText {
  let colors: Colors
  private var lines: [String] = []
  private static let width = 14

  init(_ colors: Colors) { self.colors = colors }

  var text: String { lines.joined(separator: "\n") + "\n" }

  /// A line at the margin, such as the name of a section.
  mutating func head(_ line: String) { lines.append(ShownText.plain(line)) }

  /// A line at the margin that begins with a coloured word.
  mutating func head(_ word: String, _ emphasis: Colors.Emphasis, _ rest: String) {
    lines.append(colors(word, emphasis) + ShownText.plain(rest))
  }

  /// A name with its value; nothing without a value. An empty name continues the line before.
  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    lines.append(Self.margin(name) + (value.isEmpty ? "(empty)" : ShownText.plain(value)))
  }

  /// A name with a value that begins with a coloured word.
  mutating func add(_ name: String, _ word: String, _ emphasis: Colors.Emphasis, _ rest: String = "") {
    lines.append(Self.margin(name) + colors(word, emphasis) + ShownText.plain(rest))
  }

  private static func margin(_ name: String) -> String {
    "  " + name + String(repeating: " ", count: max(2, width - name.count))
  }
}

/// Values that may be absent, as a list in one line; `nil` if all are.
func listed(_ values: String?..., separator: String = ", ") -> String? {
  let present = values.compactMap { $0 }
  return present.isEmpty ? nil : present.joined(separator: separator)
}

/// What a value means, without the full stop; for one that is not documented, the value.
func meaning<Value>(_ meaning: String?, of value: Value) -> String {
  meaning.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 } ?? "\(value) (unknown)"
}
