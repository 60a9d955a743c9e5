// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import Configuration
  import Entitlements
  import Foundation
  import ReceiptBytes
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptHTTP
  import ReceiptService
  import ReceiptSigning
  import ReceiptVerification

  struct ServerSettings {
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
    let names: [String]
    /// Warnings about ignored names that may have been meant as settings.
    let warnings: [String]

    /// Reads the settings.
    ///
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
      let (root, reader) = (SettingsGroup(settings, transport), settings.reader)
      listener = try Listener(root.group("listen"))
      if reader.int(forKey: "metrics.port") != nil || reader.string(forKey: "metrics.host") != nil {
        metrics = try Listener(root.group("metrics"))
      }
      func location(_ text: String) -> String { Self.isURL(text) ? text : settings.path(text) }
      guard let database = root.string("database") else {
        throw root.error("database", "Name a file for SQLite, or a postgresql:// URL.")
      }
      self.database = location(database)
      trail = try root.string("audit.trail").map { trail in
        try TrailSettings(
          location(trail),
          files: root.path("audit.files") ?? (Self.isURL(trail) ? nil : settings.path(trail)),
          checkpoint: root.string("audit.checkpoint").map(location),
          origin: root.string("audit.origin"))
      }
      guard !root.strings("apps").isEmpty else {
        throw root.error("apps", "Name at least one app: \"apps\": [\"shop\"].")
      }
      service = ServiceConfiguration(
        apps: try root.names("apps").map { try root.group("app", $0).app(named: $0) })
      shutdownDelay = .seconds(try root.integer("shutdown.delay"))
      service.limits = try ServiceLimits(root.group("limits"))
      service.retentionDays = try root.integer("retention.days")
      service.trustedProxies = Set(try root.names("trustedProxies"))
      service.publicURL = root.string("public.url")
      try service.validate()
      if !root.bool("allowSharedBundleIds") { try service.requireSeparateApps() }
      if trail == nil, let app = service.apps.first(where: \.recordsVerdicts) {
        throw root.error(
          "app.\(app.name).record", "It needs audit.trail: there is nothing to record in.")
      }
      service.allowsPlainHTTP = listener.tls == nil
      service.servesConsole = root.bool("console")
      warnings = try settings.requireAllUsed()
      self.names = settings.read
    }

    var storage: ServiceStorage {
      Self.isURL(database) ? .postgreSQL(url: database) : .sqlite(path: database)
    }

    static func isURL(_ text: String) -> Bool {
      text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    // MARK: Checking

    /// Checks that everything that the settings name exists and can be used: certificates, folders, the database, the
    /// trail's files.
    ///
    /// It creates and changes nothing.
    ///
    /// - Throws: `ServiceConfigurationError` for errors that the user must fix; `DatabaseError` if the database cannot
    ///   be reached.
    func check() throws {
      try Self.checkCertificates(of: listener, "listen")
      if let metrics { try Self.checkCertificates(of: metrics, "metrics") }
      try trail?.check()
      do {
        _ = try storage.check()
      } catch let error as DatabaseError where error.code == .unusable {
        throw ServiceConfigurationError("database", "\(error)")
      }
    }

    private static func checkCertificates(of listener: Listener, _ name: String) throws {
      guard let tls = listener.tls else { return }
      do {
        _ = try ReloadingCertificates(tls)
      } catch let error as ServiceConfigurationError {
        throw ServiceConfigurationError("\(name).tls", error.message)
      }
    }

    /// Fails if the folder of a file is missing, so that the file could not be created.
    static func requireFolder(of path: String, _ setting: String) throws {
      let folder = FileSystem.directory(of: path)
      guard (try? FileSystem.status(folder))?.isDirectory == true else {
        throw ServiceConfigurationError(setting, "There is no folder \(folder) for \(path).")
      }
    }
  }

  extension ServerSettings.Listener {
    /// Indicates whether only clients on this machine can connect.
    var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }
    var url: String {
      "\(tls == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    fileprivate init(_ group: SettingsGroup) throws {
      host = group.string("host") ?? host
      port = try group.integer("port")
      switch (group.path("tls.certificates"), group.path("tls.privateKey")) {
      case (let certificates?, let privateKey?): tls = (certificates, privateKey)
      case (nil, nil): break
      default: throw group.error("tls", "TLS needs both tls.certificates and tls.privateKey.")
      }
      let allowsPlainHTTP = group.bool("allowPlainHTTP")
      let needsPermission = !isLoopback && tls == nil
      guard !needsPermission || allowsPlainHTTP else {
        throw group.error(
          "host",
          "Others than this machine can connect to \(host), and there is no TLS: keys and receipts could be read "
            + "on the way. Set \(group.name("tls")), listen at 127.0.0.1 behind a proxy, or set "
            + "\(group.name("allowPlainHTTP")) to true.")
      }
      guard needsPermission || !allowsPlainHTTP else {
        throw group.error(
          "allowPlainHTTP", "It has no effect: only this machine can connect, or there is TLS.")
      }
    }
  }

  extension ServiceLimits {
    fileprivate init(_ group: SettingsGroup) throws {
      self.init()
      let limits: [(String, WritableKeyPath<ServiceLimits, Int>)] = [
        ("maximumBodyByteCount", \.maximumBodyByteCount), ("maximumLineByteCount", \.maximumLineByteCount),
        ("maximumConcurrentRequests", \.maximumConcurrentRequests),
        ("maximumConcurrentBatches", \.maximumConcurrentBatches),
        ("maximumEventStreamsPerApp", \.maximumEventStreamsPerApp),
        ("requestDeadline", \.requestDeadline), ("webhookTimeout", \.webhookTimeout),
        ("clientBurst", \.clientBurst), ("clientRate", \.clientRate),
      ]
      for (name, limit) in limits { self[keyPath: limit] = try group.integer(name) }
    }
  }
#endif
