// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes

@main
struct ReceiptTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receipt-tool",
    abstract: "Sign and verify purchase receipts: App Store JWS, app receipts, transaction receipts.",
    discussion: """
      EXAMPLES:
        receipt-tool verify receipt.b64
        receipt-tool identity create my-store
        receipt-tool sign --identity my-store \\
          --format signed-transaction purchase.json > purchase.jws
        receipt-tool verify --trust my-store/root.cer purchase.jws
        receipt-tool inspect purchase.jws
        # after: receipt-tool audit init verdicts.audit
        receipt-tool verify --audit verdicts.audit receipt.b64
        # after: receipt-tool store init --store shop
        receipt-tool store buy --store shop com.example.pro -o pro.jws

      EXIT CODES:
        0   success; for verify: every receipt is valid
        1   verify: at least one receipt is invalid; api: refused
        2   verify: none is invalid, at least one is undetermined; api: no answer
        64  the command line is wrong
        65  verify --keyed: a line has no key
        66  an input cannot be read
        70  an internal fault
        73  an output cannot be created, or is one of the inputs
        74  output could not be printed, written or stored: the disk is full, the
            pipe is closed. It is then incomplete, whatever the verdicts

      Files are written under another name, FILE.NUMBER.new, and renamed when they
      are complete. SIGHUP, SIGINT and SIGTERM remove it. If the process is killed
      (kill -9), it stays until a command writes FILE again. You may delete it, and
      what identity create (FILE.TEXT.new) and audit backup (COPY.new-TEXT) left.

      Shell completions: receipt-tool --generate-completion-script bash|zsh|fish
      """,
    version: toolVersion,
    subcommands: [
      VerifyCommand.self, SignCommand.self, IdentityCommand.self, InspectCommand.self, AuditCommand.self,
      StoreCommand.self, APICommand.self, PlayCommand.self, NotificationsCommand.self, TokenCommand.self,
      VersionCommand.self,
    ])

  static func main() async {
    StandardStreams.prepare()
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
