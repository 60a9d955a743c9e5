// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes

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

/// Finds a misspelled command, which the argument parser reports only as an unexpected argument.
enum CommandSuggestion {
  /// The error message for the first word that is not a subcommand although one is required; `nil` if there is no such
  /// word.
  static func message(for arguments: [String], of root: any ParsableCommand.Type) -> String? {
    var command = root
    for argument in arguments {
      let subcommands = command.configuration.subcommands
      guard !subcommands.isEmpty, command.configuration.defaultSubcommand == nil else { return nil }
      guard !argument.hasPrefix("-"), argument != "help" else { return nil }
      if let found = subcommands.first(where: { $0._commandName == argument }) {
        command = found
        continue
      }
      let names = subcommands.map { $0._commandName }
      let nearest = names.min { distance($0, argument) < distance($1, argument) }
      let hint = nearest.flatMap { distance($0, argument) <= max(1, $0.count / 3) ? $0 : nil }
      return "unknown command '\(ShownText.plain(argument, limit: 100))'. "
        + (hint.map { "Did you mean '\($0)'?" } ?? "The commands are \(names.joined(separator: ", ")).")
    }
    return nil
  }

  /// The Levenshtein distance, with a swap of two neighbours as one edit.
  private static func distance(_ first: String, _ second: String) -> Int {
    let (left, right) = (Array(first.utf8), Array(second.utf8.prefix(64)))
    var rows = [Array(0...right.count)]
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (left[i] == right[j] ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          best = min(best, rows[i - 1][j - 1] + 1)
        }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }
}
