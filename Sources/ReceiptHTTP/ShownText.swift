// SPDX-License-Identifier: Apache-2.0

/// Text that a server wrote, made fit to be shown.
package enum ShownText {
  static let maximumCount = 500
  /// Longer runs of the characters of base64url and of dots are taken for tokens or signed payloads. A UUID has
  /// 36, and host names and segments of paths have less.
  static let longestWord = 48

  /// One line of bounded length, without control characters, in which no token and no signed payload can stand: a
  /// server may send back what it was sent.
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
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: line.append("\u{FFFD}")
      default: line.append(scalar)
      }
    }
    endWord()
    return String(line)
  }

  private static func isOfToken(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "-", "_", "+", "=", ".": true
    default: false
    }
  }
}
