// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptCodec

/// The exit codes of `sysexits.h` that the tool uses in addition to those of a verification.
extension ExitCode {
  static let invalid = ExitCode(ExitStatus.invalid.rawValue)
  static let undetermined = ExitCode(ExitStatus.undetermined.rawValue)
  static let usage = ExitCode(ExitStatus.usage.rawValue)
  static let malformedInput = ExitCode(ExitStatus.malformedInput.rawValue)
  static let unreadableInput = ExitCode(ExitStatus.unreadableInput.rawValue)
  static let internalFault = ExitCode(ExitStatus.internalFault.rawValue)
  static let cannotCreate = ExitCode(ExitStatus.cannotCreate.rawValue)
  static let inputOutput = ExitCode(ExitStatus.inputOutput.rawValue)
}

enum ToolExit {
  /// Writes the error to standard error, and returns the exit code to throw. With `--json` the error is also the last
  /// output object, with the failing component's own code.
  static func failure(_ exitCode: ExitCode, _ message: String, code: String? = nil) -> ExitCode {
    note("receipt-tool: \(message)")
    Output.Error.keep(Output.Error(exitCode, message, code: code))
    return exitCode
  }

  /// Reads an input with `body`, or ends the command with a message: the text, and the error's.
  static func reading<Value, Failure: Error>(
    orElse text: @autoclosure () -> String, _ body: () throws(Failure) -> Value
  ) throws(ExitCode) -> Value {
    do { return try body() } catch { throw failure(.unreadableInput, "\(text()): \(error)") }
  }
}

/// The instant that an option states; `words` are other values that it takes, and `why` is `true` to say what is wrong.
func parseInstant(
  _ text: String, _ option: String, or words: String = "", why: Bool = false
) throws(ValidationError) -> Timestamp {
  do throws(MalformedReceipt) {
    return try Timestamp(iso8601: text)
  } catch {
    throw ValidationError(
      "\(option) takes \(words)an instant such as 2025-10-01T07:09:12Z\(why ? ": \(error.message)" : ".")")
  }
}

/// Refuses options that have no effect, since the user relies on them: the first one given, with the reason after its
/// name, such as `needs --check ocsp`.
func refuse(
  _ options: KeyValuePairs<String, Bool>, unless isUsed: Bool, _ reason: String
) throws(ValidationError) {
  guard !isUsed, let option = options.first(where: \.value)?.key else { return }
  throw ValidationError("\(option) \(reason).")
}
