// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A part of a summary, such as one purchase of several. Control characters in what strangers wrote are replaced; markup
/// is not.
package struct SummarySection: Sendable, Hashable {
  /// The title; `nil` for what the receipt states of itself.
  package let title: String?
  /// The fields.
  package internal(set) var fields: [SummaryField] = []
  /// A line for each certificate of a signer: name, validity, fingerprint.
  package internal(set) var certificates: [String] = []

  init(title: String? = nil) { self.title = title.map { ShownText.plain($0) } }
}

/// A name with its value in words.
package struct SummaryField: Sendable, Hashable {
  /// The name; empty where the field continues the one before.
  package let name: String
  /// The word that begins the value, where it has one that matters, such as EXPIRED; otherwise empty.
  package let word: String
  /// What the word means to its reader; `nil` without a word.
  package let emphasis: Emphasis?
  /// The value after the word.
  package let rest: String

  /// The whole value.
  package var value: String { word + rest }
}

/// Collects the fields of a summary.
struct SummarySections {
  private var sections = [SummarySection()]

  /// The sections that have a title or a field.
  var filled: [SummarySection] { sections.filter { $0.title != nil || !$0.fields.isEmpty } }

  /// Begins a section.
  mutating func begin(_ title: String) { sections.append(SummarySection(title: title)) }

  /// A name with its value; nothing without a value. An empty name continues the field before.
  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    append(
      SummaryField(
        name: name, word: "", emphasis: nil, rest: value.isEmpty ? "(empty)" : ShownText.plain(value)))
  }

  /// A name with a value that begins with a word that matters.
  mutating func add(_ name: String, _ word: String, _ emphasis: Emphasis, _ rest: String = "") {
    append(SummaryField(name: name, word: word, emphasis: emphasis, rest: ShownText.plain(rest)))
  }

  /// The lines of a signer's certificates.
  mutating func addCertificates(_ lines: [String]) {
    sections[sections.count - 1].certificates += lines.map { ShownText.plain($0) }
  }

  private mutating func append(_ field: SummaryField) { sections[sections.count - 1].fields.append(field) }
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
