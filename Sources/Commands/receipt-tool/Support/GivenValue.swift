// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes
import ReceiptCodec

enum GivenValue {
  /// The value with its option, such as `--trust root.cer`. It is the value alone for an argument, or if several
  /// options have this value. It also describes a file in or beside a given path (`trail.pub`), and the part after an
  /// app's name (`--play-key com.example.app=key.txt`).
  static func described(_ value: String, in arguments: [String] = CommandLine.arguments) -> String {
    let shown = ShownText.plain(value)
    return option(of: value, in: arguments).map { "\($0) \(shown)" } ?? shown
  }

  /// The option with this value; `nil` unless there is exactly one.
  private static func option(of value: String, in arguments: [String]) -> String? {
    var options: Set<String> = []
    for (index, argument) in arguments.enumerated() where argument.hasPrefix("-") && argument.count > 1 {
      if argument == "--" { break }
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      let given =
        parts.count > 1 ? parts[1] : arguments.indices.contains(index + 1) ? arguments[index + 1] : ""
      if names(given, value), takesValue(parts[0], in: arguments) { options.insert(parts[0]) }
    }
    return options.count == 1 ? options.first : nil
  }

  /// Indicates whether an option of the command takes a value. After a flag, such as `--json`, comes an independent
  /// argument.
  private static func takesValue(_ option: String, in arguments: [String]) -> Bool {
    var command: any ParsableCommand.Type = ReceiptTool.self
    for argument in arguments.dropFirst() {
      let subcommands = command.configuration.subcommands
      guard let next = subcommands.first(where: { $0._commandName == argument }) else { break }
      command = next
    }
    guard let described = try? JSONValue(parsing: Array(command._dumpHelp().utf8))["command"] else {
      return true
    }
    let isFlag = (described["arguments"]?.array ?? []).contains { argument in
      argument["kind"]?.string == "flag"
        && (argument["names"]?.array ?? []).contains { name in
          (name["kind"]?.string == "long" ? "--" : "-") + (name["name"]?.string ?? "") == option
        }
    }
    return !isFlag
  }

  private static func names(_ given: String, _ value: String) -> Bool {
    guard !given.isEmpty else { return false }
    return given == value || given.hasSuffix("=" + value) || value.hasPrefix(given + "/")
      || value.hasPrefix(given + ".")
  }
}
