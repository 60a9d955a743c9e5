// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser
  import Foundation
  import ReceiptHTTPAsyncHTTPClient
  import ReceiptService
  import ReceiptSigning

  /// Where the configuration is.
  struct ConfigurationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration, a JSON file.", valueName: "FILE"))
    var config: String?

    @Option(
      name: .customLong("set"),
      help: ArgumentHelp(
        "A setting, before that of the environment (RECEIPT_SERVER_LISTEN_PORT) and of the file. May be repeated.",
        valueName: "KEY=VALUE"))
    var assignments: [String] = []

    @Option(
      name: .customLong("data"),
      help: ArgumentHelp(
        "The folder of a server for development, without --config. Default: receipt-server-data.",
        valueName: "FOLDER"))
    var dataFolder: String?

    func validate() throws {
      guard config == nil || dataFolder == nil else {
        throw ValidationError("--data has no effect with --config.")
      }
    }

    /// The setup for development; `nil` with a configuration.
    var development: DevelopmentSetup? {
      config == nil ? DevelopmentSetup(folder: dataFolder ?? "receipt-server-data") : nil
    }

    /// What stores are asked over, for as long as the process runs.
    private static let transport = Result { TracedTransport(try AsyncHTTPClientTransport()) }

    /// Reads the settings; makes those for development where there are none.
    func settings() async throws -> ServerSettings {
      do {
        try development?.prepare()
        return try ServerSettings(
          try await SettingsReader(
            file: config ?? development?.configurationFile, assignments: assignments),
          transport: try Self.transport.get())
      } catch let error as ServiceConfigurationError {
        throw ServerExit.failure(ServerExit.wrongConfiguration, "\(error)")
      } catch let error as SigningError {
        throw ServerExit.failure(ServerExit.cannotCreate, "\(error)")
      }
    }
  }
#endif
