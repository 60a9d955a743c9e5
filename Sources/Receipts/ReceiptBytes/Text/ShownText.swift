// SPDX-License-Identifier: Apache-2.0

/// Text that a stranger wrote, made fit for a terminal or a log: one line that steers no terminal.
package enum ShownText {
  /// Longer runs of the characters of base64url and of dots are taken for tokens or signed payloads. A UUID has
  /// 36, and host names and segments of paths have less.
  static let longestWord = 48
  static let maximumCount = 500

  /// The text with control and invisible formatting characters replaced, and cut off after `limit` characters.
  package static func plain(_ text: String, limit: Int = .max) -> String {
    if text.utf8.count <= limit, text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text }
    var line = String.UnicodeScalarView()
    for (index, scalar) in text.unicodeScalars.enumerated() {
      guard index < limit else {
        line.append("…")
        break
      }
      line.append(shown(scalar))
    }
    return String(line)
  }

  /// As ``plain(_:limit:)`` of bounded length, with tokens and signed payloads replaced by `…`: a server may send
  /// back what it was sent.
  package static func line(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    var word = String.UnicodeScalarView()
    func endWord() {
      line.append(contentsOf: word.count > longestWord ? "…".unicodeScalars : word)
      word.removeAll()
    }
    for (index, scalar) in text.unicodeScalars.enumerated() {
      guard index < maximumCount else {
        word.append("…")
        break
      }
      if isOfToken(scalar) {
        word.append(scalar)
        continue
      }
      endWord()
      line.append(shown(scalar))
    }
    endWord()
    return String(line)
  }

  private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
    default: scalar
    }
  }

  private static func isOfToken(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "-", "_", "+", "=", ".": true
    default: false
    }
  }
}
