// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import Configuration
  import Entitlements
  import Foundation
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptHTTP
  import ReceiptService
  import ReceiptSigning
  import ReceiptVerification

  /// The settings of a process.
  struct ServerSettings {
    struct Listener {
      var host = "127.0.0.1"
      var port = 8080
      /// The files of the certificate chain and the private key, in PEM.
      var tls: (certificates: String, privateKey: String)?

      /// Indicates whether only clients on this machine can connect.
      var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }
      var url: String {
        "\(tls == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
      }
    }

    var listener = Listener()
    /// The listener for metrics; `nil` if they are not served.
    var metrics: Listener?
    var database: String
    var trail: TrailSettings?
    /// The time for which requests are still accepted after SIGTERM.
    ///
    /// Meanwhile `/readyz` answers 503, so that a load balancer stops sending requests.
    var shutdownDelay: Duration = .zero
    var service: ServiceConfiguration
    /// The names of all settings that were read.
    let names: [String]
    /// Warnings about ignored names that may have been meant as settings.
    let warnings: [String]

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - settings: The reader of the settings.
    ///   - transport: The transport for requests to stores.
    /// - Returns: The settings.
    /// - Throws: `ServiceConfigurationError` for settings that cannot take effect.
    static func read(_ settings: SettingsReader, transport: any HTTPTransport) throws -> ServerSettings {
      do {
        return try ServerSettings(settings, transport)
      } catch let error as ServiceConfigurationError {
        try settings.requireSpelling()
        throw error
      }
    }

    private init(_ settings: SettingsReader, _ transport: any HTTPTransport) throws {
      let reader = settings.reader
      listener = try Self.listener(reader.scoped(to: "listen"), settings, named: "listen", defaultPort: 8080)
      if reader.int(forKey: "metrics.port") != nil || reader.string(forKey: "metrics.host") != nil {
        metrics = try Self.listener(
          reader.scoped(to: "metrics"), settings, named: "metrics", defaultPort: 9464)
      }
      guard let database = reader.string(forKey: "database", isSecret: true) else {
        throw ServiceConfigurationError(
          "database", "Name a file for SQLite, or a postgresql:// URL.")
      }
      self.database = Self.isURL(database) ? database : settings.path(database)
      trail = try reader.string(forKey: "audit.trail", isSecret: true).map { trail in
        try TrailSettings(
          Self.isURL(trail) ? trail : settings.path(trail),
          files: Self.isURL(trail)
            ? reader.string(forKey: "audit.files").map(settings.path)
            : reader.string(forKey: "audit.files").map(settings.path) ?? settings.path(trail),
          checkpoint: reader.string(forKey: "audit.checkpoint", isSecret: true).map {
            Self.isURL($0) ? $0 : settings.path($0)
          }, origin: reader.string(forKey: "audit.origin"))
      }
      guard let names = reader.stringArray(forKey: "apps"), !names.isEmpty else {
        throw ServiceConfigurationError("apps", "Name at least one app: \"apps\": [\"shop\"].")
      }
      try Self.requireDifferent(names, "apps")
      service = ServiceConfiguration(
        apps: try names.map {
          try Self.app($0, reader.scoped(to: ConfigKey(["app", $0])), settings, transport)
        })
      let delay = reader.int(forKey: "shutdown.delay", default: 0)
      guard 0...600 ~= delay else {
        throw ServiceConfigurationError("shutdown.delay", "It takes 0 to 600 seconds.")
      }
      shutdownDelay = .seconds(delay)
      service.limits = try Self.limits(reader.scoped(to: "limits"))
      service.retentionDays = reader.int(forKey: "retention.days", default: 0)
      service.publicURL = reader.string(forKey: "public.url")
      try service.validate()
      if !reader.bool(forKey: "allowSharedBundleIds", default: false) { try service.requireSeparateApps() }
      if trail == nil, let app = service.apps.first(where: \.recordsVerdicts) {
        throw ServiceConfigurationError(
          "app.\(app.name).record", "It needs audit.trail: there is nothing to record in.")
      }
      service.allowsPlainHTTP = listener.tls == nil
      service.servesConsole = reader.bool(forKey: "console", default: true)
      warnings = try settings.requireAllUsed()
      self.names = settings.read
    }

    /// The storage of the service.
    var storage: ServiceStorage {
      Self.isURL(database) ? .postgreSQL(url: database) : .sqlite(path: database)
    }

    /// Fails if a list contains a name twice: one of both entries would have no effect, or only part of its effect.
    static func requireDifferent(_ names: [String], _ place: String) throws {
      var seen: Set<String> = []
      if let name = names.first(where: { !seen.insert($0).inserted }) {
        throw ServiceConfigurationError(place, "It names \"\(name)\" more than once.")
      }
    }

    static func isURL(_ text: String) -> Bool {
      text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    private static func listener(
      _ reader: ConfigReader, _ settings: SettingsReader, named name: String, defaultPort: Int
    ) throws -> Listener {
      var listener = Listener()
      listener.host = reader.string(forKey: "host", default: listener.host)
      listener.port = reader.int(forKey: "port", default: defaultPort)
      guard 0...65535 ~= listener.port else {
        throw ServiceConfigurationError("\(name).port", "A port is 0 to 65535.")
      }
      let files = (
        reader.string(forKey: "tls.certificates").map(settings.path),
        reader.string(forKey: "tls.privateKey").map(settings.path)
      )
      switch files {
      case (let certificates?, let privateKey?): listener.tls = (certificates, privateKey)
      case (nil, nil): break
      default:
        throw ServiceConfigurationError(
          "\(name).tls", "TLS needs both tls.certificates and tls.privateKey.")
      }
      let allowsPlainHTTP = reader.bool(forKey: "allowPlainHTTP", default: false)
      let needsPermission = !listener.isLoopback && listener.tls == nil
      guard !needsPermission || allowsPlainHTTP else {
        throw ServiceConfigurationError(
          "\(name).host",
          "Others than this machine can connect to \(listener.host), and there is no TLS: keys and receipts could be read "
            + "on the way. Set \(name).tls, listen at 127.0.0.1 behind a proxy, or set \(name).allowPlainHTTP to true."
        )
      }
      guard needsPermission || !allowsPlainHTTP else {
        throw ServiceConfigurationError(
          "\(name).allowPlainHTTP", "It has no effect: only this machine can connect, or there is TLS.")
      }
      return listener
    }

    private static func limits(_ reader: ConfigReader) throws -> ServiceLimits {
      var limits = ServiceLimits()
      func limit(_ name: String, _ value: inout Int, _ range: ClosedRange<Int>) throws {
        value = reader.int(forKey: ConfigKey([name]), default: value)
        guard range ~= value else {
          throw ServiceConfigurationError(
            "limits.\(name)", "It takes \(range.lowerBound) to \(range.upperBound).")
        }
      }
      try limit("maximumBodyByteCount", &limits.maximumBodyByteCount, 1024...(64 << 20))
      try limit("maximumLineByteCount", &limits.maximumLineByteCount, 1024...(64 << 20))
      try limit("maximumConcurrentRequests", &limits.maximumConcurrentRequests, 1...100_000)
      try limit("maximumConcurrentBatches", &limits.maximumConcurrentBatches, 1...10_000)
      try limit("maximumEventStreamsPerApp", &limits.maximumEventStreamsPerApp, 1...10_000)
      try limit("requestDeadline", &limits.requestDeadline, 1...3600)
      try limit("webhookTimeout", &limits.webhookTimeout, 1...300)
      return limits
    }
  }
#endif
