// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A pattern of case identifiers, as of a shell: `*`, `?`, `[a-z]` and `[!a-z]`.
package struct CasePattern: Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package func matches(_ id: String) -> Bool { unsafe fnmatch(text, id, FNM_NOESCAPE) == 0 }
}

/// The failures that are expected of a harness, each with the reason. They are strict: one that passes fails the run.
package struct ExpectedFailures: Sendable {
  package private(set) var patterns: [(pattern: CasePattern, reason: String)] = []

  package init() {}

  /// Adds the lines of a file of this name, `GLOB  # reason`. Empty lines, and lines that begin with `#`, have no effect.
  ///
  /// - Throws: ``UnusableInput`` with the number of a line without a reason.
  package mutating func add(_ text: String, from name: String) throws(UnusableInput) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let parts = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      let pattern = HarnessText.trimmed(String(parts[0]))
      guard !pattern.isEmpty else { continue }
      let reason = parts.count > 1 ? HarnessText.trimmed(String(parts[1])) : ""
      guard !reason.isEmpty else {
        throw UnusableInput("\(name), line \(index + 1): an expected failure has a reason: GLOB  # reason")
      }
      patterns.removeAll { $0.pattern.text == pattern }
      patterns.append((CasePattern(pattern), reason))
    }
  }

  /// The reason for which a case is expected to fail; `nil` if it is not.
  func reason(for id: String) -> String? { patterns.first { $0.pattern.matches(id) }?.reason }
}
