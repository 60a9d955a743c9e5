// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A section of a summary, such as one of several purchases. Control characters in untrusted text are replaced; markup
/// is not escaped.
package struct SummarySection: Sendable, Hashable {
  /// The title; `nil` for the statements of the receipt about itself.
  package let title: String?
  package internal(set) var fields: [SummaryField] = []
  /// A line for each certificate of a signer: name, validity, fingerprint.
  package internal(set) var certificates: [String] = []

  init(title: String? = nil) { self.title = title.map { ShownText.plain($0) } }
}

/// A name with its value in words.
package struct SummaryField: Sendable, Hashable {
  /// The name; empty if the field continues the one before.
  package let name: String
  /// The emphasized word that begins the value, such as EXPIRED; empty without one.
  package let word: String
  /// The meaning of the word for its reader; `nil` without a word.
  package let emphasis: Emphasis?
  /// The value after the word.
  package let rest: String

  package var value: String { word + rest }
}

/// Collects the fields of a summary.
struct SummarySections {
  private var sections = [SummarySection()]

  /// The sections that have a title or a field.
  var filled: [SummarySection] { sections.filter { $0.title != nil || !$0.fields.isEmpty } }

  mutating func begin(_ title: String) { sections.append(SummarySection(title: title)) }

  /// Adds a name with its value, or nothing if the value is `nil`; an empty name continues the field before.
  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    append(
      SummaryField(
        name: name, word: "", emphasis: nil, rest: value.isEmpty ? "(empty)" : ShownText.plain(value)))
  }

  /// Adds a name with a value that begins with an emphasized word.
  mutating func add(_ name: String, _ word: String, _ emphasis: Emphasis, _ rest: String = "") {
    append(SummaryField(name: name, word: word, emphasis: emphasis, rest: ShownText.plain(rest)))
  }

  /// Adds the lines of a signer's certificates.
  mutating func addCertificates(_ lines: [String]) {
    sections[sections.count - 1].certificates += lines.map { ShownText.plain($0) }
  }

  private mutating func append(_ field: SummaryField) { sections[sections.count - 1].fields.append(field) }
}

/// Returns the values that are present, as a list in one line; `nil` if all are absent.
func listed(_ values: String?..., separator: String = ", ") -> String? {
  let present = values.compactMap { $0 }
  return present.isEmpty ? nil : present.joined(separator: separator)
}

/// Returns the meaning of a value without its full stop, or the value if it is not documented.
func meaning<Value>(_ meaning: String?, of value: Value) -> String {
  meaning.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 } ?? "\(value) (unknown)"
}
