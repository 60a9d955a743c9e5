// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser
  import Foundation
  import ReceiptHTTPAsyncHTTPClient
  import ReceiptService
  import ReceiptSigning

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

    /// The development setup; `nil` if a configuration is given.
    var development: DevelopmentSetup? {
      config == nil ? DevelopmentSetup(folder: dataFolder ?? "receipt-server-data") : nil
    }

    /// The HTTP client for requests to stores, which lives as long as the process.
    private static let transport = Result { TracedTransport(try AsyncHTTPClientTransport()) }

    /// Reads the settings.
    ///
    /// - Parameter preparing: `true` to create missing development settings. Commands that only read pass `false`.
    /// - Returns: The settings.
    /// - Throws: `ExitCode`, after the reason was written to standard error.
    func settings(preparing: Bool = false) async throws -> ServerSettings {
      do {
        if let development {
          if preparing {
            try development.prepare()
          } else if !development.isPrepared {
            throw ServiceConfigurationError(
              "--config",
              "There is no \(development.configurationFile). Name a configuration, or have receipt-server make one for "
                + "development: it does when it serves.")
          }
        }
        return try ServerSettings.read(
          try await SettingsReader(
            file: config ?? development?.configurationFile, assignments: assignments),
          transport: try Self.transport.get())
      } catch let error as ServiceConfigurationError {
        throw ServerExit.failure(ServerExit.wrongConfiguration, "\(error)")
      } catch let error as SigningError {
        throw ServerExit.failure(ServerExit.cannotCreate, "\(error)")
      }
    }

    /// Opens the database of the settings, which must exist.
    ///
    /// - Returns: The settings and the database.
    /// - Throws: `ExitCode`, after the reason was written to standard error.
    func existingDatabase() async throws -> (settings: ServerSettings, database: any ServiceDatabase) {
      let settings = try await settings()
      let exists = try await ServerExit.reporting { try settings.storage.check() }
      guard exists else {
        throw ServerExit.failure(
          ServerExit.unavailable,
          "there is no database yet: receipt-server creates it when it serves, or by keys create")
      }
      return (settings, try await ServerProcess.database(settings))
    }
  }
#endif
