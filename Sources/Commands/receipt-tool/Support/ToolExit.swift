// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The exit codes of `sysexits.h` that the tool uses in addition to those of a verification.
enum ToolExit {
  static let invalid = ExitCode(1)
  static let undetermined = ExitCode(2)
  static let usage = ExitCode(64)
  static let malformedInput = ExitCode(65)
  static let unreadableInput = ExitCode(66)
  static let internalFault = ExitCode(70)
  static let cannotCreate = ExitCode(73)
  /// Output, a file or a storage could not be written.
  static let inputOutput = ExitCode(74)

  /// Writes the error to standard error, and returns the exit code to throw.
  ///
  /// With `--json` the error is also the last output object.
  ///
  /// - Parameters:
  ///   - exitCode: The exit code.
  ///   - message: The message.
  ///   - code: The failing component's own code.
  /// - Returns: The exit code.
  static func failure(_ exitCode: ExitCode, _ message: String, code: String? = nil) -> ExitCode {
    note("receipt-tool: \(message)")
    OutputError.keep(OutputError(exitCode, message, code: code))
    return exitCode
  }
}

/// Refuses options that have no effect, since the user relies on them.
///
/// - Parameters:
///   - options: The options, each with whether it is given.
///   - isUsed: `true` if they have an effect.
///   - reason: The message after the option's name, such as `needs --check ocsp`.
/// - Throws: `ValidationError`, for exit code 64, that names the first option given.
func refuse(
  _ options: KeyValuePairs<String, Bool>, unless isUsed: Bool, _ reason: String
) throws(ValidationError) {
  guard !isUsed, let option = options.first(where: \.value)?.key else { return }
  throw ValidationError("\(option) \(reason).")
}
