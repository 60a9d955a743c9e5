// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The exit codes of `sysexits.h` that the tool uses, besides those of a verification.
enum ToolExit {
  static let invalid = ExitCode(1)
  static let undetermined = ExitCode(2)
  static let usage = ExitCode(64)
  static let unreadableInput = ExitCode(66)
  static let internalFault = ExitCode(70)
  static let cannotCreate = ExitCode(73)
  /// What was to be printed, written or stored could not be.
  static let inputOutput = ExitCode(74)

  /// Says on standard error what is wrong, and gives the exit code to throw.
  static func failure(_ code: ExitCode, _ message: String) -> ExitCode {
    note("receipt-tool: \(message)")
    return code
  }
}

/// Refuses options that have no effect, since the user relies on them.
///
/// - Parameters:
///   - options: The options, with whether each is given.
///   - isUsed: Whether something uses them.
///   - reason: What follows the option's name, such as `needs --check ocsp`.
/// - Throws: `ValidationError`, for exit code 64, that names the first option given.
func refuse(
  _ options: KeyValuePairs<String, Bool>, unless isUsed: Bool, _ reason: String
) throws(ValidationError) {
  guard !isUsed, let option = options.first(where: \.value)?.key else { return }
  throw ValidationError("\(option) \(reason).")
}
