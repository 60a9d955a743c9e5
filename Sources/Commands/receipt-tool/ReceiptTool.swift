// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import Dispatch
import ReceiptBytes

@main
enum Program {
  static func main() {
    // A task begins only after this: its executor opens descriptors, and could get that of a closed stream.
    StandardStreams.prepare()
    Task { await ReceiptTool.runToEnd() }
    dispatchMain()
  }
}

extension ReceiptTool {
  fileprivate static func runToEnd() async -> Never {
    // Without /proc, Swift finds no arguments. Every command would then print help and succeed.
    guard !CommandLine.arguments.isEmpty else {
      exit(withError: ToolExit.failure(.internalFault, "the command line cannot be read; is /proc mounted?"))
    }
    var failure: (any Error)?
    do { try await runCommand() } catch { failure = ToolExit.failure(for: error) }
    do throws(ExitCode) { try failure.map(writeError) } catch { failure = error }
    // Lost output takes precedence over the command's exit code.
    do throws(ExitCode) { try StandardStreams.finish(succeeded: failure == nil) } catch { failure = error }
    // An unexpected error must not have the exit code of an invalid receipt.
    if let error = failure, !(error is ExitCode), exitCode(for: error) == .failure {
      failure = ToolExit.failure(.internalFault, "internal fault: \(error)")
    }
    end(with: failure)
  }

  /// Ends the process. Values of the command line are printed without control characters.
  private static func end(with error: (any Error)?) -> Never {
    guard let error, !(error is ExitCode) else { exit(withError: error) }
    var message = fullMessage(for: error)
    for argument in CommandLine.arguments {
      for value in [argument[...], argument.drop { $0 != "=" }.dropFirst()] where !value.isEmpty {
        let shown = ShownText.plain(String(value))
        if shown != value { message.replace(value, with: shown) }
      }
    }
    for line in message.split(separator: "\n", omittingEmptySubsequences: false) { note(String(line)) }
    exit(withError: exitCode(for: error))
  }

  /// Prints the error as JSON if `--json` is given. Lost output has an exit code of its own.
  private static func writeError(_ error: any Error) throws(ExitCode) {
    if let code = error as? ExitCode { return try Output.Error.writeLast(code) }
    let code = exitCode(for: error)
    let isUnexpected = code == .failure
    try Output.Error(
      isUnexpected ? ExitCode.internalFault : code,
      isUnexpected ? "internal fault: \(error)" : message(for: error)
    ).write()
  }

  private static func runCommand() async throws {
    try Descriptors.require()
    if let fault = ProgramArguments.fault { throw ToolExit.failure(.usage, fault) }
    if let message = CommandSuggestion.message(for: Array(CommandLine.arguments.dropFirst()), of: Self.self) {
      throw ToolExit.failure(.usage, message)
    }
    do {
      var command = try parseAsRoot()
      if var asyncCommand = command as? any AsyncParsableCommand {
        try await asyncCommand.run()
      } else {
        try command.run()
      }
    } catch  where !(error is ExitCode) && exitCode(for: error) == .success {
      // Prints the output of --help, --version and similar options.
      try writeAll(HelpText.wrapped(fullMessage(for: error, columns: HelpText.columnCount)) + "\n")
    }
  }
}
