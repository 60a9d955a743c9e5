// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser
  import AuditTrail
  import Foundation
  import Hummingbird
  import HummingbirdCore
  import HummingbirdTLS
  import Instrumentation
  import Logging
  import Metrics
  import NIOCore
  import NIOSSL
  import ReceiptCodec
  import ReceiptObservability
  import ReceiptService
  import ServiceLifecycle
  import Synchronization
  import UnixSignals

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// The services of one process, from the database up to the listeners.
  struct ServerProcess {
    let settings: ServerSettings
    let api: ReceiptAPI
    private let metrics = PrometheusMetrics()
    private let logger: Logger
    private let log: AuditLog?
    /// The maximum number of client connections, those of the metrics not counted.
    private let maximumConnections: Int

    init(_ settings: ServerSettings, logsJSON: Bool) async throws {
      InstrumentationSystem.bootstrap(TraceContextInstrument())
      LoggingSystem.bootstrap(
        { label, _ in ServerLogHandler(label: label, writesJSON: logsJSON, output: .standardError) },
        metadataProvider: TraceContextInstrument.metadataProvider)
      LogOutput.standardError.describeDropped { count in
        ServerLogHandler.line(
          .warning, "Lines of the log were dropped: they could not be written in time.",
          [("count", "\(count)")], label: "receipt-server.log", writesJSON: logsJSON)
      }
      MetricsSystem.bootstrap(metrics)
      self.settings = settings
      maximumConnections = DescriptorLimit.connections(of: DescriptorLimit.raise())
      let logger = Logger(label: "receipt-server")
      self.logger = logger
      for warning in settings.warnings { logger.warning("\(warning)") }
      (log, api) = try await ServerExit.reporting {
        let database = try await Self.database(settings)
        var options = AuditLog.Options()
        let observer = ReceiptObserver(logger: logger)
        options.eventHandler = { observer.report($0) }
        var service = settings.service
        service.auditLog = try settings.trail?.open(options: options)
        service.certificateFiles = [settings.listener.tls, settings.metrics?.tls].compactMap {
          $0?.certificates
        }
        return (service.auditLog, try ReceiptAPI(service, database: database, logger: logger))
      }
    }

    static func database(_ settings: ServerSettings) async throws -> any ServiceDatabase {
      try await ServerExit.reporting { try await settings.storage.open() }
    }

    /// Serves until SIGTERM or SIGINT.
    ///
    /// - Throws: `ExitCode` if it cannot listen; errors of the services.
    func run(ready: @escaping @Sendable (ServerSettings.Listener) -> Void) async throws {
      let router = Router(context: ServiceContext.self)
      router.add(middleware: TraceMiddleware())
      api.addRoutes(to: router)
      // Services end in reverse order, so each comes after the services that it uses.
      var services: [any Service] = []
      if let log { services.append(ClosingService { try log.close() }) }
      services += api.services
      let certificates = try settings.listener.tls.map { try ReloadingCertificates($0) }
      let metricsCertificates = try settings.metrics?.tls.map { try ReloadingCertificates($0) }
      // From here on, so that none is lost between the first answer and the start of the service.
      let hangUps = await UnixSignalsSequence(trapping: .sighup)
      services.append(
        HangUpService(
          certificates: [certificates, metricsCertificates].compactMap(\.self), hangUps: hangUps,
          logger: logger))
      if let metrics = settings.metrics { services.append(try metricsServer(metrics, metricsCertificates)) }
      services.append(
        try application(
          router.buildResponder(), at: settings.listener, certificates, maximumConnections, verifying: api,
          isOpen: ready))
      services.append(
        ClosingService { [api, delay = settings.shutdownDelay] in
          api.beginShutdown()
          try await Task.sleep(for: delay)
        })
      let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
          services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
      do {
        try await group.run()
      } catch let error as IOError {
        throw ServerExit.failure(ServerExit.unavailable, "cannot listen: \(error)")
      }
    }

    private func application<Responder: HTTPResponder>(
      _ responder: Responder, at listener: ServerSettings.Listener, _ certificates: ReloadingCertificates?,
      _ maximumConnections: Int, verifying api: ReceiptAPI? = nil,
      isOpen: @escaping @Sendable (ServerSettings.Listener) -> Void = { _ in }
    ) throws -> some Service
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
      let limits = settings.service.limits
      let connections = OpenConnections(maximum: maximumConnections)
      let http = HTTP1Channel.Configuration(
        additionalChannelHandlers: [
          ExpectContinueHandler(),
          RequestDeadlineHandler(deadline: .seconds(Int64(limits.requestDeadline)), among: connections),
          GracefulCloseHandler(),
        ] + (api.map { [VerificationHandler($0)] } ?? []),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100))
      let server: HTTPServerBuilder =
        if let certificates {
          try .tls(.http1(configuration: http), tlsConfiguration: try certificates.configuration())
        } else {
          .http1(configuration: http)
        }
      return Application(
        responder: responder, server: server,
        configuration: ApplicationConfiguration(
          address: .hostname(listener.host, port: listener.port), serverName: nil,
          availableConnectionsDelegate: MaximumAvailableConnections(maximumConnections)),
        onServerRunning: { channel in
          var listener = listener
          listener.port = channel.localAddress?.port ?? listener.port
          isOpen(listener)
        }, logger: logger)
    }

    private func metricsServer(
      _ listener: ServerSettings.Listener, _ certificates: ReloadingCertificates?
    ) throws -> some Service {
      let router = Router()
      router.get("metrics") { [metrics] _, _ in
        Response(
          status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
          body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text())))
      }
      return try application(
        router.buildResponder(), at: listener, certificates, DescriptorLimit.metricsConnections)
    }
  }

  private enum DescriptorLimit {
    /// The limit to raise to: that of the packaged unit. A higher one has no use.
    private static let sufficient: rlim_t = 65_536
    /// The number of connections reserved for reading metrics.
    static let metricsConnections = 16

    /// Raises the limit as far as the process is permitted, and returns the limit in force.
    static func raise() -> Int {
      var limit = rlimit()
      #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #else
        let resource = RLIMIT_NOFILE
      #endif
      guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
      let wanted = min(limit.rlim_max, sufficient)
      if limit.rlim_cur < wanted {
        var raised = limit
        raised.rlim_cur = wanted
        if unsafe setrlimit(resource, &raised) == 0 { limit = raised }
      }
      return Int(min(limit.rlim_cur, rlim_t(Int32.max)))
    }

    /// The number of descriptors for client connections.
    ///
    /// The rest is for files, databases, webhooks and system libraries: libdispatch ends the process if it cannot open
    /// a file.
    static func connections(of limit: Int) -> Int {
      max(8, limit - min(limit / 2, max(192, limit / 8)) - metricsConnections)
    }
  }

  /// Reloads the certificates at SIGHUP.
  ///
  /// Without a handler, SIGHUP would end the process, for example when a terminal session ends.
  private struct HangUpService: Service {
    let certificates: [ReloadingCertificates]
    let hangUps: UnixSignalsSequence
    let logger: Logger

    func run() async throws {
      for await _ in hangUps.cancelOnGracefulShutdown() {
        logger.notice("SIGHUP: the certificates are read again; other settings need a restart.")
        for certificates in certificates { certificates.reload() }
      }
    }
  }
#endif
