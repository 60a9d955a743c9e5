// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import Foundation
  import HTTPTypes
  import Hummingbird
  import Logging
  import NIOCore
  import ReceiptCodec
  import ReceiptHTTP
  import ReceiptService
  import ReceiptSigning
  import ReceiptVerification
  import ServiceLifecycle
  import Storefront
  import StorefrontSQLite

  /// An emulated App Store in the server's process.
  ///
  /// It sells for one app, and passes the app's notifications to the server without a network connection.
  ///
  /// The App Store's endpoints are open to everybody who can connect. The controls, such as buying on behalf of a
  /// customer, need a key with the scope `emulator`.
  struct MountedEmulator: HTTPResponder, Service {
    private static let maximumBodyByteCount = 8 << 20
    /// Controls of a `store-emulator` process and its connections, which the mounted emulator does not have.
    private static let foreignControls: Set<String> = ["bytes", "faults", "shutdown"]

    private let store: EmulatedAppStore
    private let api: ReceiptAPI
    private let app: String
    private let logger: Logger

    /// - Throws: `ServiceConfigurationError`, or an error of the sales file.
    init(_ settings: EmulatorSettings, _ api: ReceiptAPI, logger: Logger) async throws {
      if let obstacle = settings.obstacle { throw obstacle }
      self.api = api
      self.app = settings.app
      self.logger = logger
      var options = LocalStore.Options(bundleIdentifier: settings.bundleId)
      if settings.environment == .sandbox { options.engine.calendar = .sandbox }
      let clock = EmulatorClock()
      var store = try EmulatedAppStore(
        EmulatedAppStore.Configuration(environment: settings.environment, bundleId: settings.bundleId),
        signing: try settings.signing(), clock: clock, catalog: try settings.products(),
        storage: try SQLiteRecordStorage(at: settings.ledger), options: options)
      clock.advance(to: try await store.purchases.lastEventDate())
      await store.sendNotifications(
        to: "http://127.0.0.1/v1/notifications/\(settings.app)",
        over: IntakeTransport(api: api, app: settings.app, logger: logger))
      self.store = store
    }

    /// Renews subscriptions and sends notifications when they are due.
    func run() async {
      await cancelWhenGracefulShutdown { [store, logger] in
        await store.run { logger.error("The emulated store failed.", metadata: ["error": "\($0)"]) }
      }
    }

    func respond(to request: Request, context: ServiceContext) async throws -> Response {
      let body: ByteBuffer
      do {
        body = try await request.body.collect(upTo: Self.maximumBodyByteCount)
      } catch is NIOTooManyBytesError {
        return Response(status: .contentTooLarge)
      }
      // A HEAD is answered as a GET (RFC 9110 section 9.3.2).
      let isHead = request.method == .head
      let emulated = EmulatorRequest(
        isHead ? "GET" : request.method.rawValue, target: request.uri.string,
        headers: request.headers.map { HTTPHeader($0.name.rawName, $0.value) },
        body: Array(body.readableBytesView))
      let response: Response
      if emulated.path.first == "_emulator" {
        response = await control(request, emulated)
      } else {
        response = Self.response(await store.respond(to: emulated))
      }
      return isHead ? response.createHeadResponse() : response
    }

    private func control(_ request: Request, _ emulated: EmulatorRequest) async -> Response {
      if let refusal = await api.refusal(of: request, needing: .emulator, app: app) { return refusal }
      guard emulated.path.count > 1, !Self.foreignControls.contains(emulated.path[1]),
        let response = await EmulatorControl(store).respond(to: emulated)
      else {
        return Self.response(.text("There is no such control here; store-emulator has more.\n", status: 404))
      }
      return Self.response(response)
    }

    private static func response(_ emulated: RemoteResponse) -> Response {
      var headers = HTTPFields()
      for header in emulated.headers {
        if let name = HTTPField.Name(header.name) {
          headers.append(HTTPField(name: name, value: header.value))
        }
      }
      return Response(
        status: HTTPResponse.Status(code: emulated.status), headers: headers,
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: emulated.body)))
    }
  }

  /// Serves the API, the console and the emulated store on one port.
  ///
  /// If the first segment of a path is not one of the API or the console, the emulated store answers.
  struct SharedResponder<API: HTTPResponder<ServiceContext>>: HTTPResponder {
    let api: API
    let emulator: MountedEmulator
    /// The first segments of the paths of the API and the console.
    let ownSegments: Set<Substring>

    func respond(to request: Request, context: ServiceContext) async throws -> Response {
      let first = request.uri.path.split(separator: "/", maxSplits: 1).first
      if let first, !ownSegments.contains(first) {
        return try await emulator.respond(to: request, context: context)
      }
      return try await api.respond(to: request, context: context)
    }
  }

  /// Passes the notifications of an emulated store to the server in the same process, regardless of where it listens.
  private struct IntakeTransport: HTTPTransport {
    let api: ReceiptAPI
    let app: String
    let logger: Logger

    func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
      guard let app = api.configuration.apps.first(where: { $0.name == app }) else {
        return RemoteResponse(status: 404)
      }
      let answer = await api.notifications.receive(app: app, authorization: nil, body: request.body ?? [])
      if answer.status >= 300 {
        logger.warning(
          "The server rejected a notification of the emulated store.",
          metadata: ["reason": "\(answer.message ?? "")", "status": "\(answer.status)"])
      }
      return RemoteResponse(status: answer.status)
    }
  }
#endif
