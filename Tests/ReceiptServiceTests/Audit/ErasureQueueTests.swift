// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import Foundation
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Testing
  import TransparencyLog

  /// An erasure that was accepted is carried out, whatever fails meanwhile.
  @Suite(.timeLimit(.minutes(2))) struct ErasureQueueTests {
    private typealias F = ServiceFixture

    /// Erases the fixture's customer, whose purchase was recorded, while some of the transactions fail.
    private static func erasure(
      on kind: DatabaseKind, failing: Range<Int>,
      _ check: (_ service: ServiceFixture, _ api: ReceiptAPI, _ log: AuditLog) async throws -> Void
    ) async throws {
      let endpoint = WebhookEndpoint(name: "backend", url: "https://example.com", secrets: [])
      try await withService(on: kind, webhooks: [endpoint]) { service in
        service.app.recordsVerdicts = true
        let log = try AuditLog.create(
          in: MemoryStorage(), configuration: TrailConfiguration(origin: "example.com/test"),
          signer: try NoteSignerKey.generate(name: "example.com/test"), checkpoints: MemoryCheckpointStore())
        let intake = NotificationIntake(service.entitlements(), auditLog: log)
        let body = try service.body(.subscribed, day: 0, F.period(1))
        #expect(
          await intake.receive(app: service.app, authorization: nil, body: body).outcome == .done)
        var configuration = ServiceConfiguration(apps: [service.app])
        configuration.auditLog = log
        let api = try ReceiptAPI(
          configuration, database: FailingDatabase(service.database, failing: failing),
          clock: service.clock.reading)
        try await check(service, api, log)
        try log.close()
      }
    }

    private static func isErased(_ service: ServiceFixture, _ log: AuditLog) async throws -> Bool {
      let isInFiles = try service.files().contains { $0.contains(Data(F.customer.utf8)) }
      let entries = try await log.read { try $0.entries(customer: F.customer).count }
      return !isInFiles && entries == 0
    }

    private static func acts(_ service: ServiceFixture) async throws -> [AdministrativeAct] {
      try await service.database.read { try AdministrativeAct.newest(10, in: $0) }
    }

    @Test(
      "it is done when the call returns, and noted without the customer's name", arguments: DatabaseKind.all)
    func done(on kind: DatabaseKind) async throws {
      try await Self.erasure(on: kind, failing: 0..<0) { service, api, log in
        #expect(try await !Self.isErased(service, log))
        let app = try #require(api.apps["shop"])
        let outcome = try await api.erasures.erase(customer: F.customer.uppercased(), app: app, by: "tester")
        #expect(outcome == ErasureQueue.Outcome(purchases: 1, entries: 1))
        #expect(try await Self.isErased(service, log))
        let act = try #require(try await Self.acts(service).first)
        #expect(act.act == "customer.erase" && act.actor == "tester")
        #expect(!act.details.contains(F.customer) && act.details.hasSuffix("purchases=1 entries=1"))
        service.clock.now = F.day(1)
        #expect(try await api.erasures.resume() == 0)
        // Nothing is left to be erased, which is no error.
        #expect(
          try await api.erasures.erase(customer: F.customer, app: app, by: "tester") == ErasureQueue.Outcome()
        )
      }
    }

    @Test(
      "after a failure at any step a job goes on with it, and it is noted once",
      arguments: DatabaseKind.all, 0..<4)
    func failure(on kind: DatabaseKind, at step: Int) async throws {
      try await Self.erasure(on: kind, failing: step..<step + 1) { service, api, log in
        let app = try #require(api.apps["shop"])
        await #expect(throws: DatabaseError.self) {
          try await api.erasures.erase(customer: F.customer, app: app, by: "tester")
        }
        #expect(try await Self.acts(service).isEmpty)
        // The process that began it may still be at it.
        #expect(try await api.erasures.resume() == 0)
        service.clock.now = F.day(0).addingSeconds(ErasureQueue.lease + 1)
        // What could not be entered was not accepted, and is to be sent again.
        #expect(try await api.erasures.resume() == (step == 0 ? 0 : 1))
        #expect(try await Self.isErased(service, log) == (step > 0))
        #expect(try await Self.acts(service).map(\.act) == (step == 0 ? [] : ["customer.erase"]))
        #expect(try await api.erasures.resume() == 0)
      }
    }

    @Test("an app that left the configuration is named", arguments: DatabaseKind.all)
    func formerApp(on kind: DatabaseKind) async throws {
      try await Self.erasure(on: kind, failing: 1..<2) { service, api, log in
        let app = try #require(api.apps["shop"])
        await #expect(throws: DatabaseError.self) {
          try await api.erasures.erase(customer: F.customer, app: app, by: "tester")
        }
        service.clock.now = F.day(1)
        let other = ErasureQueue(service.entitlements(), auditLog: log, apps: [:])
        let error = await #expect(throws: DatabaseError.self) { try await other.resume() }
        #expect(error?.place == "app.shop")
        service.clock.now = F.day(2)
        #expect(try await api.erasures.resume() == 1)
        #expect(try await Self.isErased(service, log))
      }
    }
  }
#endif
