// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import Entitlements
  import Foundation
  import GooglePlay
  import GooglePlayEmulator
  import ReceiptCodec
  import ReceiptHTTP
  @testable import ReceiptService
  import ReceiptTesting
  import ReceiptVerification
  import Storefront
  import Synchronization
  import Testing

  /// Google Play's notifications as the emulator pushes them, and what the emulator answers about the purchases.
  @Suite struct DeveloperNotificationIntakeTests {
    private static let packageName = "com.example.app"

    /// The service as Cloud Pub/Sub reaches it.
    private final class Push: HTTPTransport {
      private let receive: @Sendable (String?, [UInt8]) async -> NotificationIntake.Answer
      private let state = Mutex<(answers: [NotificationIntake.Answer], last: RemoteRequest?)>(([], nil))

      init(_ receive: @escaping @Sendable (String?, [UInt8]) async -> NotificationIntake.Answer) {
        self.receive = receive
      }

      var answers: [NotificationIntake.Answer] { state.withLock { $0.answers } }
      var last: RemoteRequest? { state.withLock { $0.last } }

      func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
        let answer = await receive(
          request.headers.first { $0.name == "Authorization" }?.value, request.body ?? [])
        state.withLock {
          $0.answers.append(answer)
          $0.last = request
        }
        return RemoteResponse(status: answer.status)
      }
    }

    /// Google Play, which may be out of order, and what it was asked.
    private final class Play: HTTPTransport {
      private let transport: any HTTPTransport
      private let state = Mutex<(paths: [String], status: Int?)>(([], nil))

      init(_ transport: any HTTPTransport) { self.transport = transport }

      /// The number of requests about purchases.
      var count: Int { state.withLock { $0.paths.count { $0.contains("/purchases/") } } }
      /// The status of every answer about purchases; `nil` to answer as usual.
      var status: Int? {
        get { state.withLock { $0.status } }
        set { state.withLock { $0.status = newValue } }
      }

      func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
        let path = request.url.description
        let status = state.withLock { state in
          state.paths.append(path)
          return path.contains("/purchases/") ? state.status : nil
        }
        if let status { return RemoteResponse(status: status) }
        return try await transport.send(request)
      }
    }

    private struct World {
      let play: EmulatedPlay
      let asked: Play
      let clock: EmulatorClock
      let client: GooglePlayClient
      let entitlements: ServiceEntitlements
      let push: Push

      init(_ service: inout ServiceFixture, database: (any ServiceDatabase)? = nil) throws {
        let clock = EmulatorClock(rate: 0)
        self.clock = clock
        var options = LocalStore.Options(bundleIdentifier: "")
        options.engine.gracePeriodDays = 7
        let store = try EmulatedPlayStore(
          packageName: packageName, signing: EmulatorSigning(), clock: clock,
          clientClock: { SystemClock.now() },
          options: options)
        let (account, keyFile) = try PlayServiceAccount.make(tokenURI: "http://localhost/token")
        play = EmulatedPlay([store], accounts: [account], clock: { SystemClock.now() })
        asked = Play(EmulatedPlayTransport(play))
        let transport = asked
        client = GooglePlayClient(
          transport: transport, account: try ServiceAccount(keyFile: keyFile), packageName: packageName,
          address: GooglePlayAddress(at: try RemoteURL("http://localhost")), retry: .once(within: .seconds(5))
        )
        let email = "push@example.iam.gserviceaccount.com"
        service.app.googlePlayNotifications = DeveloperNotificationReceiver(
          verifier: PushTokenVerifier(
            audience: "http://localhost/push", email: email, transport: transport,
            keys: try RemoteURL("http://localhost/oauth2/v3/certs")), client: client)
        entitlements = ServiceEntitlements(
          database: database ?? service.database, apps: [service.app], clock: { clock.now })
        let intake = NotificationIntake(entitlements: entitlements, auditLog: nil)
        push = Push { [app = service.app] in await intake.receive(app: app, authorization: $0, body: $1) }
        play.pushNotifications(to: "http://localhost/push", email: email, over: push)
      }

      @discardableResult
      func control(_ name: String, _ json: String) async throws -> JSONValue {
        let response = await play.respond(
          to: EmulatorRequest("POST", target: "/_emulator/play/\(name)", body: Array(json.utf8)))
        try #require(response.status == 200, "\(name): \(String(decoding: response.body, as: UTF8.self))")
        return try JSONValue(parsing: response.body)
      }

      func buy(_ product: String) async throws -> (token: String, order: String) {
        let answer = try await control(
          "buy", #"{"account":"alice","productId":"com.example.app.\#(product)"}"#)
        return (
          try #require(answer["purchaseToken"]?.string), try #require(answer["orderId"]?.string)
        )
      }
    }

    @Test("the life of a subscription in Google Play is told from its pushes", arguments: DatabaseKind.all)
    func life(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let world = try World(&service)
        let (token, _) = try await world.buy("monthly")
        try await world.client.send(
          .acknowledgeSubscription(
            of: "com.example.app.monthly", token: token, with: SubscriptionAcknowledgeRequest()))
        try await world.control("advance", #"{"by":"P1M"}"#)
        try await world.control("advance", #"{"by":60}"#)
        try await world.control("billing", #"{"account":"alice","fails":true}"#)
        try await world.control("advance", #"{"by":"P1M"}"#)
        try await world.control("advance", #"{"by":"P1W"}"#)
        try await world.control("billing", #"{"account":"alice","fails":false}"#)
        try await world.control("advance", #"{"by":"P1D"}"#)
        let name = "\(Self.packageName) \(token)"
        #expect(
          try await world.entitlements.history(app: "shop", name: name).map(\.type) == [
            "entitlement.granted", "entitlement.renewed", "entitlement.grace-period", "entitlement.expired",
            "entitlement.renewed",
          ])
        // An upgrade replaces the purchase; a refund takes back what replaced it.
        let (upgraded, order) = try await world.buy("yearly")
        try await world.control("refund", #"{"orderId":"\#(order)"}"#)
        #expect(
          try await world.entitlements.history(app: "shop", name: name).last?.type == "entitlement.expired")
        // It is first said that it was revoked, and then that the order was voided.
        let replacement = try await world.entitlements.history(
          app: "shop", name: "\(Self.packageName) \(upgraded)")
        #expect(
          replacement.map(\.type) == ["entitlement.granted", "entitlement.expired", "entitlement.refunded"])
        #expect(try await world.entitlements.entitlements(app: "shop", identifier: upgraded).count == 1)
        #expect(world.push.answers.allSatisfy { $0.status == 200 })
      }
    }

    @Test("a push is dealt with once, and not at all without its token", arguments: DatabaseKind.all)
    func once(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let world = try World(&service)
        _ = try await world.buy("monthly")
        #expect(world.push.answers.map(\.outcome) == [.done])
        let told = try await world.entitlements.told()
        let request = try #require(world.push.last)
        let count = world.asked.count
        #expect(count > 0)
        _ = try await world.push.send(request)
        #expect(world.push.answers.last?.outcome == .repeated)
        #expect(world.asked.count == count, "Google Play is asked once for each message")
        var forged = request
        forged.headers = [HTTPHeader("Authorization", "Bearer e30.e30.e30")]
        _ = try await world.push.send(forged)
        #expect(world.push.answers.last?.status == 401)
        #expect(world.push.answers.last?.outcome == .refused)
        #expect(try await world.entitlements.told() == told)
      }
    }

    @Test("a push that cannot be stored is to be delivered again", arguments: DatabaseKind.all)
    func unavailable(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let database = FailingDatabase(service.database)
        let world = try World(&service, database: database)
        _ = try await world.buy("monthly")
        #expect(world.push.answers.first?.status == 503)
        #expect(world.push.answers.first?.outcome == .failed)
        #expect(try await world.entitlements.told() == [])
        database.failing.withLock { $0 = 0..<0 }
        _ = try await world.push.send(try #require(world.push.last))
        #expect(world.push.answers.last?.outcome == .done)
        #expect(try await world.entitlements.told() == ["entitlement.granted"])
      }
    }

    @Test(
      "a push about which Google Play cannot be asked is to be delivered again",
      arguments: DatabaseKind.all, [500, 429])
    func undetermined(on kind: DatabaseKind, status: Int) async throws {
      try await withService(on: kind) { service in
        let world = try World(&service)
        world.asked.status = status
        _ = try await world.buy("monthly")
        #expect(world.push.answers.first?.status == 503)
        #expect(world.push.answers.first?.outcome == .undetermined)
        #expect(try await world.entitlements.told() == [])
        world.asked.status = nil
        _ = try await world.push.send(try #require(world.push.last))
        #expect(world.push.answers.last?.outcome == .done)
        #expect(try await world.entitlements.told() == ["entitlement.granted"])
      }
    }

    @Test("Google Play is asked about a subscription of which nothing was heard", arguments: DatabaseKind.all)
    func reconciliation(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let world = try World(&service)
        let (token, _) = try await world.buy("monthly")
        try await world.client.send(
          .acknowledgeSubscription(
            of: "com.example.app.monthly", token: token, with: SubscriptionAcknowledgeRequest()))
        world.play.pushNotifications(
          to: "http://localhost/push", email: "push@example.iam.gserviceaccount.com",
          over: Push { _, _ in NotificationIntake.Answer(status: 200, outcome: .done) })
        try await world.control("advance", #"{"by":"P1M"}"#)
        try await world.control("advance", #"{"by":"P2D"}"#)
        #expect(try await world.entitlements.expireDue() == 1)
        #expect(
          try await world.entitlements.reconcile(app: "shop") { _, entitlement in
            try await entitlement.ask(world.client)
          } == 1)
        #expect(
          try await world.entitlements.told() == [
            "entitlement.granted", "entitlement.expired", "entitlement.renewed",
          ])
      }
    }
  }
#endif
