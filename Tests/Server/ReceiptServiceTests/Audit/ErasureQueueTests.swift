// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import AuditTrailTesting
  import Foundation
  import Logging
  import ReceiptCodec
  import ReceiptCrypto
  @testable import ReceiptService
  import ReceiptTesting
  import ReceiptVerification
  import Synchronization
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
        let intake = NotificationIntake(entitlements: service.entitlements(), auditLog: log)
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
        #expect(outcome == ErasureOutcome(purchases: 1, entries: 1))
        #expect(try await Self.isErased(service, log))
        let act = try #require(try await Self.acts(service).first)
        #expect(act.act == "customer.erase" && act.actor == "tester")
        #expect(!act.details.contains(F.customer) && act.details.hasSuffix("purchases=1 entries=1"))
        service.clock.now = F.day(1)
        #expect(try await api.erasures.resume() == 0)
        // Nothing is left to be erased, which is no error.
        #expect(
          try await api.erasures.erase(customer: F.customer, app: app, by: "tester")
            == ErasureOutcome(purchases: 0, entries: 0)
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
        // If the erasure could not be queued (step 0), it was not accepted, and the caller has to repeat it.
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
        let noApps = try ServedApps(ServiceConfiguration(apps: []))
        let other = ErasureQueue(
          entitlements: service.entitlements(), auditLog: log, apps: noApps, logger: Logger(label: "test"))
        let error = await #expect(throws: DatabaseError.self) { try await other.resume() }
        #expect(error?.place == "app.shop")
        service.clock.now = F.day(2)
        #expect(try await api.erasures.resume() == 1)
        #expect(try await Self.isErased(service, log))
      }
    }

    // MARK: What is erased

    private static let account = "0c0ffee0-2b3a-4c8f-9d5e-6a1b2c3d4e5f"

    /// An app, `shop`, and another one of the same trail, and their API.
    private static func twoApps(
      on kind: DatabaseKind, database: ((any ServiceDatabase) -> any ServiceDatabase)? = nil,
      _ check: (_ service: ServiceFixture, _ api: ReceiptAPI, _ log: AuditLog) async throws -> Void
    ) async throws {
      try await withService(on: kind) { service in
        service.app.recordsVerdicts = true
        var other = try AppConfiguration(
          name: "other",
          policies: [
            "default": ReceiptVerifier(
              trust: try TestAuthority.es256().trustAnchors,
              policy: VerificationPolicy(bundleIds: .oneOf(["com.example.other"]), environments: [.sandbox]),
              clock: FixedClock(F.day(2000)).reading)
          ])
        other.recordsVerdicts = true
        let log = try AuditLog.create(
          in: MemoryStorage(), configuration: TrailConfiguration(origin: "example.com/test"),
          signer: try NoteSignerKey.generate(name: "example.com/test"), checkpoints: MemoryCheckpointStore())
        var configuration = ServiceConfiguration(apps: [service.app, other])
        configuration.auditLog = log
        let api = try ReceiptAPI(
          configuration, database: database?(service.database) ?? service.database,
          clock: service.clock.reading)
        try await check(service, api, log)
        try log.close()
      }
    }

    /// Has a receipt verified and recorded; its entry.
    private static func record(
      _ receipt: [UInt8], _ api: ReceiptAPI, app: String = "shop", customer: String? = nil
    ) async throws -> UInt64 {
      let verification = try Verification(
        try #require(api.apps[app]), policy: nil, customer: customer, api.entitlements)
      return try #require(try await verification.verdict(on: receipt).acknowledgement?.index)
    }

    private static func erase(_ customer: String, _ api: ReceiptAPI, app: String = "shop") async throws
      -> ErasureOutcome
    {
      try await api.erasures.erase(customer: customer, app: try #require(api.apps[app]), by: "tester")
    }

    /// The entries whose erasable parts are there.
    private static func kept(_ log: AuditLog) async throws -> [UInt64] {
      try await log.read { view in
        try (0..<view.size).filter { index in
          try view.entry(at: index).entry.commitment != nil && view.erasablePart(at: index) != nil
        }
      }
    }

    @Test(
      "receipts in which the account can be read are erased, whatever name they were recorded under",
      arguments: DatabaseKind.all)
    func otherNames(on kind: DatabaseKind) async throws {
      try await Self.twoApps(on: kind) { service, api, log in
        let receipt = try service.receipt(F.period(1, customer: Self.account), day: 0).encoded
        var altered = receipt
        altered[altered.count - 5] ^= 1
        var otherwise = receipt
        // No base64 any more.
        otherwise[otherwise.count - 6] = UInt8(ascii: "@")
        let mine = [
          try await Self.record(receipt, api, customer: "4711"),
          try await Self.record(altered, api, customer: "4711"),
          try await Self.record(otherwise, api),
          try await Self.record(receipt, api),
        ]
        let stranger = try service.receipt(F.period(1, line: 2, customer: F.customer), day: 0).encoded
        let others = [
          try await Self.record(stranger, api, customer: "4711"), try await Self.record(stranger, api),
        ]
        #expect(try await Self.erase(Self.account.uppercased(), api).entries == Set(mine).count)
        #expect(try await Self.kept(log) == Set(others).sorted())
        #expect(try !service.files().contains { $0.contains(Data(Self.account.utf8)) })
        // By the other name, what is left of it.
        #expect(try await Self.erase("4711", api).entries == 1)
      }
    }

    @Test("an erasure takes no part of another customer", arguments: DatabaseKind.all)
    func shared(on kind: DatabaseKind) async throws {
      try await Self.twoApps(on: kind) { service, api, log in
        // A purchase that names nobody: alice had it, and bob has it.
        let receipt = try service.receipt(F.period(1, customer: nil), day: 0)
        let renewed = try service.receipt(F.period(2, customer: nil), day: 30)
        let alice = try await Self.record(receipt.encoded, api, customer: "alice")
        let bob = try await Self.record(renewed.encoded, api, customer: "bob")
        for customer in ["alice", "bob"] {
          try await api.entitlements.merge(receipt, customer: customer, app: "shop")
        }
        #expect(try await Self.kept(log) == [alice, bob])
        #expect(try await Self.erase("alice", api).entries == 1)
        #expect(try await Self.kept(log) == [bob])
        #expect(try await Self.erase("bob", api).entries == 1)
      }
    }

    @Test(
      "an erasure for one app leaves what another one recorded of a customer of that name",
      arguments: DatabaseKind.all)
    func otherApp(on kind: DatabaseKind) async throws {
      try await Self.twoApps(on: kind) { service, api, log in
        var altered = try service.receipt(F.period(1, customer: nil), day: 0).encoded
        altered[altered.count - 5] ^= 1
        // Neither has a bundle: the signature is not right.
        let own = try await Self.record(altered, api, app: "shop", customer: "bob")
        altered[altered.count - 6] ^= 1
        let foreign = try await Self.record(altered, api, app: "other", customer: "bob")
        #expect(own != foreign)
        #expect(try await Self.erase("bob", api, app: "other").entries == 1)
        #expect(try await Self.kept(log) == [own])
        let genuine = try await Self.record(
          service.receipt(F.period(1, customer: nil), day: 0).encoded, api, customer: "bob")
        #expect(try await Self.erase("bob", api, app: "other").entries == 0)
        #expect(try await Self.kept(log) == [own, genuine])
      }
    }

    @Test(
      "an erasure that is asked for once more meanwhile is carried out once more", arguments: DatabaseKind.all
    )
    func again(on kind: DatabaseKind) async throws {
      let faulty = Mutex<FaultyDatabase?>(nil)
      try await Self.twoApps(on: kind) { database in
        let made = FaultyDatabase(database)
        faulty.withLock { $0 = made }
        return made
      } _: { service, api, log in
        let database = try #require(faulty.withLock { $0 })
        _ = try await Self.record(service.receipt(F.period(1), day: 0).encoded, api)
        let late = try service.receipt(F.period(2), day: 1).encoded
        let own = service.database
        database.onScrub.withLock {
          $0 = {
            // Recorded after the first erasure has looked; the second one is entered, and its process is killed then.
            _ = try await Self.record(late, api)
            try await own.write { session -> Void in
              try session.run("UPDATE erasures SET customer = $1, leased = 0", .text(F.customer))
            }
          }
        }
        try await api.entitlements.merge(
          service.receipt(F.period(1), day: 0), customer: F.customer, app: "shop")
        _ = try await Self.erase(F.customer, api)
        service.clock.now = F.day(1)
        #expect(try await api.erasures.resume() == 1)
        #expect(try await Self.kept(log) == [])
      }
    }

    @Test("the act cannot be guessed, and is the same for the same customer", arguments: DatabaseKind.all)
    func acts(on kind: DatabaseKind) async throws {
      try await Self.twoApps(on: kind) { service, api, _ in
        for customer in ["alice", "alice", "bob"] { _ = try await Self.erase(customer, api) }
        _ = try await Self.erase("alice", api, app: "other")
        let names = try await Self.acts(service).reversed().map { act in
          try #require(act.details.split(separator: " ").first { $0.hasPrefix("customer=") })
        }
        #expect(names[0] == names[1])
        #expect(Set(names).count == 3)
        for text in ["shop alice", "alice"] {
          #expect(!names[0].contains(SHA256Digest(of: Array(text.utf8)).hexadecimal))
        }
        // A customer of whom nothing is known is entered nowhere.
        #expect(try await service.database.read { try $0.run("SELECT 1 FROM erasures").isEmpty })
        let secrets = try await service.database.read { try $0.run("SELECT secret FROM secrets") }
        #expect(secrets.map { $0.bytes(0).count } == [32])
      }
    }

    @Test("erasing nobody scrubs nothing", arguments: DatabaseKind.all)
    func nobody(on kind: DatabaseKind) async throws {
      let faulty = Mutex<FaultyDatabase?>(nil)
      try await Self.twoApps(on: kind) { database in
        let made = FaultyDatabase(database)
        faulty.withLock { $0 = made }
        return made
      } _: { service, api, _ in
        let database = try #require(faulty.withLock { $0 })
        #expect(try await Self.erase("nobody", api) == ErasureOutcome(purchases: 0, entries: 0))
        #expect(database.scrubbed.withLock { $0 } == [])
        #expect(try await Self.acts(service).map(\.act) == ["customer.erase"])
        _ = try await Self.record(service.receipt(F.period(1), day: 0).encoded, api)
        #expect(try await Self.erase(F.customer, api) == ErasureOutcome(purchases: 0, entries: 1))
        #expect(database.scrubbed.withLock { $0 } == [["erasures"]])
      }
    }

    @Test("digests of an earlier version are replaced by keyed ones", arguments: DatabaseKind.all)
    func keyedDigests(on kind: DatabaseKind) async throws {
      try await Self.twoApps(on: kind) { service, api, _ in
        let old = SHA256Digest(of: Array("shop alice".utf8)).hexadecimal
        try await service.database.write { session -> Void in
          try AdministrativeAct.record(
            "customer.erase", "app=shop sha256=\(old) purchases=1 entries=2", by: "tester", at: 0, in: session
          )
          try session.run(
            """
            INSERT INTO erasures(id, app, customer, actor, leased, purchases, entries)
            VALUES ($1, 'shop', NULL, 'tester', 0, 3, 4)
            """, .text(old))
          try ErasureQueue.keyDigests(in: session)
        }
        _ = try await Self.erase("alice", api)
        #expect(try await api.erasures.resume() == 0, "the call ended the one that was under way")
        let acts = try await Self.acts(service).map(\.details)
        #expect(acts.count == 2)
        #expect(!acts.contains { $0.contains(old) })
        let names = Set(acts.map { $0.split(separator: " ")[1] })
        #expect(names.count == 1, "\(acts)")
        #expect(acts.last?.hasSuffix("purchases=1 entries=2") == true)
      }
    }

    @Test("names are found in receipts of all kinds, whole and damaged")
    func names() async throws {
      let service = try ServiceFixture()
      let receipt = try service.receipt(F.period(1, customer: Self.account), day: 0).encoded
      let notification = try service.body(.subscribed, day: 0, F.period(1, customer: Self.account))
      var damaged = receipt
      damaged.removeLast(7)
      let play = Array(#"{"data":"{\"obfuscatedAccountId\":\"user-1\"}","signature":"AAAA"}"#.utf8)
      for (name, bytes) in [
        (Self.account, receipt), (Self.account, notification), (Self.account, damaged),
        (Self.account, Array(Self.account.uppercased().utf8)), ("user-1", play),
        (Self.account, Array(Data(receipt).base64EncodedString().utf8)),
      ] {
        #expect(ReceiptNames.contain(name, in: bytes))
        #expect(!ReceiptNames.contain(F.customer, in: bytes))
        #expect(!ReceiptNames.contain("User-1", in: bytes))
      }
      #expect(!ReceiptNames.contain("", in: receipt))
      #expect(!ReceiptNames.contain("x", in: []))
      await service.remove()
    }
  }
#endif
