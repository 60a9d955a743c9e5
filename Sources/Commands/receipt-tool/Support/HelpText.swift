// SPDX-License-Identifier: Apache-2.0

/// The width of help, whatever that of the terminal: the texts are written for it, so that examples can be copied.
enum HelpText {
  static let columnCount = 80

  /// Help whose line of usage, which the argument parser does not wrap, is wrapped between arguments.
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

  /// The words of a line, where an option in brackets or with its value is one.
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
