// SPDX-License-Identifier: Apache-2.0

/// Text that a server wrote, made fit to be shown.
enum ShownText {
  static let maximumCount = 500
  /// Longer runs of the characters of base64 are taken for tokens, keys or signed payloads. A UUID has 36.
  static let longestWord = 48

  /// One line of bounded length, without control characters, in which no token, key or payload can stand: a
  /// server may send back what it was sent.
  static func line(_ text: String) -> String {
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
      if isOfBase64(scalar) {
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

  private static func isOfBase64(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "-", "_", "+", "/", "=", ".": true
    default: false
    }
  }
}
