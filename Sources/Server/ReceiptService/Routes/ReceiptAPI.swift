// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  public import Hummingbird
  public import Logging
  public import NIOCore
  package import ReceiptCodec
  internal import ReceiptObservability
  public import ServiceLifecycle

  /// The routes of a service, for a Hummingbird router.
  ///
  /// ```swift
  /// let api = try await ReceiptAPI(configuration, storage: .sqlite(path: "service.sqlite"))
  /// let router = Router(context: ServiceContext.self)
  /// api.addRoutes(to: router)
  /// ```
  public final class ReceiptAPI: Sendable {
    /// The configuration of the service.
    public let configuration: ServiceConfiguration
    package let keys: KeyRing
    package let entitlements: ServiceEntitlements
    package let notifications: NotificationIntake
    package let erasures: ErasureQueue
    let apps: ServedApps
    let routes: [Route]
    let consoleRoutes: [ConsoleRoute]
    /// The verifications that ``VerificationHandler`` answers.
    let earlyVerifications: EarlyVerifications
    private let answer: Answer
    private let database: any ServiceDatabase
    private let shutdown = ShutdownState()
    private let logger: Logger

    /// Opens the database, and creates the routes.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - storage: The database to open.
    ///   - logger: The logger.
    /// - Throws: ``ServiceConfigurationError`` for settings that cannot take effect together; an error that names the
    ///   database if it cannot be used.
    public convenience init(
      _ configuration: ServiceConfiguration, storage: ServiceStorage,
      logger: Logger = Logger(label: "receipt-service")
    ) async throws {
      try self.init(configuration, database: try await storage.open(), logger: logger)
    }

    /// Creates the routes.
    ///
    /// - Throws: ``ServiceConfigurationError`` for settings that cannot take effect together.
    package init(
      _ configuration: ServiceConfiguration, database: any ServiceDatabase,
      logger: Logger = Logger(label: "receipt-service"), maximumKeyAge: Duration = KeyRing.maximumAge,
      clock: @escaping @Sendable () -> Timestamp = { SteadyClock.shared.now() }
    ) throws {
      try configuration.validate()
      self.configuration = configuration
      self.database = database
      self.logger = logger
      let limits = configuration.limits
      let auditLog = configuration.auditLog
      let bodies = BodyReader(maximumByteCount: limits.maximumBodyByteCount)
      let keys = KeyRing(
        database, apps: Set(configuration.apps.map(\.name)), maximumAge: maximumKeyAge, clock: clock)
      let entitlements = ServiceEntitlements(database: database, apps: configuration.apps, clock: clock)
      let apps = try ServedApps(configuration)
      let identity = Identity(keys: keys, apps: apps)
      let admission = Admission(limits, appCount: configuration.apps.count)
      let notifications = NotificationIntake(entitlements: entitlements, auditLog: auditLog)
      let erasures = ErasureQueue(
        entitlements: entitlements, auditLog: auditLog, apps: apps, logger: logger)
      let webhooks = WebhookController(queue: WebhookQueue(database), entitlements: entitlements)
      let clients = ClientProtocols(
        configuration, identity: identity, admission: admission, entitlements: entitlements)
      let writeProbe = WriteProbe(database, auditLog, logger: logger)
      let routes: [[Route]] = [
        VerificationController(entitlements: entitlements, bodies: bodies).routes,
        LookupController(entitlements: entitlements, bodies: bodies).routes, clients.routes,
        BatchController(
          entitlements: entitlements, identity: identity, admission: admission,
          maximumLineByteCount: limits.maximumLineByteCount
        ).routes,
        EntitlementController(
          entitlements: entitlements, auditLog: auditLog, bodies: bodies, apps: apps,
          issuer: configuration.publicURL
        ).routes, GrantController(entitlements: entitlements, bodies: bodies).routes,
        RefundReviewController(entitlements: entitlements, bodies: bodies).routes,
        erasures.routes,
        ChangeController(
          entitlements: entitlements, identity: identity, admission: admission, shutdown: shutdown
        ).routes,
        NotificationController(intake: notifications, apps: apps, bodies: bodies).routes,
        AuditController(auditLog: auditLog).routes, webhooks.routes,
        KeyController(keys: keys, bodies: bodies, database: database).routes,
        StatusController(writeProbe: writeProbe, shutdown: shutdown, url: configuration.publicURL).routes,
      ]
      self.routes = Array(routes.joined())

      let sessions = ConsoleSessions(database: database, keys: keys, clock: clock)
      let recentRequests = RecentRequests()
      let pages: [[ConsoleRoute]] = [
        LoginPages(keys: keys, sessions: sessions, securesCookies: configuration.securesCookies).routes,
        VerifyPage(entitlements: entitlements, auditLog: auditLog).routes,
        TransactionPages(auditLog: auditLog).routes,
        EntitlementPages(entitlements: entitlements).routes,
        EntitlementPage(entitlements: entitlements, auditLog: auditLog).routes,
        CustomerPages(entitlements: entitlements, auditLog: auditLog).routes,
        RefundReviewPages(entitlements: entitlements).routes,
        AuditPages(auditLog: auditLog).routes,
        EntryPages(auditLog: auditLog, entitlements: entitlements).routes,
        TrafficPage(recentRequests: recentRequests).routes,
        WebhookPages(webhooks: webhooks, forwarding: ForwardingQueue(database)).routes,
        KeyPages(keys: keys, database: database).routes,
        HomePage(
          entitlements: entitlements, auditLog: auditLog, writeProbe: writeProbe,
          recentRequests: recentRequests, certificateFiles: configuration.certificateFiles
        ).routes,
        SearchPages(
          index: SearchIndex(entitlements: entitlements, auditLog: auditLog),
          verifyPage: VerifyPage(entitlements: entitlements, auditLog: auditLog)
        ).routes,
        [ConsoleRoute(.get, "/console/{file+}", .login) { _ in throw Problem.notFound }],
      ]
      let console = Console(
        routes: Array(pages.joined()), apps: apps, sessions: sessions, admission: admission, bodies: bodies,
        templates: try ConsoleTemplates())
      consoleRoutes = console.routes

      let server = RouteServer(identity: identity, admission: admission)
      answer = Answer(
        endpoints: self.routes.flatMap(server.endpoints) + clients.endpoints
          + (configuration.servesConsole ? console.endpoints : []),
        shutdown: shutdown, recentRequests: recentRequests)
      earlyVerifications = EarlyVerifications(
        identity: identity, admission: admission, entitlements: entitlements, answer: answer,
        openIAP: clients.openIAP)
      self.keys = keys
      self.apps = apps
      self.entitlements = entitlements
      self.notifications = notifications
      self.erasures = erasures
    }

    /// Adds all routes, and the middleware for all responses: security headers, problem details for errors, and
    /// metrics.
    public func addRoutes(to router: Router<ServiceContext>) {
      router.add(middleware: answer)
      for endpoint in answer.endpoints {
        router.on(endpoint.pattern, method: endpoint.method, use: endpoint.respond)
      }
    }

    /// The background services.
    ///
    /// They expire entitlements, ask stores, complete erasures, send webhooks, forward notifications and remove old
    /// rows; the last one to end closes the database. A `ServiceGroup` ends its services in reverse order, so add the server after these.
    public var services: [any Service] {
      var services: [any Service] = [
        ClosingService { [database] in await database.close() },
        EntitlementJobs(entitlements: entitlements, apps: configuration.apps, logger: logger),
        RefundAnswerJob(entitlements: entitlements, apps: configuration.apps, logger: logger), erasures,
        WebhookSender(
          apps: configuration.apps, entitlements, timeout: .seconds(configuration.limits.webhookTimeout),
          logger: logger),
        NotificationForwarder(
          apps: configuration.apps, entitlements, timeout: .seconds(configuration.limits.webhookTimeout),
          logger: logger),
      ]
      if configuration.retentionDays > 0 {
        services.append(
          RetentionJob(
            entitlements: entitlements, apps: configuration.apps, days: configuration.retentionDays,
            logger: logger))
      }
      return services
    }

    /// Creates the handlers for one connection of the server.
    ///
    /// They answer `Expect: 100-continue`, close connections whose requests take longer than
    /// ``ServiceLimits/requestDeadline``, and close each one when its last answer is on its way.
    ///
    /// - Parameter answeringVerdicts: `true` to answer requests for single verdicts before the router, whose middleware
    ///   then does not see them.
    /// - Returns: The handlers, in their order in the channel.
    public func connectionHandlers(answeringVerdicts: Bool = true) -> [any RemovableChannelHandler] {
      let handlers: [any RemovableChannelHandler] = [
        ExpectContinueHandler(),
        RequestDeadlineHandler(deadline: .seconds(Int64(configuration.limits.requestDeadline))),
        GracefulCloseHandler(),
      ]
      return answeringVerdicts ? handlers + [VerificationHandler(self)] : handlers
    }

    /// Creates a key of the API.
    ///
    /// - Parameters:
    ///   - name: The purpose of the key, shown in lists.
    ///   - app: The app that the key is confined to; `nil` for all apps.
    ///   - scopes: The scopes of the key.
    /// - Returns: The text that a request presents as `Authorization: Bearer …`. It is not stored and cannot be shown
    ///   again.
    /// - Throws: ``ServiceConfigurationError`` if the app does not exist, if there is no scope, or if the name does not
    ///   have 1 to 100 bytes without control characters; an error that names the database if it cannot be used.
    public func createKey(name: String, app: String? = nil, scopes: Set<Scope>) async throws -> String {
      do {
        return try await keys.create(name: name, app: app, scopes: scopes, by: "process").description
      } catch let error as KeyRing.InvalidKey {
        throw ServiceConfigurationError(error.member, error.message)
      }
    }

    /// Makes `/readyz` report that a load balancer should send no more requests to this server.
    public func beginShutdown() { shutdown.begin() }
  }
#endif
