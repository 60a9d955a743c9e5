// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import Synchronization

/// The reason why a command or one of its inputs failed.
extension Output.Error {
  /// Creates the error of an exit code. A component's `code` is in camel case, as its enumeration spells it; without
  /// one, the code is that of the exit code.
  init(
    _ exitCode: ExitCode, _ message: String, code: String? = nil, source: String? = nil, place: String? = nil
  ) {
    self.init(
      code: code.map(ExitStatus.errorCode) ?? ExitStatus.errorCode(of: exitCode.rawValue), message: message,
      exitCode: Int64(exitCode.rawValue), option: exitCode == .usage ? Self.option(in: message) : nil,
      source: source, place: place)
  }

  /// Prints the object, if the command line has `--json`.
  func write() throws(ExitCode) {
    if Self.isWanted { try writeAll(line()) }
  }

  /// Indicates whether errors are printed as JSON, including those of a command line that cannot be parsed.
  static let isWanted = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")

  /// The option that the message begins with, or that it quotes.
  private static func option(in message: String) -> String? {
    let start = message.hasPrefix("--") ? message.startIndex : message.firstRange(of: "'--")?.upperBound
    guard var start else { return nil }
    if start != message.startIndex { start = message.index(start, offsetBy: -2) }
    return String(message[start...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
  }

  /// The error that ends the command. ``ToolExit/failure(_:_:code:)`` sets it, and the entry point prints it.
  private static let last = Mutex<Output.Error?>(nil)

  static func keep(_ error: Self?) { last.withLock { $0 = error } }

  /// Prints the error that ends a command. Without an error, the command's own output, such as a verdict, gives the
  /// reason.
  static func writeLast(_ exitCode: ExitCode) throws(ExitCode) {
    guard let error = last.withLock({ $0 }), error.exitCode == exitCode.rawValue else { return }
    try error.write()
  }
}
