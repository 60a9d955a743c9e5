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

    init(
      _ settings: SettingsReader, _ transport: any HTTPTransport, _ reader: ConfigReader? = nil,
      prefix: String = ""
    ) {
      self.reader = reader ?? settings.reader
      self.settings = settings
      self.transport = transport
      self.prefix = prefix
    }

    func group(_ path: String...) -> SettingsGroup {
      SettingsGroup(
        settings, transport, reader.scoped(to: ConfigKey(path)),
        prefix: "\(prefix)\(path.joined(separator: ".")).")
    }

    func name(_ name: String) -> String { prefix + name }

    func error(_ name: String, _ message: String) -> ServiceConfigurationError {
      ServiceConfigurationError(prefix + name, message)
    }

    // MARK: Values

    func string(_ name: String) -> String? { reader.string(forKey: ConfigKey(name)) }

    func bool(_ name: String, default usual: Bool = false) -> Bool {
      reader.bool(forKey: ConfigKey(name), default: usual)
    }

    func integer(_ name: String, _ range: ClosedRange<Int>, default usual: Int) throws -> Int {
      let value = reader.int(forKey: ConfigKey(name), default: usual)
      guard range ~= value else {
        throw error(name, "It takes \(range.lowerBound) to \(range.upperBound).")
      }
      return value
    }

    func path(_ name: String) -> String? { string(name).map(settings.path) }

    /// A list of names.
    ///
    /// - Throws: `ServiceConfigurationError` if it has a name twice: one of both entries would have no effect, or only
    ///   part of its effect.
    func names(_ name: String, default usual: [String] = []) throws -> [String] {
      let names = reader.stringArray(forKey: ConfigKey(name), default: usual)
      var seen: Set<String> = []
      if let twice = names.first(where: { !seen.insert($0).inserted }) {
        throw error(name, "It names \"\(twice)\" more than once.")
      }
      return names
    }

    func values<Value: RawRepresentable<String> & CaseIterable>(
      _ name: String, _ type: Value.Type
    ) throws -> [Value]? {
      try reader.stringArray(forKey: ConfigKey([name]))?.map { try value($0, name, type) }
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
