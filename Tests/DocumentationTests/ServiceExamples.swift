// SPDX-License-Identifier: Apache-2.0
// The examples of the module ReceiptService.

#if Server
  import Entitlements
  import Foundation
  import Hummingbird
  import Logging
  import ReceiptCodec
  import ReceiptObservability
  import ReceiptCodec
  import ReceiptService
  import ReceiptTesting
  import ReceiptVerification
  import ServiceLifecycle
  import Testing
  import UnixSignals

  @Suite struct ServiceExamples {
    let logger = Logger(label: "example")

    /// Makes routes and a router from a verifier, as the article does.
    func routes(_ verifier: ReceiptVerifier, _ path: String) async throws -> (
      ReceiptAPI, Router<ServiceContext>
    ) {
      var app = try AppConfiguration(name: "shop", policies: ["default": verifier])
      app.appStoreNotifications = NotificationReceiver(verifier: verifier)
      let api = try await ReceiptAPI(
        ServiceConfiguration(apps: [app]), storage: .sqlite(path: path), logger: logger)

      let router = Router(context: ServiceContext.self)
      router.get("hello") { _, _ in "Hello" }
      api.addRoutes(to: router)
      return (api, router)
    }

    /// Is not run: it would take port 8080 and end with the process.
    func serve(_ api: ReceiptAPI, _ router: Router<ServiceContext>) async throws {
      let server = Application(
        router: router,
        server: .http1(configuration: .init(additionalChannelHandlers: api.connectionHandlers())),
        logger: logger)
      let group = ServiceGroup(
        services: api.services + [server, ClosingService { api.beginShutdown() }],
        gracefulShutdownSignals: [.sigterm], logger: logger)
      try await group.run()
    }

    @Test func routesServeWithAKey() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let verifier = ReceiptVerifier(
        trust: try TestAuthority.es256().trustAnchors,
        policy: VerificationPolicy(bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox]))
      let (api, router) = try await routes(verifier, folder.appending(path: "service.sqlite").path)
      let key = try await api.createKey(name: "backend", app: "shop", scopes: [.verify, .read])
      #expect(key.hasPrefix("rk_"))
      await #expect(throws: ServiceConfigurationError.self) {
        try await api.createKey(name: "backend", app: "other", scopes: [.verify])
      }
      #expect(router.routes.contains { "\($0.path)" == "/v1/verify" })
      #expect(router.routes.contains { "\($0.path)" == "/hello" })

      // The services end on demand, with those after them.
      let ending = try await withThrowingTaskGroup(of: Bool.self) { group in
        let services = ServiceGroup(services: api.services, logger: logger)
        group.addTask {
          try await services.run()
          return true
        }
        await services.triggerGracefulShutdown()
        return try await group.next()
      }
      #expect(ending == true)
    }
  }
#endif
