// SPDX-License-Identifier: Apache-2.0

/// Text that may quote a receipt, made fit for a log: one line of bounded length that steers no terminal.
enum PlainLine {
  static let maximumCount = 800

  /// The text with what is beyond the limit cut off, and control and invisible formatting characters replaced.
  static func of(_ text: String) -> String {
    if text.utf8.count <= maximumCount, text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text }
    var line = String.UnicodeScalarView()
    var count = 0
    for scalar in text.unicodeScalars {
      guard count < maximumCount else {
        line.append("…")
        break
      }
      count += 1
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: line.append("\u{FFFD}")
      default: line.append(scalar)
      }
    }
    return String(line)
  }
}
