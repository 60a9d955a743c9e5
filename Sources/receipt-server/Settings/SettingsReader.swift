// SPDX-License-Identifier: Apache-2.0

#if Server
  import Configuration
  import Foundation
  import ReceiptCodec
  import ReceiptService
  import Synchronization
  import SystemPackage

  /// Reads settings from the command line, the environment and a file, in this order of precedence, and notes which were
  /// read: one that nobody reads is a mistake, and stops the process.
  struct SettingsReader {
    /// Names of environment variables begin so: `RECEIPT_SERVER_LISTEN_PORT` is `listen.port`.
    static let environmentPrefix = "RECEIPT_SERVER_"

    let reader: ConfigReader
    private let accesses: AccessRecord
    /// The settings that are there, and where.
    private let given: [(key: String, place: String)]
    /// The folder that relative paths in the file are relative to.
    let folder: String

    /// - Parameters:
    ///   - file: A JSON file; `nil` without.
    ///   - assignments: `KEY=VALUE`, such as `listen.port=8443`; a list is separated by commas.
    ///   - environment: The variables.
    /// - Throws: `ServiceConfigurationError`.
    init(
      file: String?, assignments: [String],
      environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws {
      accesses = AccessRecord()
      var given: [(key: String, place: String)] = []
      var variables: [String: String] = [:]
      for assignment in assignments {
        let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
          throw ServiceConfigurationError("--set", "It takes KEY=VALUE, not \"\(assignment)\".")
        }
        guard variables.updateValue(String(parts[1]), forKey: Self.variable(String(parts[0]))) == nil else {
          throw ServiceConfigurationError(String(parts[0]), "It is set twice on the command line.")
        }
        given.append((Self.variable(String(parts[0])), "--set \(parts[0])"))
      }
      var providers: [any ConfigProvider] = [
        EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "receipt.server")
      ]
      for name in environment.keys where name.hasPrefix(Self.environmentPrefix) {
        given.append((name, name))
      }
      providers.append(
        EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "receipt.server"))
      if let file {
        do {
          let contents = [UInt8](try Data(contentsOf: URL(filePath: file)))
          given += Self.keys(in: try JSONValue(parsing: contents), "").map {
            (Self.variable($0), "\(file): \($0)")
          }
          providers.append(try await FileProvider<JSONSnapshot>(filePath: FilePath(file)))
        } catch {
          throw ServiceConfigurationError(file, "It cannot be read as JSON: \(error)")
        }
      }
      self.given = given
      folder = file.map { URL(filePath: $0).deletingLastPathComponent().path(percentEncoded: false) } ?? "."
      reader = ConfigReader(providers: providers, accessReporter: accesses)
    }

    /// Fails where a setting is of a wrong type, or nobody read it.
    func requireAllUsed() throws {
      let (used, faults) = accesses.state.withLock { ($0.used, $0.faults) }
      if let fault = faults.first { throw ServiceConfigurationError(fault.key, fault.message) }
      if let unused = given.first(where: { !used.contains($0.key) }) {
        throw ServiceConfigurationError(
          unused.place,
          "There is no such setting, or it has no effect with the others. Remove it, or correct its name.")
      }
    }

    /// The settings that were asked for, whether they are there or not, in order: the names of apps, policies and webhooks
    /// in them are those of the configuration.
    var read: [String] { accesses.state.withLock { $0.read.sorted() } }

    /// A path in the file, which is relative to the file.
    func path(_ path: String) -> String {
      path.hasPrefix("/") || folder == "." ? path : "\(folder)/\(path)"
    }

    /// All three spellings of a setting come down to the name of its variable.
    fileprivate static func variable(_ key: String) -> String {
      environmentPrefix
        + key.reduce(into: "") { name, character in
          if character == "." || character == "-" {
            name += "_"
          } else if character.isUppercase, name.last.map({ $0.isLowercase || $0.isNumber }) ?? false {
            name += "_" + String(character)
          } else {
            name.append(character)
          }
        }.uppercased()
    }

    private static func keys(in value: JSONValue, _ prefix: String) -> [String] {
      guard let members = value.object else { return [prefix] }
      return members.flatMap { keys(in: $0.value, prefix.isEmpty ? $0.name : "\(prefix).\($0.name)") }
    }

    /// Notes what is read.
    private final class AccessRecord: AccessReporter {
      struct State {
        var read: Set<String> = []
        var used: Set<String> = []
        var faults: [(key: String, message: String)] = []
      }
      let state = Mutex(State())

      func report(_ event: AccessEvent) {
        let key = event.metadata.key.description
        state.withLock { state in
          state.read.insert(key)
          state.used.insert(SettingsReader.variable(key))
          if let error = event.conversionError {
            state.faults.append((key, "It is of a wrong type: \(error)"))
          }
          for provider in event.providerResults {
            if case .failure(let error) = provider.result {
              state.faults.append((key, "It is of a wrong type: \(error)"))
            }
          }
        }
      }
    }
  }
#endif
