// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import ReceiptBytes

/// Texts for a terminal. The first and the last line state that nothing was verified. Untrusted text is shown without
/// control characters.
package struct InspectionText {
  /// Colors a word, or returns it unchanged.
  package typealias Painter = (_ word: String, _ emphasis: Emphasis) -> String

  private let inspection: Inspection
  private let source: String
  private let paint: Painter
  private static let width = 14

  /// Creates the texts of a receipt; `source` names its origin in the first line.
  package init(of inspection: Inspection, source: String, paint: @escaping Painter = { word, _ in word }) {
    self.inspection = inspection
    self.source = source
    self.paint = paint
  }

  /// Returns the purchase and its state, then the signers, then the certificates.
  package func summary(at now: Timestamp) -> String {
    let summary = inspection.summary(at: now)
    return framed("", (summary.sections + summary.signerSections).flatMap(lines))
  }

  /// The certificates of the receipt and of its signed parts as a diagram.
  package var certificates: String {
    let lines = inspection.signers.flatMap { signer in
      let title = signer.part.map { ["\(ShownText.plain($0)):\(signer.isRepeated ? " the same" : "")"] }
      return (title ?? []) + (signer.isRepeated ? [] : signer.chain.picture.map { ShownText.plain($0) })
    }
    return framed("certificates of ", lines)
  }

  /// All fields as indented lines, with the names and meanings of numbers and words. Unknown values are shown unchanged
  /// and marked as unknown.
  package var full: String {
    var lines: [String] = []
    for field in inspection.fields { Self.append(field, to: &lines, indent: 0) }
    return framed("", lines)
  }

  private func framed(_ subject: String, _ lines: [String]) -> String {
    let first = paint("UNVERIFIED", .caution) + ShownText.plain("  \(subject)\(inspection.format)  \(source)")
    let last = paint("UNVERIFIED", .caution) + Inspection.notice
    return ([first] + lines + [last]).joined(separator: "\n") + "\n"
  }

  private func lines(of section: SummarySection) -> [String] {
    (section.title.map { [$0] } ?? []) + section.fields.map(line) + section.certificates.map { "  " + $0 }
  }

  private func line(of field: SummaryField) -> String {
    let margin = "  " + field.name + String(repeating: " ", count: max(2, Self.width - field.name.count))
    guard let emphasis = field.emphasis else { return margin + field.value }
    return margin + paint(field.word, emphasis) + field.rest
  }

  private static func append(_ field: InspectedField, to lines: inout [String], indent: Int) {
    let margin = String(repeating: "  ", count: indent)
    let suffix = field.meanings.map { " (\($0))" }.joined()
    switch field.content {
    case .value(let text): lines.append("\(margin)\(field.name): \(text.isEmpty ? "(empty)" : text)\(suffix)")
    case .attribute(let members):
      let parts = members.map { "\($0.name) \($0.value)" }
      lines.append("\(margin)\(field.name) \(parts.joined(separator: "  "))")
    case .object(let members):
      lines.append("\(margin)\(field.name):\(suffix)")
      for member in members { append(member, to: &lines, indent: indent + 1) }
    case .array(let elements):
      lines.append("\(margin)\(field.name): \(elements.count)\(suffix)")
      for element in elements { append(element, to: &lines, indent: indent + 1) }
    }
  }
}
