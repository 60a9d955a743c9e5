// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import ReceiptBytes

#if Server
  import NIOCore
  import NIOPosix
  import ReceiptHTTP
  import ReceiptService
#endif

@main
enum Main {
  static func main() async {
    #if Server
      // Tasks run on the event loops, so that a request does not change threads. Blocking work has threads of its own.
      _ = NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
    #endif
    if let fault = ProgramArguments.fault { ReceiptServer.exit(withError: ValidationError(fault)) }
    await ReceiptServer.main()
  }
}

struct ReceiptServer: AsyncParsableCommand {
  #if Server
    static let configuration = CommandConfiguration(
      commandName: "receipt-server",
      abstract: "Verifies receipts over HTTP, keeps entitlements, records verdicts.",
      discussion: """
        Without a command it serves. Without a configuration it serves for
        development, on the loopback interface: it makes a signing identity, a sample
        receipt, a database, an audit trail and a key in a folder, and prints how to
        use them.

        EXAMPLES:
          receipt-server
          receipt-server serve --config receipt-server.json
          receipt-server serve --config receipt-server.json --check-config
          receipt-server keys create --config receipt-server.json \\
            --name backend --app shop --scope verify --scope read

        EXIT CODES:
          0 ended as asked; 64 wrong command line; 65 wrong configuration; 69 the
          address, the database or the audit trail cannot be used; 70 internal fault;
          73 a file cannot be created.
        """,
      version: ToolkitVersion.current,
      subcommands: [
        ServeCommand.self, HealthCommand.self, ImportCommand.self, ForwardingCommand.self, KeysCommand.self,
        RefundReviewsCommand.self, SettingsCommand.self, WebhooksCommand.self,
      ],
      defaultSubcommand: ServeCommand.self)
  #else
    static let configuration = CommandConfiguration(
      commandName: "receipt-server", abstract: "Built without the trait Server: swift build --traits Server")

    func run() async throws {
      throw ServerExit.failure(
        ServerExit.unavailable, "this build has no server; build it with: swift build --traits Server")
    }
  #endif
}

/// The exit codes of a process that fails (sysexits.h).
enum ServerExit {
  static let wrongConfiguration = ExitCode(65)
  static let unavailable = ExitCode(69)
  static let cannotCreate = ExitCode(73)

  /// Writes the reason to standard error, and returns the exit code to throw.
  static func failure(_ code: ExitCode, _ message: String) -> ExitCode {
    note(message)
    return code
  }

  static func note(_ message: String) {
    // If the line cannot be written, `write(_:)` would end the process.
    try? FileHandle.standardError.write(contentsOf: Data("receipt-server: \(message)\n".utf8))
  }

  #if Server
    /// Does work, and says why it failed: for a wrong configuration, or for what cannot be used.
    ///
    /// - Throws: `ExitCode`, after the reason was written to standard error.
    static func reporting<Value>(_ work: () async throws -> Value) async throws -> Value {
      do {
        return try await work()
      } catch let error as ExitCode {
        throw error
      } catch let error as ServiceConfigurationError {
        throw failure(wrongConfiguration, "\(error)")
      } catch {
        throw failure(unavailable, "\(error)")
      }
    }
  #endif
}
