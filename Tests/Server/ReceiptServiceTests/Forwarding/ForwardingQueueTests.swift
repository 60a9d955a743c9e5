// SPDX-License-Identifier: Apache-2.0

#if Server
  import Dispatch
  import Entitlements
  import Foundation
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Synchronization
  import Testing

  /// What waits to be forwarded: in the commit that records it, in order, by one process at a time.
  @Suite struct ForwardingQueueTests {
    private typealias F = ServiceFixture

    private static let lease = Duration.seconds(30)

    /// Runs a test with an app whose notifications are forwarded.
    private static func withQueue(
      on kind: DatabaseKind,
      _ body: (inout ServiceFixture, ForwardingQueue, ServiceEntitlements) async throws -> Void
    ) async throws {
      try await withService(on: kind) { service in
        service.app.forwarding = PostTarget(url: "https://old.example.com/")
        try await body(&service, ForwardingQueue(service.database), service.entitlements())
      }
    }

    /// Records notifications about purchases, and returns their bodies.
    @discardableResult
    private static func receive(
      _ lines: ClosedRange<Int>, _ service: ServiceFixture, _ entitlements: ServiceEntitlements
    ) async throws -> [[UInt8]] {
      let intake = NotificationIntake(entitlements: entitlements, auditLog: nil)
      var bodies: [[UInt8]] = []
      for line in lines {
        let body = try service.body(.subscribed, day: 0, F.period(1, line: line, customer: nil))
        let answer = await intake.receive(
          app: service.app, authorization: "Basic YTpi", contentType: "text/x", body: body)
        #expect(answer.status == 200)
        bodies.append(body)
      }
      return bodies
    }

    @Test("what is recorded waits, and a fault at any statement leaves neither", arguments: DatabaseKind.all)
    func oneCommit(on kind: DatabaseKind) async throws {
      try await Self.withQueue(on: kind) { service, queue, entitlements in
        let body = try service.body(.subscribed, day: 0, F.period(1))
        var attempts = 0
        var isRecorded = false
        while !isRecorded {
          let faulty = FaultyDatabase(service.database) { [attempts] _, _, count in count == attempts }
          let broken = ServiceEntitlements(
            database: faulty, apps: [service.app], clock: service.clock.reading)
          let answer = await NotificationIntake(entitlements: broken, auditLog: nil).receive(
            app: service.app, authorization: nil, body: body)
          isRecorded = answer.status == 200
          let waiting = try await queue.states().first?.waiting ?? 0
          #expect(waiting == (isRecorded ? 1 : 0), "fault at statement \(attempts)")
          #expect(try await entitlements.told().count == (isRecorded ? 1 : 0))
          attempts += 1
        }
        // Among them is that of each table of what waits.
        #expect(attempts > 6)
        let lease = try #require(try await queue.lease(app: "shop", at: F.day(0), for: Self.lease))
        #expect(lease.delivery == StoreDelivery(body: body))
      }
    }

    private static func enter(_ byte: UInt8, in session: any DatabaseSession) throws {
      let notification = ForwardedNotification(delivery: StoreDelivery(body: [byte]), subjects: [])
      try ForwardingQueue.enter(notification, app: "shop", at: F.day(0), in: session)
    }

    @Test("nothing is committed with a later number before an earlier one", arguments: DatabaseKind.all)
    func commitOrder(on kind: DatabaseKind) async throws {
      try await Self.withQueue(on: kind) { service, queue, _ in
        let mayCommit = DispatchSemaphore(value: 0)
        let isEntered = Atomic(false)
        let isLaterEntered = Atomic(false)
        let database = service.database
        async let earlier: Void = database.write { session in
          try Self.enter(1, in: session)
          isEntered.store(true, ordering: .relaxed)
          mayCommit.wait()
        }
        while !isEntered.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(1)) }
        async let later: Void = database.write { session in
          try Self.enter(2, in: session)
          isLaterEntered.store(true, ordering: .relaxed)
        }
        try await Task.sleep(for: .milliseconds(300))
        let isOvertaken = isLaterEntered.load(ordering: .relaxed)
        #expect(!isOvertaken)
        mayCommit.signal()
        _ = try await (earlier, later)
        #expect(try await queue.lease(app: "shop", at: F.day(0), for: Self.lease)?.delivery.body == [1])
        #expect(try await queue.states().first?.waiting == 2)
      }
    }

    @Test("one process has the lease, and a late one changes nothing", arguments: DatabaseKind.all)
    func leases(on kind: DatabaseKind) async throws {
      try await Self.withQueue(on: kind) { service, queue, entitlements in
        let bodies = try await Self.receive(1...3, service, entitlements)
        let now = F.day(0)
        let first = try #require(try await queue.lease(app: "shop", at: now, for: Self.lease))
        #expect(first.delivery == StoreDelivery(body: bodies[0], contentType: "text/x"))
        #expect(try await queue.lease(app: "shop", at: now.addingSeconds(29), for: Self.lease) == nil)
        #expect(try await queue.lease(app: "other", at: now, for: Self.lease) == nil)
        let late = now.addingSeconds(31)
        let taken = try #require(try await queue.lease(app: "shop", at: late, for: Self.lease))
        #expect(taken.sequence == first.sequence)
        // The first process comes back: the other one has the lease, and its outcome counts.
        #expect(
          try await queue.end(first, .delivered, at: late, random: 0, nextFor: Self.lease) == nil)
        #expect(try await queue.states().first?.waiting == 3)
        let second = try #require(
          try await queue.end(taken, .delivered, at: late, random: 0, nextFor: Self.lease))
        #expect(second.delivery.body == bodies[1])
        // At the end of the process, the next one is left to others.
        #expect(try await queue.end(second, .delivered, at: late, random: 0, nextFor: nil) == nil)
        let third = try #require(try await queue.lease(app: "shop", at: late, for: Self.lease))
        #expect(third.delivery.body == bodies[2])
        _ = try await queue.end(third, .interrupted, at: late, random: 0, nextFor: nil)
        #expect(try await queue.lease(app: "shop", at: late, for: Self.lease)?.attempts == 0)
      }
    }

    @Test(
      "after a failure the first one waits, longer each time, and later ones with it",
      arguments: DatabaseKind.all)
    func pauses(on kind: DatabaseKind) async throws {
      try await Self.withQueue(on: kind) { service, queue, entitlements in
        let bodies = try await Self.receive(1...2, service, entitlements)
        var now = F.day(0)
        for (attempt, pause) in [1.0, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].enumerated() {
          let lease = try #require(try await queue.lease(app: "shop", at: now, for: Self.lease))
          #expect(lease.attempts == attempt && lease.delivery.body == bodies[0])
          // 410 ends an endpoint of webhooks, and no forwarding.
          let outcome: WebhookQueue.Outcome = attempt % 2 == 0 ? .failed("HTTP 500") : .dead("HTTP 410")
          _ = try await queue.end(lease, outcome, at: now, random: 0.5, nextFor: Self.lease)
          #expect(
            try await queue.lease(app: "shop", at: now.addingSeconds(pause - 0.1), for: Self.lease) == nil)
          now = now.addingSeconds(pause)
        }
        let state = try #require(try await queue.states().first)
        #expect(state.waiting == 2 && state.attempts == 11 && state.error == "HTTP 500")
        let lease = try #require(try await queue.lease(app: "shop", at: now, for: Self.lease))
        #expect(
          try await queue.end(lease, .delivered, at: now, random: 0.5, nextFor: Self.lease)?.attempts == 0)
      }
    }

    @Test func requestedPausesAreBounded() {
      let now = F.day(0)
      func pause(_ attempts: Int, _ seconds: Double?, random: Double = 0.5) -> Double {
        ForwardingQueue.pause(
          after: attempts, until: seconds.map(now.addingSeconds), now: now, random: random)
      }
      #expect(pause(0, 60) == 60)
      #expect(pause(9, 60) == 300)
      #expect(pause(0, 86_400) == 3600)
      #expect(pause(0, -5) == 1)
      #expect(pause(Int.max, nil, random: 1) == 330)
    }

    @Test("what is dropped while it is posted does not hold up the next one", arguments: DatabaseKind.all)
    func dropInFlight(on kind: DatabaseKind) async throws {
      try await Self.withQueue(on: kind) { service, queue, entitlements in
        let bodies = try await Self.receive(1...2, service, entitlements)
        let now = F.day(0)
        let first = try #require(try await queue.lease(app: "shop", at: now, for: Self.lease))
        #expect(try await queue.drop(app: "shop", first: first.sequence + 1, by: "test", at: now) == 0)
        #expect(try await queue.drop(app: "shop", first: first.sequence, by: "test", at: now) == 1)
        _ = try await queue.end(first, .failed("HTTP 500"), at: now, random: 0, nextFor: Self.lease)
        let second = try #require(try await queue.lease(app: "shop", at: now, for: Self.lease))
        #expect(second.delivery.body == bodies[1] && second.attempts == 0)
      }
    }

    @Test("a clock that was ahead does not silence the old system", arguments: DatabaseKind.all)
    func clockAhead(on kind: DatabaseKind) async throws {
      try await Self.withQueue(on: kind) { service, queue, entitlements in
        try await Self.receive(1...1, service, entitlements)
        let lease = try #require(try await queue.lease(app: "shop", at: F.day(365), for: Self.lease))
        // The process was killed; or it went on, and failed.
        #expect(try await queue.lease(app: "shop", at: F.day(0), for: Self.lease) != nil)
        _ = lease
        let again = try #require(try await queue.lease(app: "shop", at: F.day(365), for: Self.lease))
        _ = try await queue.end(again, .failed("HTTP 500"), at: F.day(365), random: 0, nextFor: Self.lease)
        #expect(try await queue.lease(app: "shop", at: F.day(0), for: Self.lease) != nil)
      }
    }

    @Test("an erasure removes what waits about the customer and their purchases", arguments: DatabaseKind.all)
    func erasure(on kind: DatabaseKind) async throws {
      try await Self.withQueue(on: kind) { service, queue, entitlements in
        let bodies = try await Self.receive(1...2, service, entitlements)
        let intake = NotificationIntake(entitlements: entitlements, auditLog: nil)
        let named = try service.body(.subscribed, day: 0, F.period(1, line: 3))
        #expect(await intake.receive(app: service.app, authorization: nil, body: named).status == 200)
        // They present a purchase that names nobody.
        try await entitlements.merge(
          try service.receipt(F.period(1, line: 1, customer: nil), day: 0), customer: F.customer, app: "shop")
        let lease = try #require(try await queue.lease(app: "shop", at: F.day(0), for: Self.lease))
        try await entitlements.erase(app: "shop", customer: F.customer.uppercased())
        #expect(try await queue.states().first?.waiting == 1)
        // One of them was being posted.
        let next = try await queue.end(lease, .delivered, at: F.day(0), random: 0, nextFor: Self.lease)
        #expect(next?.delivery.body == bodies[1])
        let subjects = try await service.database.rows("SELECT subject FROM forward_subjects").map {
          $0.text(0)
        }
        #expect(!subjects.isEmpty && !subjects.contains { $0.contains(F.customer) })
        for file in try service.files() {
          #expect(file.range(of: Data(bodies[0].suffix(60))) == nil)
          #expect(file.range(of: Data(named.suffix(60))) == nil)
        }
      }
    }

    @Test("a customer who is named by waiting notifications alone is known", arguments: DatabaseKind.all)
    func namedAlone(on kind: DatabaseKind) async throws {
      try await Self.withQueue(on: kind) { service, queue, entitlements in
        let body = Array(#"{"data":{"appAccountToken":"\#(F.customer)"}}"#.utf8)
        let forwarded = ForwardedNotification(StoreDelivery(body: body), about: EntitlementLedger())
        #expect(forwarded.subjects == ["customer \(F.customer)"])
        #expect(try await !entitlements.isKnown(F.customer, app: "shop"))
        try await service.database.write { session in
          try ForwardingQueue.enter(forwarded, app: "shop", at: F.day(0), in: session)
        }
        #expect(try await entitlements.isKnown(F.customer, app: "shop"))
        try await entitlements.erase(app: "shop", customer: F.customer)
        #expect(try await queue.states().isEmpty)
      }
    }

    @Test("old notifications are removed where nothing is forwarded any more", arguments: DatabaseKind.all)
    func retention(on kind: DatabaseKind) async throws {
      try await Self.withQueue(on: kind) { service, queue, entitlements in
        try await Self.receive(1...2, service, entitlements)
        #expect(try await queue.remove(except: ["shop"], before: F.day(1)) == 0)
        #expect(try await queue.remove(except: [], before: F.day(0)) == 0)
        #expect(try await queue.remove(except: [], before: F.day(1)) == 2)
        #expect(try await queue.states().isEmpty)
        #expect(try await service.database.rows("SELECT 1 FROM forward_subjects").isEmpty)
      }
    }
  }
#endif
