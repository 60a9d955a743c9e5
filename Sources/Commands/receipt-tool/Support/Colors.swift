// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptInspection

struct Colors: Sendable {
  static let off = Colors(isOn: false)

  let isOn: Bool

  /// The word, coloured; it must not contain control characters.
  func callAsFunction(_ word: String, _ emphasis: Emphasis) -> String {
    // Parameters of SGR (ECMA-48).
    let color =
      switch emphasis {
      case .good: 32
      case .bad: 31
      case .caution: 33
      }
    return isOn ? "\u{1B}[1;\(color)m\(word)\u{1B}[0m" : word
  }
  private static let verdicts: [Substring: Emphasis] = [
    "VALID": .good, "INTACT": .good, "PROVEN": .good, "COMPLETE": .good, "purchased": .good,
    "restored": .good,
    "INVALID": .bad, "NOT": .bad, "failed": .bad, "UNDETERMINED": .caution, "purchasing": .caution,
  ]
  /// Returns the emphasis of a report's first word; a genuine receipt is good only if its purchase stands.
  private static func emphasis(of word: Substring, _ next: Substring?) -> Emphasis? {
    guard word == "VALID," else { return verdicts[word] }
    return next == "ACTIVE" ? .good : .caution
  }

  private static let states: [Substring: Emphasis] = [
    "EXPIRED": .bad, "REVOKED": .bad, "UPGRADED": .caution, "NOTE": .caution,
  ]

  /// Colours a report: a verdict at the beginning of a line, and the words for the state of a purchase. Control
  /// characters must already be escaped.
  func painted(_ report: String) -> String {
    guard isOn else { return report }
    return report.split(separator: "\n", omittingEmptySubsequences: false).map(painted(line:)).joined(
      separator: "\n")
  }

  private func painted(line: Substring) -> String {
    var words = line.split(separator: " ", omittingEmptySubsequences: false)
    if let first = words.first, let emphasis = Self.emphasis(of: first, words.dropFirst().first) {
      // NOT PROVEN and NOT INTACT are coloured as one, and so are a verdict and the standing after it.
      let count = (first == "NOT" || first.hasSuffix(",")) && words.count > 1 ? 2 : 1
      words.replaceSubrange(..<count, with: [self(words[..<count].joined(separator: " "), emphasis)[...]])
    }
    return words.map { word in Self.states[word].map { self(String(word), $0) } ?? String(word) }.joined(
      separator: " ")
  }
}

extension ColorOptions {
  enum When: String, CaseIterable, ExpressibleByArgument { case auto, always, never }

  var colors: Colors {
    switch when {
    case .always: Colors(isOn: true)
    case .never: .off
    case .auto:
      Colors(
        isOn: isatty(STDOUT_FILENO) == 1 && environmentVariable("NO_COLOR") == nil
          && environmentVariable("TERM") != "dumb")
    }
  }
}
