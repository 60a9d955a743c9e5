// SPDX-License-Identifier: Apache-2.0

#if Server
  import Configuration
  import Foundation
  import ReceiptCodec
  import ReceiptService
  import Synchronization
  import SystemPackage

  /// Reads settings from the command line, the environment and a file, in this order of precedence, and notes their
  /// names.
  ///
  /// A given setting that is not read, or whose name is misspelled, is an error that ends the process.
  struct SettingsReader {
    let reader: ConfigReader
    private let accesses: AccessRecord
    private let given: [Given]
    /// The environment variables whose names begin like those of settings, in any case, sorted by name.
    private let variables: [(name: String, value: String)]
    /// The folder of the file, which relative paths in it start from.
    let folder: String

    /// - Parameters:
    ///   - file: A JSON file; `nil` if there is no file.
    ///   - assignments: `KEY=VALUE`, such as `listen.port=8443`; a list is separated by commas.
    ///   - environment: The environment variables.
    /// - Throws: `ServiceConfigurationError`.
    init(
      file: String?, assignments: [String],
      environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws {
      accesses = AccessRecord()
      var given: [Given] = []
      var assigned: [String: String] = [:]
      for assignment in assignments {
        let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
          throw ServiceConfigurationError("--set", "It takes KEY=VALUE, not \"\(assignment)\".")
        }
        let name = String(parts[0])
        guard assigned.updateValue(String(parts[1]), forKey: SettingNames.variable(name)) == nil else {
          throw ServiceConfigurationError(name, "It is set twice on the command line.")
        }
        given.append(Given(name: name, place: "--set \(name)"))
      }
      variables = environment.filter { $0.key.uppercased().hasPrefix(SettingNames.environmentPrefix) }
        .sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
      // Kubernetes sets variables for a service's port, whose names can equal those of settings.
      let own = environment.filter { !SettingNames.isOfKubernetes($0.key, value: $0.value) }
      var providers: [any ConfigProvider] = [assigned, own].map {
        EnvironmentVariablesProvider(environmentVariables: $0).prefixKeys(with: "receipt.server")
      }
      if let file {
        do {
          let contents = [UInt8](try Data(contentsOf: URL(filePath: file)))
          // An editor's reference to the schema is no setting.
          given += Self.settings(in: try JSONValue(parsing: contents), "").filter {
            $0.name != "$schema" || $0.value.string == nil
          }.map {
            Given(name: $0.name, place: "\(file): \($0.name)", value: $0.value)
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

    /// Fails if a setting has the wrong type, is given twice, or was not read.
    ///
    /// - Returns: Warnings about ignored environment variables that may have been meant as settings.
    func requireAllUsed() throws -> [String] {
      let (types, faults) = accesses.state.withLock { ($0.types, $0.faults) }
      if let fault = faults.first { throw ServiceConfigurationError(fault.key, fault.message) }
      let names = SettingNames(Set(types.keys))
      var seen: Set<String> = []
      for setting in given {
        if case .object = setting.value {
          guard !names.isGroup(setting.name) else { continue }
        }
        if let mistake = names.mistake(in: setting.name) {
          throw ServiceConfigurationError(setting.place, mistake)
        }
        if let mistake = Self.mistake(in: setting.value, types[setting.name]) {
          throw ServiceConfigurationError(setting.place, mistake)
        }
        guard setting.value == nil || seen.insert(setting.name).inserted else {
          throw ServiceConfigurationError(setting.place, "It stands twice.")
        }
      }
      return try variables.compactMap { variable in
        switch names.judge(variable: variable.name, value: variable.value) {
        case .setting: return nil
        case .mistake(let message): throw ServiceConfigurationError(variable.name, message)
        case .unrelated:
          guard !SettingNames.isOfKubernetes(variable.name, value: variable.value) else { return nil }
          return "\(variable.name): It is no setting, and is ignored."
        }
      }
    }

    /// Fails with a more helpful error than that about a missing setting if a given setting was only misspelled.
    func requireSpelling() throws {
      let names = SettingNames(Set(accesses.state.withLock { $0.types.keys }))
      for setting in given {
        if let spelling = names.spelling(of: setting.name) {
          throw ServiceConfigurationError(
            setting.place, "There is no such setting. It is spelled \(spelling).")
        }
      }
    }

    /// The names of the settings that were read, sorted, with the own names of apps, policies and webhooks.
    var read: [String] { accesses.state.withLock { $0.types.keys.sorted() } }

    /// Resolves a path in the file, relative to the file's folder.
    func path(_ path: String) -> String {
      path.hasPrefix("/") || folder == "." ? path : "\(folder)/\(path)"
    }

    private static func settings(in value: JSONValue, _ prefix: String) -> [JSONMember] {
      guard let members = value.object, !members.isEmpty else {
        return [JSONMember(name: prefix, value: value)]
      }
      return members.flatMap { settings(in: $0.value, prefix.isEmpty ? $0.name : "\(prefix).\($0.name)") }
    }

    /// Describes the error of a value in a file.
    ///
    /// The configuration library itself accepts numbers for Booleans and Booleans for numbers.
    private static func mistake(in value: JSONValue?, _ type: ConfigType?) -> String? {
      switch (value, type) {
      case (.null, _): "It is null. Give it a value, or remove it: without it the default holds."
      case (.number, .bool): "It is of a wrong type: it takes true or false."
      case (.bool, .int), (.bool, .double): "It is of a wrong type: it takes a number."
      default: nil
      }
    }

    private final class AccessRecord: AccessReporter {
      struct State {
        var types: [String: ConfigType] = [:]
        var faults: [(key: String, message: String)] = []
      }
      let state = Mutex(State())

      func report(_ event: AccessEvent) {
        let key = event.metadata.key.description
        state.withLock { state in
          state.types[key] = event.metadata.valueType
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
