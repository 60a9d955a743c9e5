// SPDX-License-Identifier: Apache-2.0

#if Server
  import Entitlements
  import Foundation
  import Logging
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import ReceiptVerification
  import Synchronization
  import Testing

  /// In which order webhooks are delivered, and that nothing keeps an endpoint silent: no fault of the database, no other
  /// endpoint, no clock that was wrong.
  @Suite(.timeLimit(.minutes(3))) struct WebhookLaneTests {
    private typealias F = ServiceFixture

    private static func endpoint(_ receiver: WebhookReceiver, name: String = "backend") -> WebhookEndpoint {
      WebhookEndpoint(
        name: name, url: "http://127.0.0.1:\(receiver.port)/", secrets: [Array(repeating: 1, count: 24)],
        allowsPrivateNetworks: true)
    }

    private static func sender(
      _ apps: [AppConfiguration], _ entitlements: ServiceEntitlements, lease: Duration = .seconds(1_000_000)
    ) -> WebhookSender {
      // Leases outlast the clock, which is advanced faster than an attempt takes.
      var limits = WebhookSender.Limits()
      limits.pollInterval = .milliseconds(10)
      limits.lease = lease
      return WebhookSender(
        apps: apps, entitlements, client: WebhookClient(timeout: .seconds(120)), limits: limits,
        random: { 0.5 }, logger: Logger(label: "webhooks") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func running(_ sender: WebhookSender, _ body: () async throws -> Void) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await sender.run() }
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

    private static func waiting(_ database: any ServiceDatabase) async throws -> Int64? {
      try await database.read { session in
        try session.run("SELECT count(*) FROM deliveries WHERE state = 0").first?.integer(0)
      }
    }

    /// The requests in order, those that were tried again at once as one.
    private static func order(_ receiver: WebhookReceiver) -> [String] {
      receiver.ids.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    // MARK: Faults of the database

    @Test("a fault while webhooks are leased silences no endpoint", arguments: DatabaseKind.all)
    func leaseFault(on kind: DatabaseKind) async throws {
      let (a, b) = (try await WebhookReceiver(), try await WebhookReceiver())
      try await withService(on: kind, webhooks: [Self.endpoint(a, name: "a"), Self.endpoint(b, name: "b")]) {
        service in
        let faults = Mutex(0)
        // Those of b fail, a while.
        let database = FaultyDatabase(service.database) { statement, values, _ in
          guard statement.contains("FROM lanes"), statement.contains("ORDER BY due"),
            values.contains(.text("b"))
          else { return false }
          return faults.withLock { count in
            count += 1
            return count <= 30
          }
        }
        let entitlements = ServiceEntitlements(
          database: database, apps: [service.app], clock: service.clock.reading)
        for line in 1...24 {
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: line, customer: nil)), app: "shop")
        }
        try await Self.running(Self.sender([service.app], entitlements)) {
          try await Self.eventually("all are delivered") { try await Self.waiting(database) == 0 }
        }
        #expect(faults.withLock { $0 } > 30)
      }
      #expect(Set(a.ids).count == 24)
      #expect(Set(b.ids).count == 24)
      for receiver in [a, b] { await receiver.close() }
    }

    @Test("a fault at any statement loses nothing and silences nothing", arguments: DatabaseKind.all)
    func anyFault(on kind: DatabaseKind) async throws {
      for number in 0..<16 {
        let receiver = try await WebhookReceiver()
        try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
          for line in 1...3 {
            try await service.entitlements().record(
              service.notification(.subscribed, day: 0, F.period(1, line: line, customer: nil)), app: "shop")
          }
          let database = FaultyDatabase(service.database) { _, _, count in count == number }
          let entitlements = ServiceEntitlements(
            database: database, apps: [service.app], clock: service.clock.reading)
          try await Self.running(Self.sender([service.app], entitlements, lease: .seconds(2))) {
            try await Self.eventually("delivered despite a fault at statement \(number)") {
              service.clock.advance(seconds: 0.1)
              return try await Self.waiting(database) == 0
            }
          }
        }
        #expect(Set(receiver.ids).count == 3)
        await receiver.close()
      }
    }

    // MARK: Order

    @Test("a purchase that changes hands is told in order, whoever had it", arguments: DatabaseKind.all)
    func transfer(on kind: DatabaseKind) async throws {
      // The first attempt of all fails.
      let receiver = try await WebhookReceiver { _, index in .status(index == 0 ? 503 : 200) }
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        let receipt = try service.receipt(F.period(1, customer: nil), day: 0)
        // Nobody's at first, then alice's, then bob's.
        try await entitlements.record(
          service.notification(.subscribed, day: 0, F.period(1, customer: nil)), app: "shop")
        try await Self.running(Self.sender([service.app], entitlements)) {
          try await Self.eventually("the first attempt") { receiver.requests.count == 1 }
          for customer in ["alice", "bob"] {
            try await entitlements.merge(receipt, customer: customer, app: "shop")
          }
          // Of another purchase of alice's: it waits for the one that she lost.
          try await entitlements.merge(
            service.receipt(F.period(1, line: 2, customer: nil), day: 0), customer: "alice", app: "shop")
          for _ in 0..<20 {
            service.clock.advance(seconds: 0.1)
            try await Task.sleep(for: .milliseconds(10))
          }
          #expect(receiver.requests.count == 1, "what follows waits")
          try await Self.eventually("delivered") {
            service.clock.advance(seconds: 1)
            return try await Self.waiting(service.database) == 0
          }
        }
        let changes = try await entitlements.changes(app: "shop", after: 0)
        #expect(changes.map(\.customer) == [nil, "alice", "bob", "alice"])
        // The third and the fourth wait for the second, both; the fourth for the third as well, whose customer before was
        // alice.
        #expect(Self.order(receiver) == changes.map(\.id))
      }
      await receiver.close()
    }

    @Test(
      "whatever fails, changes of one purchase and of one customer arrive in order, and none waits for ever",
      arguments: DatabaseKind.all, [UInt64(1), 2, 3])
    func randomTransfers(on kind: DatabaseKind, seed: UInt64) async throws {
      let random = Mutex(SeededGenerator(seed: seed))
      let dead = Mutex<Set<String>>([])
      let receiver = try await WebhookReceiver { request, _ in
        random.withLock { random in
          switch Int.random(in: 0..<10, using: &random) {
          case 0..<3: return .status(500)
          case 3:
            dead.withLock { _ = $0.insert(request.id) }
            return .status(410)
          default: return .status(200)
          }
        }
      }
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        var generator = SeededGenerator(seed: seed &+ 100)
        let customers = ["alice", "bob", "carol"]
        let receipts = try (1...5).map { line in
          try service.receipt(F.period(1, line: line, customer: nil), day: 0)
        }
        try await Self.running(Self.sender([service.app], entitlements)) {
          for _ in 0..<40 {
            try await entitlements.merge(
              receipts[Int.random(in: 0..<5, using: &generator)],
              customer: customers[Int.random(in: 0..<3, using: &generator)], app: "shop")
            service.clock.advance(seconds: 1)
          }
          try await Self.eventually("delivered or given up") {
            service.clock.advance(seconds: 60)
            return try await Self.waiting(service.database) == 0
          }
        }
        let arrived = receiver.ids
        let rows = try await service.database.read { session in
          try session.run("SELECT id, name, customer, previous_customer FROM changes ORDER BY sequence")
        }
        #expect(Set(arrived) == Set(rows.map { $0.text(0) }))
        for key in customers.map({ (column: [2, 3], $0) })
          + Set(rows.map { $0.text(1) }).map({ (column: [1], $0) })
        {
          let expected = rows.filter { row in key.column.contains { row.text($0) == key.1 } }.map {
            $0.text(0)
          }
          let order = arrived.filter(expected.contains).reduce(into: [String]()) {
            if $0.last != $1 { $0.append($1) }
          }
          #expect(order == expected, "\(key.1)")
        }
      }
      await receiver.close()
    }

    @Test("different purchases of one customer are told in order", arguments: DatabaseKind.all)
    func purchasesOfOneCustomer(on kind: DatabaseKind) async throws {
      let failed = Mutex<Set<String>>([])
      let receiver = try await WebhookReceiver { request, _ in
        .status(failed.withLock { $0.insert(request.id).inserted } ? 500 : 200)
      }
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        for line in [2, 1, 3] {
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: line)), app: "shop")
        }
        try await Self.running(Self.sender([service.app], entitlements)) {
          try await Self.eventually("delivered") {
            service.clock.advance(seconds: 1)
            return try await Self.waiting(service.database) == 0
          }
        }
        #expect(
          try await entitlements.changes(app: "shop", after: 0).map(\.id) == Self.order(receiver))
      }
      await receiver.close()
    }

    @Test("a transfer that was given up and is replayed goes through both lanes", arguments: DatabaseKind.all)
    func replayedTransfer(on kind: DatabaseKind) async throws {
      let isGone = Mutex(true)
      let receiver = try await WebhookReceiver { request, _ in
        .status(request.body.contains("transferred") && isGone.withLock { $0 } ? 410 : 200)
      }
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        let receipt = try service.receipt(F.period(1, customer: nil), day: 0)
        for customer in ["alice", "bob"] {
          try await entitlements.merge(receipt, customer: customer, app: "shop")
        }
        let queue = WebhookQueue(service.database)
        try await Self.running(Self.sender([service.app], entitlements)) {
          try await Self.eventually("dead") {
            try await queue.counts(app: "shop")["backend"]?.dead == 1
          }
          isGone.withLock { $0 = false }
          #expect(try await queue.replay(app: "shop", endpoint: "backend", at: service.clock.now) == 1)
          entitlements.commits.signal()
          try await Self.eventually("replayed") {
            try await service.database.read { session in
              try session.run("SELECT 1 FROM deliveries UNION ALL SELECT 1 FROM lanes").isEmpty
            }
          }
        }
        #expect(receiver.requests.count == 3)
      }
      await receiver.close()
    }

    // MARK: Others

    @Test("endpoints of one app that never answer keep no other app waiting", arguments: DatabaseKind.all)
    func noisyApp(on kind: DatabaseKind) async throws {
      let fast = try await WebhookReceiver()
      var slow: [WebhookReceiver] = []
      for _ in 0..<5 { slow.append(try await WebhookReceiver { _, _ in .silence }) }
      let endpoints = slow.enumerated().map { Self.endpoint($1, name: "slow-\($0)") }
      try await withService(on: kind, webhooks: endpoints) { service in
        var other = service.app
        other.name = "other"
        other.webhooks = [Self.endpoint(fast)]
        let entitlements = ServiceEntitlements(
          database: service.database, apps: [service.app, other], clock: service.clock.reading)
        for line in 1...10 {
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: line, customer: nil)), app: "shop")
        }
        try await Self.running(Self.sender([service.app, other], entitlements)) {
          // As many as may be under way.
          try await Self.eventually("the slow ones are at it") { slow.allSatisfy { $0.requests.count == 8 } }
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: 20, customer: nil)), app: "other")
          try await Self.eventually("the other app's is delivered") { fast.requests.count == 1 }
        }
      }
      for receiver in slow + [fast] { await receiver.close() }
    }

    @Test("neither the log nor a dead letter has the secrets of a webhook's URL")
    func secrets() async throws {
      let url = "ftp://user:pass%20word@hooks.example/path?token=0123456789abcdef&x=1"
      let endpoint = WebhookEndpoint(name: "backend", url: url, secrets: [Array(repeating: 1, count: 24)])
      for text in ["\(url) is no URL.", "no: \(url.dropLast(3))", "no: \(url.dropLast(12))…", "?token=0123"] {
        let shown = endpoint.target.removingSecrets(from: text)
        for secret in ["0123", "pass", "user:"] { #expect(!shown.contains(secret), "\(shown)") }
      }
      #expect(endpoint.target.removingSecrets(from: "HTTP 500") == "HTTP 500")
      let plain = WebhookEndpoint(name: "backend", url: "https://hooks.example/a@b", secrets: [])
      #expect(plain.target.removingSecrets(from: "https://hooks.example/a@b") == "https://hooks.example/a@b")
      try await withService(on: .sqlite, webhooks: [endpoint]) { service in
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        try await Self.running(Self.sender([service.app], entitlements)) {
          try await Self.eventually("refused") {
            let error = try await service.database.read { session in
              try session.run("SELECT error FROM deliveries WHERE attempts = 1").first?.text(0)
            }
            guard let error else { return false }
            for secret in ["0123", "pass"] { #expect(!error.contains(secret), "\(error)") }
            return true
          }
        }
      }
    }

    // MARK: The clock

    @Test("a clock that was a year ahead leaves no webhook waiting for a year", arguments: DatabaseKind.all)
    func clockAhead(on kind: DatabaseKind) async throws {
      let receiver = try await WebhookReceiver { _, index in .status(index == 0 ? 500 : 200) }
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        service.clock.now = F.day(365)
        try await Self.running(Self.sender([service.app], entitlements)) {
          try await Self.eventually("it failed") {
            try await service.database.read { session in
              try !session.run("SELECT 1 FROM deliveries WHERE attempts = 1").isEmpty
            }
          }
          service.clock.now = F.day(0).addingSeconds(10)
          try await Self.eventually("it is delivered") { try await Self.waiting(service.database) == 0 }
        }
      }
      await receiver.close()
    }

    @Test("a lease that a clock made last for a year is taken over", arguments: DatabaseKind.all)
    func leaseOfTheFuture(on kind: DatabaseKind) async throws {
      let receiver = try await WebhookReceiver()
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        let queue = WebhookQueue(service.database)
        let leases = try await queue.lease(
          app: "shop", endpoint: "backend", at: F.day(365), for: .seconds(30), limit: 1)
        #expect(leases.count == 1)
        #expect(try await queue.correct(at: F.day(365).addingSeconds(-299)) == 0)
        try await Self.running(Self.sender([service.app], entitlements)) {
          try await Self.eventually("it is delivered") { try await Self.waiting(service.database) == 0 }
        }
        // The process whose clock was wrong is late.
        try await queue.end(leases[0], .failed("late"), at: service.clock.now, random: 0.5)
      }
      #expect(receiver.requests.count == 1)
      await receiver.close()
    }

    @Test(
      "the clock is checked at the start, when it was set back, once a minute, and again after a check that failed"
    )
    func checks() async {
      var check = ClockCheck()
      let start = ContinuousClock.now
      func isDue(_ wall: Double, _ steady: Double, succeeds: Bool = true) async -> Bool {
        var isDue = false
        await check.ifDue(at: F.day(0).addingSeconds(wall), start + .seconds(steady)) {
          isDue = true
          return succeeds
        }
        return isDue
      }
      #expect(await isDue(0, 0))
      #expect(await !isDue(1, 1))
      #expect(await !isDue(-298, 2))
      #expect(await !isDue(1_000_000, 3))
      #expect(await isDue(4, 4, succeeds: false))
      #expect(await isDue(4, 4))
      #expect(await !isDue(63, 63))
      #expect(await isDue(64, 64, succeeds: false))
      #expect(await isDue(64, 64))
    }
  }
#endif
