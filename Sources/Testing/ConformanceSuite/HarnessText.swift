// SPDX-License-Identifier: Apache-2.0

/// Texts of a harness, which may contain anything, as people see them.
enum HarnessText {
  /// The text in one line, without control characters and changes of direction, of bounded length.
  static func shown(_ text: String, limit: Int = 1000) -> String {
    var shown = String.UnicodeScalarView()
    var isBetweenWords = false
    var count = 0
    for scalar in text.unicodeScalars {
      if isSpace(scalar) {
        isBetweenWords = count > 0
        continue
      }
      for next in isBetweenWords ? [" ", scalar] : [scalar] {
        guard count < limit else { return String(shown) + "…" }
        shown.append(isUnprintable(next) ? "\u{FFFD}" : next)
        count += 1
      }
      isBetweenWords = false
    }
    return String(shown)
  }

  /// The text without white space at its ends.
  static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isSpace($0) }),
      let last = scalars.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(scalars[first...last])
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || (0x1C...0x1F).contains(scalar.value)
  }

  private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFFFE, 0xFFFF: true
    default: false
    }
  }
}
