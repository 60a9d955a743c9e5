// SPDX-License-Identifier: Apache-2.0

/// Makes untrusted text safe for a terminal or a log: one line without control characters.
package enum ShownText {
  /// The length above which a run of base64url characters and dots counts as a token or signed payload. A UUID has 36
  /// characters. Host names and path segments have fewer.
  static let longestWord = 48
  static let maximumCount = 500

  /// Returns the text with control and invisible formatting characters replaced, truncated to `limit` characters.
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

  /// Returns the text like ``plain(_:limit:)``, truncated to 500 characters, with tokens and signed payloads replaced
  /// by `…`. A server may echo what it received.
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
