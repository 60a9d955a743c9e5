// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Synchronization

/// The reason why a command or one of its inputs failed, for the output object of type `error`.
struct OutputError: Sendable {
  var exitCode: ExitCode
  /// A stable code in kebab-case: that of the exit code, or a more specific one of the failing component.
  var code: String
  /// The message, the same as on standard error.
  var message: String
  var option: String?
  var source: String?
  var place: String?

  /// Creates the error of an exit code. A component's `code` is in camel case, as its enumeration spells it.
  init(
    _ exitCode: ExitCode, _ message: String, code: String? = nil, source: String? = nil, place: String? = nil
  ) {
    self.exitCode = exitCode
    self.code = code.map(Self.kebabCase) ?? Self.name(of: exitCode)
    self.message = message
    self.source = source
    self.place = place
    if exitCode == ExitCode.usage { option = Self.option(in: message) }
  }

  /// Prints the object, if the command line has `--json`.
  func write() throws(ExitCode) {
    guard Self.isWanted else { return }
    let object = Output.Error(
      code: code, message: message, exitCode: Int64(exitCode.rawValue), option: option, source: source,
      place: place)
    try writeAll(object.line())
  }

  /// Indicates whether errors are printed as JSON, including those of a command line that cannot be parsed.
  static let isWanted = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")

  private static func name(of code: ExitCode) -> String {
    switch code {
    case ExitCode.invalid: "refused"
    case ExitCode.undetermined: "unavailable"
    case ExitCode.usage: "usage"
    case ExitCode.malformedInput: "malformed-input"
    case ExitCode.unreadableInput: "unreadable-input"
    case ExitCode.cannotCreate: "cannot-create"
    case ExitCode.inputOutput: "input-output"
    default: "internal-fault"
    }
  }

  /// Converts `notFound` to `not-found`.
  private static func kebabCase(_ name: String) -> String {
    name.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
  }

  /// The option that the message begins with, or that it quotes.
  private static func option(in message: String) -> String? {
    let start = message.hasPrefix("--") ? message.startIndex : message.firstRange(of: "'--")?.upperBound
    guard var start else { return nil }
    if start != message.startIndex { start = message.index(start, offsetBy: -2) }
    return String(message[start...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
  }
}

extension OutputError {
  /// The error that ends the command. ``ToolExit/failure(_:_:code:)`` sets it, and the entry point prints it.
  private static let last = Mutex<OutputError?>(nil)

  static func keep(_ error: OutputError?) { last.withLock { $0 = error } }

  /// Prints the error that ends a command. Without an error, the command's own output, such as a verdict, gives the
  /// reason.
  static func writeLast(_ exitCode: ExitCode) throws(ExitCode) {
    guard let error = last.withLock({ $0 }), error.exitCode == exitCode else { return }
    try error.write()
  }
}
