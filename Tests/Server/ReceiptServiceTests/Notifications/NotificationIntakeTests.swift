// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import AuditTrailTesting
  import GooglePlay
  import GooglePlayEmulator
  import ReceiptCodec
  import ReceiptHTTP
  @testable import ReceiptService
  import ReceiptTesting
  import Synchronization
  import Testing
  import TransparencyLog

  /// The stores' requests, from their bodies to what is stored and answered.
  @Suite struct NotificationIntakeTests {
    private typealias F = ServiceFixture

    @Test("a genuine notification is stored and accepted, once and again", arguments: DatabaseKind.all)
    func accepted(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let intake = NotificationIntake(entitlements: entitlements, auditLog: nil)
        let body = try service.body(.subscribed, day: 0, F.period(1))
        let answers = [
          await intake.receive(app: service.app, authorization: nil, body: body),
          await intake.receive(app: service.app, authorization: nil, body: body),
        ]
        #expect(answers.map(\.status) == [200, 200])
        #expect(answers.map(\.outcome) == [.done, .repeated])
        #expect(answers[0].id?.count == 36)
        #expect(answers[0].event == "SUBSCRIBED")
        #expect(try await entitlements.told() == ["entitlement.granted"])
      }
    }

    @Test("what is not genuine is refused, and stores nothing", arguments: DatabaseKind.all)
    func refused(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let intake = NotificationIntake(entitlements: entitlements, auditLog: nil)
        var forged = try service.body(.subscribed, day: 0, F.period(1))
        forged[forged.count / 2] ^= 1
        for body in [forged, [], Array("{}".utf8), Array(repeating: 0x20, count: (1 << 20) + 1)] {
          let answer = await intake.receive(app: service.app, authorization: nil, body: body)
          #expect(answer.status == 400)
          #expect(answer.outcome == .refused)
        }
        service.app.appStoreNotifications = nil
        #expect(
          await intake.receive(
            app: service.app, authorization: nil, body: try service.body(.test, day: 0)
          ).status == 404)
        #expect(try await entitlements.told() == [])
      }
    }

    @Test("each store's body goes to its receiver, whatever the header has", arguments: DatabaseKind.all)
    func senders(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let (account, keyFile) = try PlayServiceAccount.make(tokenURI: "http://localhost/token")
        _ = account
        let transport = UnreachableTransport()
        service.app.googlePlayNotifications = DeveloperNotificationReceiver(
          verifier: PushTokenVerifier(
            audience: "http://localhost/push", email: "push@example.com", transport: transport,
            keys: try RemoteURL("http://localhost/certs")),
          client: GooglePlayClient(
            transport: transport, account: try ServiceAccount(keyFile: keyFile), packageName: "com.example",
            address: GooglePlayAddress(at: try RemoteURL("http://localhost"))))
        let intake = NotificationIntake(entitlements: service.entitlements(), auditLog: nil)
        let body = try service.body(.subscribed, day: 0, F.period(1))
        // A proxy may add a header of its own.
        for (authorization, outcome) in [
          ("Basic YTpi", NotificationIntake.Outcome.done), (nil, .repeated),
        ] {
          let answer = await intake.receive(app: service.app, authorization: authorization, body: body)
          #expect(answer.status == 200)
          #expect(answer.outcome == outcome)
        }
        let push = Array(#"{"message":{"data":"e30=","messageId":"1"},"subscription":"s"}"#.utf8)
        for authorization in [nil, "Basic YTpi"] {
          #expect(
            await intake.receive(app: service.app, authorization: authorization, body: push).status == 401)
        }
        for text in ["{}", "[]", "", "receipt"] {
          let answer = await intake.receive(
            app: service.app, authorization: "Bearer a", body: Array(text.utf8))
          #expect(answer.status == 400)
          #expect(answer.outcome == .refused)
        }
      }
    }

    private struct UnreachableTransport: HTTPTransport {
      func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
        RemoteResponse(status: 503)
      }
    }

    @Test(
      "what cannot be stored is to be delivered again, and then has its effect once",
      arguments: DatabaseKind.all)
    func unavailable(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let database = FailingDatabase(service.database)
        let entitlements = ServiceEntitlements(
          database: database, apps: [service.app], clock: service.clock.reading)
        let intake = NotificationIntake(entitlements: entitlements, auditLog: nil)
        let body = try service.body(.subscribed, day: 0, F.period(1))
        let answer = await intake.receive(app: service.app, authorization: nil, body: body)
        #expect(answer.status == 503)
        #expect(answer.outcome == .failed)
        #expect(try await entitlements.told() == [])
        database.failing.withLock { $0 = 0..<0 }
        #expect(await intake.receive(app: service.app, authorization: nil, body: body).outcome == .done)
        #expect(try await entitlements.told() == ["entitlement.granted"])
      }
    }

    @Test(
      "the verdict is in the audit trail before the store is told, and forgeries are not",
      arguments: DatabaseKind.all)
    func recorded(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        service.app.recordsVerdicts = true
        let signer = try NoteSignerKey.generate(name: "example.com/test")
        let log = try AuditLog.create(
          in: MemoryStorage(), configuration: TrailConfiguration(origin: "example.com/test"), signer: signer,
          checkpoints: MemoryCheckpointStore())
        let database = FailingDatabase(service.database)
        let entitlements = ServiceEntitlements(
          database: database, apps: [service.app], clock: service.clock.reading)
        let intake = NotificationIntake(entitlements: entitlements, auditLog: log)
        // A forgery has no original transaction: the whole trail is looked at.
        func entries() async throws -> UInt64 { try await log.read { $0.size } }
        var forged = try service.body(.subscribed, day: 0, F.period(1))
        let body = forged
        forged[forged.count / 2] ^= 1
        #expect(await intake.receive(app: service.app, authorization: nil, body: forged).status == 400)
        #expect(try await entries() == 0)
        #expect(await intake.receive(app: service.app, authorization: nil, body: body).status == 503)
        #expect(try await entries() == 1)
        database.failing.withLock { $0 = 0..<0 }
        #expect(await intake.receive(app: service.app, authorization: nil, body: body).outcome == .done)
        #expect(try await entries() == 1)
        try log.close()
        let other = try service.body(.didRenew, day: 30, F.period(2))
        #expect(await intake.receive(app: service.app, authorization: nil, body: other).status == 503)
        #expect(try await entitlements.told() == ["entitlement.granted"])
      }
    }
  }
#endif
