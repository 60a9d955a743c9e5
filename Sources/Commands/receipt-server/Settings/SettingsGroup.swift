// SPDX-License-Identifier: Apache-2.0

#if Server
  import Configuration
  import Foundation
  import ReceiptCodec
  import ReceiptHTTP
  import ReceiptService
  import ReceiptSigning

  /// A group of settings, such as those of an app, and the errors that name them.
  struct SettingsGroup {
    let reader: ConfigReader
    let settings: SettingsReader
    let transport: any HTTPTransport
    /// The name of the group with a dot; empty for all settings.
    private let prefix: String
    /// The same with `NAME` for own names, as in the table of settings.
    private let pattern: String

    init(
      _ settings: SettingsReader, _ transport: any HTTPTransport, _ reader: ConfigReader? = nil,
      prefix: String = "", pattern: String = ""
    ) {
      self.reader = reader ?? settings.reader
      self.settings = settings
      self.transport = transport
      self.prefix = prefix
      self.pattern = pattern
    }

    /// A group below this one: its name, and the own name of an app, a policy, an entitlement or a webhook.
    func group(_ name: String, _ ownName: String? = nil) -> SettingsGroup {
      let path = [name] + (ownName.map { [$0] } ?? [])
      return SettingsGroup(
        settings, transport, reader.scoped(to: ConfigKey(path)),
        prefix: "\(prefix)\(path.joined(separator: ".")).",
        pattern: "\(pattern)\(name).\(ownName == nil ? "" : "NAME.")")
    }

    func name(_ name: String) -> String { prefix + name }

    func error(_ name: String, _ message: String) -> ServiceConfigurationError {
      ServiceConfigurationError(prefix + name, message)
    }

    // MARK: Values

    /// The row of a setting in the table of settings, which has its default and its bounds.
    private func row(_ name: String) -> Setting { Setting.named(pattern + name) }

    /// The value of a setting that is given; `nil` otherwise, whatever its default.
    func given(_ name: String) -> String? {
      reader.string(forKey: ConfigKey(name), isSecret: row(name).isSecret)
    }

    func string(_ name: String) -> String? { given(name) ?? row(name).initial }

    func strings(_ name: String) -> [String] {
      let row = row(name)
      return reader.stringArray(forKey: ConfigKey(name), isSecret: row.isSecret) ?? row.initialElements
    }

    func bool(_ name: String) -> Bool {
      reader.bool(forKey: ConfigKey(name), default: row(name).initial == "true")
    }

    func double(_ name: String) -> Double? {
      reader.double(forKey: ConfigKey(name)) ?? row(name).initial.flatMap(Double.init)
    }

    /// An integer, which is within the bounds of the table.
    func integer(_ name: String) throws -> Int {
      let row = row(name)
      let value = reader.int(forKey: ConfigKey(name)) ?? row.initial.flatMap { Int($0) } ?? 0
      guard let bounds = row.bounds, !(bounds ~= value) else { return value }
      throw error(name, "It takes \(bounds.lowerBound) to \(bounds.upperBound).")
    }

    func path(_ name: String) -> String? { string(name).map(settings.path) }

    /// A list of names.
    ///
    /// - Throws: `ServiceConfigurationError` if it has a name twice: one of both entries would have no effect, or only
    ///   part of its effect.
    func names(_ name: String) throws -> [String] {
      let names = strings(name)
      var seen: Set<String> = []
      if let twice = names.first(where: { !seen.insert($0).inserted }) {
        throw error(name, "It names \"\(twice)\" more than once.")
      }
      return names
    }

    /// The values of a list; `nil` if it is not given and has no default.
    func values<Value: RawRepresentable<String> & CaseIterable>(
      _ name: String, _ type: Value.Type
    ) throws -> [Value]? {
      let isGiven = reader.stringArray(forKey: ConfigKey(name)) != nil || row(name).initial != nil
      return isGiven ? try strings(name).map { try value($0, name, type) } : nil
    }

    /// One value; `nil` if it is not given and has no default.
    func value<Value: RawRepresentable<String> & CaseIterable>(
      _ name: String, _ type: Value.Type
    ) throws -> Value? {
      try string(name).map { try value($0, name, type) }
    }

    func value<Value: RawRepresentable<String> & CaseIterable>(
      _ text: String, _ name: String, _ type: Value.Type
    ) throws -> Value {
      guard let value = Value(rawValue: text) else {
        let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
        throw error(name, "\"\(text)\" is unknown. Use one of: \(known).")
      }
      return value
    }

    func url(_ name: String) throws -> RemoteURL? {
      try string(name).map { text in try naming(name) { try RemoteURL(text) } }
    }

    func contents(_ name: String) throws -> [UInt8]? {
      try path(name).map { path in try naming(name) { try FileStore.read(path) } }
    }

    /// Does work, and rethrows its error as an error that names the setting.
    func naming<Value>(_ name: String, _ place: String = "", _ work: () throws -> Value) throws -> Value {
      do { return try work() } catch { throw self.error(name, "\(place)\(error)") }
    }

    /// The text of a file, without white space around it.
    func secret(_ name: String) throws -> Secret? {
      try contents(name).map {
        Secret(String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
      }
    }
  }
#endif
