// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import ArgumentParser
  import Entitlements
  import GooglePlay
  import GooglePlayEmulator
  import Hummingbird
  import Logging
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptHTTP
  import ReceiptService
  import ReceiptSigning
  import ReceiptVerification
  import ServiceLifecycle
  import Synchronization

  /// The routes of `receipt-server` in the emulator's process: a backend for each emulated app.
  ///
  /// The stores pass it their notifications without a network connection. It has the stores' clock: after a month is
  /// skipped, subscriptions are renewed or expired for it as well.
  struct MountedServer {
    /// The key in the file, with all scopes.
    let key: String
    private let group: ServiceGroup
    /// The port that was opened.
    private let listening: (port: AsyncStream<Int>, source: AsyncStream<Int>.Continuation)

    /// Opens the database, and prepares to serve.
    init(
      _ files: StateDirectory, keepsDatabase: Bool, at address: BindAddress, _ stores: [EmulatedAppStore],
      _ play: EmulatedPlay, _ intake: IntakeTransport
    ) async throws {
      // An event after another one at the same instant of a stopped clock is dated a millisecond later.
      let clock: @Sendable () -> Timestamp = {
        (stores.map { $0.configuration.clock() }.max() ?? SystemClock.now()).addingSeconds(1)
      }
      let apps = try zip(stores, play.stores).map { store, playStore in
        let bundleId = store.configuration.bundleId
        let verifier = ReceiptVerifier(
          trust: TrustAnchors(certificates: [store.signing.root, store.signing.appReceiptRoot]),
          policy: VerificationPolicy(bundleIds: .oneOf([bundleId]), environments: [.production, .sandbox]),
          clock: clock)
        var app = try AppConfiguration(
          name: Self.app(bundleId), policies: [AppConfiguration.defaultPolicy: verifier])
        app.appStoreNotifications = NotificationReceiver(verifier: verifier)
        app.googlePlayNotifications = try intake.receiver(app.name, playStore.packageName, play)
        return app
      }
      var configuration = ServiceConfiguration(apps: apps)
      configuration.allowsPlainHTTP = true
      var logger = Logger(label: "store-emulator.server")
      logger.logLevel = .warning
      if !keepsDatabase { files.removeDatabase() }
      let api = try ReceiptAPI(
        configuration, database: try await ServiceStorage.sqlite(path: files.database).open(),
        logger: logger, clock: clock)
      key = try await Self.key(in: files, api)
      let router = Router(context: ServiceContext.self)
      api.addRoutes(to: router)
      let (port, source) = AsyncStream.makeStream(of: Int.self)
      listening = (port, source)
      let server = Application(
        router: router,
        server: .http1(configuration: .init(additionalChannelHandlers: api.connectionHandlers())),
        configuration: ApplicationConfiguration(address: address, serverName: nil),
        onServerRunning: { source.yield($0.localAddress?.port ?? 0) }, logger: logger)
      group = ServiceGroup(services: api.services + [server], logger: logger)
      intake.connect(api)
    }

    /// The name of an app in URLs: the bundle identifier, with `-` for each character that names cannot have.
    static func app(_ bundleId: String) -> String {
      String(bundleId.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "-" }.prefix(64))
    }

    /// The key in the directory, or a new one if it is missing or not one of this database.
    private static func key(in files: StateDirectory, _ api: ReceiptAPI) async throws -> String {
      if let contents = try? FileStore.read(files.apiKey) {
        let text = String(decoding: contents.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        if try await api.keys.principal(presenting: text) != nil { return text }
      }
      let key = try await api.createKey(name: "store-emulator", scopes: Scope.ofSecretKeys)
      try FileStore.replace(files.apiKey, mode: 0o600, contents: Array("\(key)\n".utf8))
      return key
    }

    /// Serves until ``shutDown()``.
    func run() async throws {
      defer { listening.source.finish() }
      try await ToolFailure.exiting(ToolFailure.unavailable, "the server cannot listen: ") {
        try await group.run()
      }
    }

    /// Waits until the port is open.
    ///
    /// - Returns: The URL of the server, and the key; `nil` if ``run()`` ended first.
    func address(_ options: ServingOptions) async -> (url: String, key: String)? {
      await listening.port.first { _ in true }.map { (options.url(port: $0), key) }
    }

    /// Ends ``run()`` after the requests that were accepted.
    func shutDown() async { await group.triggerGracefulShutdown() }
  }

  /// Passes the stores' notifications to the server of the same process.
  final class IntakeTransport: HTTPTransport {
    /// The service account in the tokens of Google Play's pushes.
    static let pushEmail = "push@receiptkit-emulator.iam.gserviceaccount.com"

    /// The service account with which the server asks the emulated Google Play.
    let account: PlayServiceAccount
    private let keyFile: [UInt8]
    private let api = Mutex<ReceiptAPI?>(nil)

    init() throws(CryptoError) {
      (account, keyFile) = try PlayServiceAccount.make(tokenURI: "http://localhost/token")
    }

    /// Passes later notifications to a server; those before have status 503, and are repeated.
    func connect(_ server: ReceiptAPI) { api.withLock { $0 = server } }

    /// The URL of an app's notifications. Nothing is sent to its host.
    static func url(_ app: String) -> String { "http://localhost/v1/notifications/\(app)" }

    /// Creates the receiver of an app's notifications from Google Play.
    func receiver(
      _ app: String, _ package: String, _ play: EmulatedPlay
    ) throws -> DeveloperNotificationReceiver {
      let transport = EmulatedPlayTransport(play)
      return DeveloperNotificationReceiver(
        verifier: PushTokenVerifier(
          audience: Self.url(app), email: Self.pushEmail, transport: transport,
          keys: try RemoteURL("http://localhost/oauth2/v3/certs", allowsPlainHTTP: true)),
        client: GooglePlayClient(
          transport: transport, account: try ServiceAccount(keyFile: keyFile), packageName: package,
          address: GooglePlayAddress(at: try RemoteURL("http://localhost", allowsPlainHTTP: true))))
    }

    func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
      guard let api = api.withLock({ $0 }) else { return RemoteResponse(status: 503) }
      let name = request.url.target.split(separator: "/").last
      guard let app = api.configuration.apps.first(where: { $0.name[...] == name }) else {
        return RemoteResponse(status: 404)
      }
      let authorization = request.headers.first { $0.name.lowercased() == "authorization" }?.value
      let answer = await api.notifications.receive(
        app: app, authorization: authorization, body: request.body ?? [])
      if answer.status >= 300 {
        ToolFailure.write("store-emulator: the server rejected a notification: \(answer.message ?? "")\n")
      }
      return RemoteResponse(status: answer.status)
    }
  }
#endif
