// SPDX-License-Identifier: Apache-2.0

/// Text out of files, made fit for an error message: one line of bounded length that does nothing to a terminal.
enum OneLine {
  static let maximumCount = 1000

  static func text(_ text: String) -> String {
    // Nearly always there is nothing to do.
    if text.utf8.count <= maximumCount, text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text }
    var line = String.UnicodeScalarView()
    for (index, scalar) in text.unicodeScalars.enumerated() {
      guard index < maximumCount else {
        line.append("…")
        break
      }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: line.append("\u{FFFD}")
      default: line.append(scalar)
      }
    }
    return String(line)
  }
}
