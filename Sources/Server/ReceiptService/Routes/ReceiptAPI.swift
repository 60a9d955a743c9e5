// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  public import Hummingbird
  public import Logging
  internal import Metrics
  internal import ReceiptBytes
  package import ReceiptCodec
  internal import ReceiptCrypto
  public import NIOCore
  internal import NIOHTTP1
  internal import ReceiptObservability
  internal import ReceiptVerification
  public import ServiceLifecycle
  internal import Synchronization

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
    /// The keys.
    package let keys: KeyRing
    var identity: Identity { Identity(keys: keys) }
    package let database: any ServiceDatabase
    let apps: [String: ServedApp]
    package let entitlements: ServiceEntitlements
    package let notifications: NotificationIntake
    package let webhooks: WebhookQueue
    package let erasures: ErasureQueue
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    let templates: ConsoleTemplates
    /// The executor that renders the pages of the console.
    ///
    /// On an event loop, rendering would block other requests.
    let consoleExecutor = SerialTaskExecutor(label: "receipt-kit.console")
    let sessions: ConsoleSessions
    let loginLimit = LoginLimit()
    let recentRequests = RecentRequests()
    let writeProbe: WriteProbe
    let requestPlaces: RequestPlaces
    /// The places for complete requests without a key.
    ///
    /// They are counted separately, so that such requests do not displace requests with a key.
    let openPlaces: RequestPlaces
    private let openRequests: OpenRequests
    let batchPlaces: BatchPlaces
    /// The limit for log lines that unauthenticated clients can cause.
    let noise = NoiseLimit()
    let eventStreams = EventStreams()
    private let isEnding = Atomic<Bool>(false)
    let verificationGroups = VerificationGroups()

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
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - database: The database.
    ///   - logger: The logger.
    ///   - maximumKeyAge: The age after which the keys in memory are read again.
    ///   - clock: The current time.
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
      self.clock = clock
      let limits = configuration.limits
      requestPlaces = RequestPlaces(maximum: limits.maximumConcurrentRequests)
      openPlaces = RequestPlaces(maximum: limits.maximumConcurrentRequests)
      openRequests = OpenRequests(
        maximumByteCount: max(Self.openByteCount, 2 * limits.maximumBodyByteCount),
        maximumCount: max(1, limits.maximumConcurrentRequests / 4))
      batchPlaces = BatchPlaces(
        maximum: limits.maximumConcurrentBatches, appCount: configuration.apps.count)
      let keys = KeyRing(
        database, apps: Set(configuration.apps.map(\.name)), maximumAge: maximumKeyAge, clock: clock)
      self.keys = keys
      sessions = ConsoleSessions(database: database, keys: keys, clock: clock)
      templates = try ConsoleTemplates()
      entitlements = ServiceEntitlements(database: database, apps: configuration.apps, clock: clock)
      webhooks = WebhookQueue(database)
      notifications = NotificationIntake(entitlements, auditLog: configuration.auditLog)
      var apps: [String: ServedApp] = [:]
      for app in configuration.apps {
        apps[app.name] = try ServedApp(app, configuration.auditLog)
      }
      self.apps = apps
      writeProbe = WriteProbe(database, configuration.auditLog, logger: logger)
      erasures = ErasureQueue(entitlements, auditLog: configuration.auditLog, apps: apps)
    }

    /// Adds all routes, and the middleware for all responses: security headers, problem details for errors, and
    /// metrics.
    public func addRoutes(to router: Router<ServiceContext>) {
      router.add(middleware: AnswerMiddleware(api: self))
      for route in routes {
        router.on(RouterPath(route.path.routerPath), method: route.method) { request, context in
          try await self.respond(to: request, context, by: route)
        }
        guard route.method == .get else { continue }
        router.on(RouterPath(route.path.routerPath), method: .head) { request, context in
          try await self.respond(to: request, context, by: route).createHeadResponse()
        }
      }
      if configuration.servesConsole { addConsoleRoutes(to: router) }
    }

    /// The background services.
    ///
    /// They expire entitlements, ask stores, complete erasures, send webhooks and remove old rows; the last one to end
    /// closes the database. A `ServiceGroup` ends its services in reverse order, so add the server after these.
    public var services: [any Service] {
      var services: [any Service] = [
        ClosingService { [database] in await database.close() },
        EntitlementJobs(entitlements, apps: configuration.apps, logger: logger),
        ErasureJob(erasures, logger: logger),
        WebhookSender(
          apps: configuration.apps, entitlements, timeout: .seconds(configuration.limits.webhookTimeout),
          logger: logger),
      ]
      if configuration.retentionDays > 0 {
        services.append(
          RetentionJob(
            entitlements, apps: configuration.apps, days: configuration.retentionDays, logger: logger))
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

    /// The methods that a path accepts; empty if the path does not exist.
    fileprivate func methods(of path: String) -> Set<String> {
      let segments = path.split(separator: "/")
      let pages = configuration.servesConsole ? consoleRoutes.map { ($0.method, $0.path) } : []
      let matching = (routes.map { ($0.method, $0.path) } + pages).filter { _, path in
        let pattern = path.split(separator: "/")
        let isOpen = pattern.last == "{file+}"
        guard isOpen ? segments.count >= pattern.count : segments.count == pattern.count else { return false }
        return zip(pattern, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
      }
      return Set(matching.flatMap { $0.0 == .get ? ["GET", "HEAD"] : [$0.0.rawValue] })
    }

    /// Makes `/readyz` report that a load balancer should send no more requests to this server.
    public func beginShutdown() { isEnding.store(true, ordering: .relaxed) }

    var isShuttingDown: Bool { isEnding.load(ordering: .relaxed) }

    private func respond(
      to request: Request, _ context: ServiceContext, by route: Route
    ) async throws -> Response {
      var (request, context) = (request, context)
      switch route.access {
      case .key(let scope):
        context.principal = try await identity.principal(of: request, needing: scope)
        try begin()
        defer { end() }
        return try await route.respond(request, context)
      case .open where Self.probes.contains(route.operation):
        // A server that does not answer a probe is restarted, so a probe does not wait for a place.
        return try await route.respond(request, context)
      case .open:
        if !route.body.isEmpty { request = try await arrived(request, context) }
        try openPlaces.take()
        defer { openPlaces.giveBack() }
        return try await route.respond(request, context)
      }
    }

    private static let probes: Set<String> = ["getHealth", "getReadiness"]

    /// The verification for a request, if the router is not needed to answer it.
    ///
    /// That is the case if the verification is available without waiting, and the answer depends only on the receipt.
    /// Otherwise the result is `nil`, and the router answers with a verdict or an error.
    ///
    /// - Returns: The verification. It occupies a place among the requests that are served at once, until ``end()``.
    func verificationAtOnce(_ head: HTTPRequest) -> Verification? {
      let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
      guard let principal = identity.knownPrincipal(of: request, needing: .verify),
        let verification = try? verification(request, principal),
        verification.app.configuration.checkers.isEmpty, (try? begin()) != nil
      else { return nil }
      return verification
    }

    /// The response that refuses a request, unless it has a key with a scope for an app.
    ///
    /// It is for requests outside these routes, such as those to the controls of an emulated store.
    ///
    /// - Returns: `nil` if the request has such a key.
    package func refusal(of request: Request, needing scope: Scope, app: String) async -> Response? {
      do {
        _ = try await identity.principal(of: request, needing: scope, app: app)
        return nil
      } catch let problem as Problem {
        return problem.response
      } catch {
        return Problem.unavailable("The keys cannot be read now. Try again.").response
      }
    }

    // MARK: Parameters of requests

    /// The app of a request: that of the key, the one that the parameter `app` names, or the only one.
    func app(of request: Request, _ context: ServiceContext) throws -> ServedApp {
      try app(of: request, context.principal)
    }

    /// The app of a request with a given principal.
    func app(of request: Request, _ principal: Principal?) throws -> ServedApp {
      let named = try queryParameter("app", of: request)
      let own = principal?.app
      if let own, let named, own != named { throw Problem.notFound }
      if let name = own ?? named {
        guard let app = apps[name] else { throw Problem.notFound }
        return app
      }
      guard apps.count == 1, let only = apps.first else {
        throw Problem.invalid("app", "Name the app: app=\(apps.keys.sorted().joined(separator: "|")).")
      }
      return only.value
    }

    /// A parameter of the query; `nil` if it is absent or empty.
    func queryParameter(_ name: String, of request: Request) throws -> String? {
      guard request.uri.query != nil else { return nil }
      let values = request.uri.queryParameters.filter { $0.key == name[...] }
      guard values.count < 2 else { throw Problem.invalid(name, "The parameter is there more than once.") }
      guard let value = values.first?.value, !value.isEmpty else { return nil }
      return String(value)
    }

    private var tooLarge: Problem {
      Problem(
        .contentTooLarge, "too-large",
        "The body has more than \(configuration.limits.maximumBodyByteCount) bytes.")
    }

    private func requireLength(_ request: Request) throws {
      let length = request.headers[.contentLength].flatMap { Int($0) } ?? 0
      guard length <= configuration.limits.maximumBodyByteCount else { throw tooLarge }
    }

    /// Waits until the body of a request without a key has arrived completely, and returns the request with its body.
    func arrived(_ request: Request, _ context: ServiceContext) async throws -> Request {
      try requireLength(request)
      let id = openRequests.begin(from: context.remoteAddress ?? "", on: context.channel)
      defer { openRequests.end(id) }
      var body = ByteBuffer()
      for try await part in request.body {
        guard body.readableBytes + part.readableBytes <= configuration.limits.maximumBodyByteCount else {
          throw tooLarge
        }
        try openRequests.add(part.readableBytes, to: id)
        body.writeImmutableBuffer(part)
      }
      guard openRequests.end(id) else { throw OpenRequests.overloaded }
      return Request(head: request.head, body: RequestBody(buffer: body))
    }

    /// The body of a request for a single receipt or object.
    func body(of request: Request) async throws -> [UInt8] {
      let limit = configuration.limits.maximumBodyByteCount
      try requireLength(request)
      do {
        let body = try await request.body.collect(upTo: limit)
        return body.getBytes(at: body.readerIndex, length: body.readableBytes) ?? []
      } catch is NIOTooManyBytesError {
        throw tooLarge
      }
    }

    /// The body of a request that must be the content itself and not a form that contains it.
    func contentBody(of request: Request) async throws -> [UInt8] {
      if let problem = ReceiptContent.problem(request.headers) { throw problem }
      let body = try await body(of: request)
      if let problem = ReceiptContent.problem(request.headers, body: body) { throw problem }
      return body
    }

    // MARK: Load

    /// Takes a place among the requests that are served at once.
    func begin() throws(Problem) { try requestPlaces.take() }

    func end() { requestPlaces.giveBack() }

    /// The maximum total size of the arriving bodies of requests without a key, or the size of two maximum bodies if
    /// that is larger.
    private static let openByteCount = 32 << 20

    /// Counts an answered request, and records its duration.
    func count(
      _ operation: String, _ method: HTTPRequest.Method, _ status: HTTPResponse.Status,
      since start: ContinuousClock.Instant
    ) {
      let end = ContinuousClock.now
      RequestMetrics.record(operation: operation, method: method, status: status, duration: end - start)
      recentRequests.record(duration: end - start, isFault: status.code >= 500, at: end)
    }

    /// Adds the header fields that are common to all responses.
    func addCommonFields(to fields: inout HTTPFields) {
      fields[.xContentTypeOptions] = "nosniff"
      if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
      // Close the connection: a client that reused it would find it closed.
      if isShuttingDown { fields[.connection] = "close" }
    }

    /// The problem details for an error.
    func problem(for error: any Error, _ context: ServiceContext) -> Problem {
      switch error {
      case let problem as Problem:
        return problem
      case let error as HTTPError where error.status == .notFound:
        return .notFound
      case let error as HTTPError:
        return Problem(error.status, "invalid-request", error.body ?? error.status.reasonPhrase)
      case is HTTPParserError:
        // This error was found while the body was read. Further input on the connection is not read.
        return Problem(.badRequest, "invalid-request", "The body is not framed as HTTP/1.1 demands.")
      case let error as DatabaseError:
        context.logger.error("The database failed.", metadata: ["error": "\(error)"])
        return .unavailable("The database of the service cannot be used now. Try again.")
      case is AuditError, is StorageError:
        context.logger.error("The audit trail failed.", metadata: ["error": "\(error)"])
        return .unavailable("The audit trail cannot be used now. Try again.")
      case is IOError, is ChannelError:
        // The client has disconnected, so the response is not read, and the server is not at fault.
        return Problem(.badRequest, "invalid-request", "The connection ended before the request did.")
      case is CancellationError:
        return .unavailable("The service is shutting down. Try again.")
      default:
        context.logger.error("A request failed.", metadata: ["error": "\(error)"])
        return Problem(.internalServerError, "internal-fault", "The request failed; the log says why.")
      }
    }
  }

  extension String {
    /// The router's pattern for a path of the API description.
    ///
    /// `{file+}` matches the rest of the path.
    var routerPath: String { hasSuffix("/{file+}") ? dropLast("{file+}".count) + "**" : self }
  }

  /// An app with values that are computed once from its configuration.
  final class ServedApp: Sendable {
    let configuration: AppConfiguration
    /// The policies by their names.
    let policies: [String: ServedPolicy]

    init(_ configuration: AppConfiguration, _ log: AuditLog?) throws {
      self.configuration = configuration
      guard configuration.recordsVerdicts else {
        policies = configuration.policies.mapValues { ServedPolicy($0, recorder: nil) }
        return
      }
      guard let log else {
        throw ServiceConfigurationError(
          "app.\(configuration.name).audit",
          "The verdicts cannot be recorded: the service has no audit trail.")
      }
      policies = try configuration.policies.mapValues { verifier in
        try log.keep(policy: verifier.policy)
        return ServedPolicy(verifier, recorder: (log, SHA256Digest(of: verifier.policy)))
      }
    }

    var name: String { configuration.name }
  }

  /// A policy of an app.
  final class ServedPolicy: Sendable {
    let verifier: ReceiptVerifier
    /// The log that records the verdicts, and the digest of the policy; `nil` if the app does not record verdicts.
    let recorder: (log: AuditLog, policyDigest: SHA256Digest)?

    init(_ verifier: ReceiptVerifier, recorder: (AuditLog, SHA256Digest)?) {
      self.verifier = verifier
      self.recorder = recorder
    }
  }

  /// Adds the parts that are common to all responses.
  private struct AnswerMiddleware: RouterMiddleware {
    let api: ReceiptAPI

    func handle(
      _ request: Request, context: ServiceContext,
      next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
      var response: Response
      let start = ContinuousClock.now
      do {
        response = try await next(request, context)
      } catch {
        let allowed = (error as? HTTPError)?.status == .notFound ? api.methods(of: request.uri.path) : []
        if allowed.isEmpty {
          response = api.problem(for: error, context).response
        } else {
          let allow = allowed.sorted().joined(separator: ", ")
          response =
            Problem(.methodNotAllowed, "method-not-allowed", "This path takes \(allow).").response
          response.headers[.allow] = allow
        }
      }
      api.addCommonFields(to: &response.headers)
      api.count(context.endpointPath ?? "none", request.method, response.status, since: start)
      return response
    }
  }
#endif
