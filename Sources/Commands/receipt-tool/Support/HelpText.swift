// SPDX-License-Identifier: Apache-2.0

/// The layout of help. It has the same width in every terminal: its texts are written for that width, so that examples
/// can be copied.
enum HelpText {
  static let columnCount = 80

  /// Wraps the usage line between arguments, since the argument parser does not wrap it.
  static func wrapped(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("USAGE: ") && $0.count > columnCount ? wrapped(usage: $0) : String($0) }
      .joined(separator: "\n")
  }

  private static func wrapped(usage: Substring) -> String {
    var lines: [String] = []
    var line = ""
    for word in arguments(of: usage) {
      if line.isEmpty {
        line = word
      } else if line.count + 1 + word.count <= columnCount {
        line += " " + word
      } else {
        lines.append(line)
        line = "         " + word
      }
    }
    return (lines + [line]).joined(separator: "\n")
  }

  /// Splits a usage line into words. An option in brackets, or with its value, is one word.
  private static func arguments(of usage: Substring) -> [String] {
    var arguments: [String] = []
    for word in usage.split(separator: " ").map(String.init) {
      if let last = arguments.last,
        last.hasPrefix("[") && !last.hasSuffix("]") || last.hasPrefix("--") && word.hasPrefix("<")
      {
        arguments[arguments.count - 1] = last + " " + word
      } else {
        arguments.append(word)
      }
    }
    return arguments
  }
}
