// SPDX-License-Identifier: Apache-2.0

#if Server
  import ArgumentParser
  import AuditTrail
  import Foundation
  import Hummingbird
  import HummingbirdCore
  import HummingbirdTLS
  import Logging
  import Metrics
  import NIOCore
  import NIOSSL
  import ReceiptCodec
  import ReceiptObservability
  import ReceiptService
  import ServiceLifecycle
  import UnixSignals

  /// The services of one process, from the database up to the listeners.
  struct ServerProcess {
    let settings: ServerSettings
    let api: ReceiptAPI
    private let metrics = PrometheusMetrics()
    private let logger: Logger
    private let log: AuditLog?

    init(_ settings: ServerSettings, logsJSON: Bool) async throws {
      LoggingSystem.bootstrap { label in
        logsJSON
          ? JSONLogHandler(label: label) as any LogHandler : StreamLogHandler.standardError(label: label)
      }
      MetricsSystem.bootstrap(metrics)
      self.settings = settings
      let logger = Logger(label: "receipt-server")
      self.logger = logger
      var service = settings.service
      do {
        let database = try await Self.database(settings)
        var options = AuditLog.Options()
        let observer = ReceiptObserver(logger: logger)
        options.eventHandler = { observer.report($0) }
        log = try settings.trail?.open(options: options)
        service.auditLog = log
        api = try ReceiptAPI(service, database: database, logger: logger)
      } catch let error as ServiceConfigurationError {
        throw ServerExit.failure(ServerExit.wrongConfiguration, "\(error)")
      } catch let error as ExitCode {
        throw error
      } catch {
        throw ServerExit.failure(ServerExit.unavailable, "\(error)")
      }
    }

    /// The database of the settings.
    static func database(_ settings: ServerSettings) async throws -> any ServiceDatabase {
      do {
        return try SQLiteServiceDatabase(at: settings.database)
      } catch {
        throw ServerExit.failure(ServerExit.unavailable, "\(error)")
      }
    }

    /// Serves until SIGTERM or SIGINT.
    func run(ready: @escaping @Sendable (ServerSettings.Listener) -> Void) async throws {
      let router = Router(context: ServiceContext.self)
      api.addRoutes(to: router)
      let limits = settings.service.limits
      let http = HTTP1Channel.Configuration(
        additionalChannelHandlers: [
          RequestDeadlineHandler(deadline: .seconds(Int64(limits.requestDeadline)))
        ],
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100))
      let listener = settings.listener
      let server: HTTPServerBuilder =
        if let tls = listener.tls {
          try .tls(
            .http1(configuration: http), tlsConfiguration: try ReloadingCertificates(tls).configuration())
        } else {
          .http1(configuration: http)
        }
      let application = Application(
        router: router, server: server,
        configuration: ApplicationConfiguration(
          address: .hostname(listener.host, port: listener.port), serverName: nil),
        onServerRunning: { channel in
          var listener = listener
          listener.port = channel.localAddress?.port ?? listener.port
          ready(listener)
        }, logger: logger)

      // The last is ended first: what it uses must outlive it.
      var services: [any Service] = []
      if let log { services.append(ClosingService { try log.close() }) }
      services += api.services
      if let metrics = settings.metrics { services.append(metricsServer(metrics)) }
      services.append(application)
      services.append(ClosingService { [api] in api.beginShutdown() })
      let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
          services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
      do {
        try await group.run()
      } catch let error as IOError {
        throw ServerExit.failure(
          ServerExit.unavailable, "cannot listen at \(listener.host):\(listener.port): \(error)")
      }
    }

    private func metricsServer(_ listener: ServerSettings.Listener) -> some Service {
      let router = Router()
      router.get("metrics") { [metrics] _, _ in
        Response(
          status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
          body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text())))
      }
      return Application(
        router: router,
        configuration: ApplicationConfiguration(
          address: .hostname(listener.host, port: listener.port), serverName: nil), logger: logger)
    }
  }
#endif
