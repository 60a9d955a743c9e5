// SPDX-License-Identifier: Apache-2.0

#if Server
  import Entitlements
  import Logging
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Synchronization
  import Testing

  /// A clock that was wrong, and questions to stores that do not answer.
  @Suite(.timeLimit(.minutes(2))) struct EntitlementClockTests {
    private typealias F = ServiceFixture

    private static func jobs(_ entitlements: ServiceEntitlements, _ app: AppConfiguration) -> EntitlementJobs
    {
      EntitlementJobs(
        entitlements: entitlements, apps: [app], interval: .milliseconds(10),
        logger: Logger(label: "jobs") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func running(_ jobs: EntitlementJobs, _ body: () async throws -> Void) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await jobs.run() }
        try await body()
        group.cancelAll()
      }
    }

    private static func eventually(
      _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
    ) async throws {
      for _ in 0..<3_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
      }
      Issue.record("never: \(what)", sourceLocation: sourceLocation)
    }

    @Test(
      "what a clock that was a year ahead told as expired is corrected, and what follows is told as it is",
      arguments: DatabaseKind.all)
    func ahead(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let clock = service.clock
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        try await Self.running(Self.jobs(entitlements, service.app)) {
          clock.now = F.day(365)
          try await Self.eventually("expired") { try await entitlements.told().count == 2 }
          clock.now = F.day(0).addingSeconds(10)
          try await Self.eventually("corrected") { try await entitlements.told().count == 3 }
        }
        #expect(
          try await entitlements.told() == [
            "entitlement.granted", "entitlement.expired", "entitlement.renewed",
          ])
        clock.now = F.day(30)
        try await entitlements.record(service.notification(.didRenew, day: 30, F.period(2)), app: "shop")
        let renewed = try #require(try await entitlements.changes(app: "shop", after: 3).first)
        #expect(renewed.type == "entitlement.renewed")
        let data = try JSONValue(parsing: renewed.body)["data"]
        #expect(data?["entitlement"]?["grantsAccess"] == .bool(true))
        #expect(renewed.time == F.day(30))
        #expect(try await entitlements.correct() == 0)
      }
    }

    @Test("a notification that comes before the correction is told as it is", arguments: DatabaseKind.all)
    func uncorrected(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        service.clock.now = F.day(365)
        #expect(try await entitlements.expireDue() == 1)
        service.clock.now = F.day(30)
        try await entitlements.record(service.notification(.didRenew, day: 30, F.period(2)), app: "shop")
        #expect(
          try await entitlements.told() == [
            "entitlement.granted", "entitlement.expired", "entitlement.renewed",
          ])
        // A process whose clock is four minutes slow does not take it back.
        service.clock.now = F.day(60)
        #expect(try await entitlements.expireDue() == 1)
        service.clock.now = F.day(60).addingSeconds(-240)
        #expect(try await entitlements.correct() == 0)
        #expect(try await entitlements.told().last == "entitlement.expired")
      }
    }

    @Test(
      "what was heard by a clock that was ahead does not keep the store from being asked",
      arguments: DatabaseKind.all)
    func heard(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        service.clock.now = F.day(365)
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        service.clock.now = F.day(1)
        #expect(try await entitlements.correct() == 1)
        #expect(try await entitlements.told() == ["entitlement.expired", "entitlement.renewed"])
        service.clock.now = F.day(31.1)
        #expect(try await entitlements.reconcile(app: "shop") { _, _ in nil } == 1)
      }
    }

    // MARK: Questions

    @Test("an erasure whose lease a clock made last for a year is ended", arguments: DatabaseKind.all)
    func erasure(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        try await service.entitlements().record(
          service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        let clock = service.clock
        let api = try ReceiptAPI(
          ServiceConfiguration(apps: [service.app]),
          database: FailingDatabase(service.database, failing: 1..<2),
          clock: clock.reading)
        clock.now = F.day(365)
        await #expect(throws: DatabaseError.self) {
          try await api.erasures.erase(customer: F.customer, app: #require(api.apps["shop"]), by: "tester")
        }
        clock.now = F.day(1)
        #expect(try await api.erasures.resume() == 1)
        #expect(try await service.entitlements().told() == [])
      }
    }

    @Test(
      "a store that does not answer delays no expiry, and no question to another store",
      arguments: DatabaseKind.all)
    func slowStore(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let clock = service.clock
        let asked = Mutex<[String]>([])
        service.app.storeQuestion = { _ in
          asked.withLock { $0.append("shop") }
          try await Task.sleep(for: .seconds(600))
          return nil
        }
        var other = service.app
        other.name = "other"
        other.storeQuestion = { _ in
          asked.withLock { $0.append("other") }
          return nil
        }
        let entitlements = ServiceEntitlements(
          database: service.database, apps: [service.app, other], clock: clock.reading)
        for (line, app) in [(1, "shop"), (2, "shop")] {
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: line)), app: app)
        }
        let jobs = EntitlementJobs(
          entitlements: entitlements, apps: [service.app, other], interval: .milliseconds(10),
          logger: Logger(label: "jobs") { _ in SwiftLogNoOpLogHandler() })
        try await Self.running(jobs) {
          clock.now = F.day(31.5)
          try await Self.eventually("the slow store is asked") { asked.withLock { $0 } == ["shop"] }
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: 3) { $0.expiresDate = F.day(32) }),
            app: "shop")
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: 4) { $0.expiresDate = F.day(38) }),
            app: "other")
          clock.now = F.day(33.5)
          try await Self.eventually("the third expires") {
            try await entitlements.history(app: "shop", name: "sandbox com.example.app 2000000003").map(
              \.type)
              == ["entitlement.granted", "entitlement.expired"]
          }
          clock.now = F.day(40)
          try await Self.eventually("the other store is asked") { asked.withLock { $0.contains("other") } }
        }
      }
    }

    @Test(
      "a store that does not know a subscription is asked less and less, and then no more",
      arguments: DatabaseKind.all, [true, false])
    func unknown(on kind: DatabaseKind, isUnknown: Bool) async throws {
      struct Unreachable: Error {}
      try await withService(on: kind) { service in
        let clock = service.clock
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        clock.now = F.day(31)
        var hours: [Int] = []
        for hour in 0..<600 {
          clock.now = F.day(31).addingSeconds(Double(hour) * 3_600)
          let count = try await entitlements.reconcile(app: "shop") { _, _ in
            throw isUnknown ? UnknownToStore() as any Error : Unreachable()
          }
          if count > 0 { hours.append(hour) }
        }
        let first = [0, 1, 3, 7, 15, 31, 55, 79]
        #expect(Array(hours.prefix(8)) == first)
        #expect(isUnknown ? hours.count == 8 : hours.count > 25)
        // A notification resets the count of questions to the store.
        try await entitlements.record(
          service.notification(.didRenew, day: 60, F.period(2) { $0.expiresDate = F.day(60) }), app: "shop")
        clock.advance(seconds: 1)
        #expect(
          try await service.database.read { try $0.run("SELECT questions FROM ledgers").first?.integer(0) }
            == 0)
      }
    }

    @Test(
      "while a store tries to charge, it is asked again and again, a day apart", arguments: DatabaseKind.all)
    func billingRetry(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let clock = service.clock
        let entitlements = service.entitlements()
        clock.now = F.day(30)
        try await entitlements.record(
          service.notification(.didFailToRenew, .gracePeriod, day: 30, F.period(1)) {
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = F.day(46)
          }, app: "shop")
        var asked: [Double] = []
        for hour in stride(from: 0.0, to: 100, by: 1) {
          clock.now = F.day(30).addingSeconds(hour * 3_600)
          let count = try await entitlements.reconcile(app: "shop") { _, entitlement in
            // The store says what it said before.
            entitlement.ledger
          }
          if count > 0 { asked.append(hour) }
        }
        #expect(asked == [24, 48, 72, 96])
      }
    }

    @Test(
      "an old receipt that is presented again does not make a subscription count as silent",
      arguments: DatabaseKind.all)
    func oldReceipt(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let clock = service.clock
        let entitlements = service.entitlements()
        let old = try service.receipt(F.period(1, customer: nil), day: 0)
        try await entitlements.merge(old, customer: "first", app: "shop")
        // The store said after the renewal was due that it will not renew; so it is not asked.
        clock.now = F.day(30.5)
        try await entitlements.record(
          service.notification(.expired, .voluntary, day: 30.5, F.period(1, customer: nil)), app: "shop")
        clock.now = F.day(31.5)
        try await entitlements.merge(old, customer: "second", app: "shop")
        #expect(try await entitlements.entitlements(app: "shop", customer: "second").count == 1)
        clock.now = F.day(32.6)
        #expect(try await entitlements.reconcile(app: "shop") { _, _ in nil } == 0)
      }
    }
  }
#endif
