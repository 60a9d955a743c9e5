// SPDX-License-Identifier: Apache-2.0

#if Server
  import Entitlements
  import Logging
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import ReceiptVerification
  import ServiceLifecycle
  import Testing

  /// The removal of old rows, and the rows that are never removed.
  @Suite(.timeLimit(.minutes(1))) struct RetentionTests {
    private typealias F = ServiceFixture

    private static let endpoint = WebhookEndpoint(
      name: "backend", url: "https://backend.example/", secrets: [[UInt8](repeating: 1, count: 32)])

    /// A subscription of each of three customers, bought on three days.
    private static func buy(_ service: ServiceFixture) async throws -> ServiceEntitlements {
      let entitlements = service.entitlements()
      for (line, day) in [(1, 0.0), (2, 10), (3, 60)] {
        service.clock.now = F.day(day)
        let period = F.period(1, line: line, customer: "customer-\(line)") {
          $0.purchaseDate = F.day(day)
          $0.expiresDate = F.day(day + 300)
        }
        try await entitlements.record(
          service.notification(.subscribed, .initialBuy, day: day, period), app: "shop")
      }
      return entitlements
    }

    private static func notificationCount(_ service: ServiceFixture) async throws -> Int64? {
      try await service.database.read { try $0.run("SELECT count(*) FROM notifications").first?.integer(0) }
    }

    @Test(
      "what is older is removed, entitlements stay, and nothing is told again", arguments: DatabaseKind.all)
    func old(kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = try await Self.buy(service)
        #expect(try await entitlements.remove(before: F.day(0)) == 0)
        // A notification and a change of each.
        #expect(try await entitlements.remove(before: F.day(30)) == 4)
        #expect(try await entitlements.remove(before: F.day(30)) == 0)
        #expect(try await Self.notificationCount(service) == 1)
        let left = try await entitlements.changes(app: "shop", after: 0, limit: 10)
        #expect(left.map(\.customer) == ["customer-3"])
        for line in 1...3 {
          #expect(
            try await entitlements.entitlements(app: "shop", customer: "customer-\(line)").count == 1)
        }
        // A sequence is not used again.
        let last = try #require(left.last).sequence
        #expect(last == 3)
        try await entitlements.remove(before: F.day(100))
        service.clock.now = F.day(101)
        try await entitlements.record(
          service.notification(.subscribed, .initialBuy, day: 101, F.period(1, line: 4)), app: "shop")
        #expect(try await entitlements.changes(app: "shop", after: last, limit: 10).map(\.sequence) == [4])
      }
    }

    @Test("a transaction removes no more than it may", arguments: DatabaseKind.all)
    func limit(kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = try await Self.buy(service)
        var counts: [Int] = []
        repeat {
          counts.append(try await entitlements.remove(before: F.day(100), limit: 1))
        } while counts.last != 0
        #expect(counts == [2, 2, 2, 0])
      }
    }

    @Test("a change stays as long as a webhook waits for it, or is dead", arguments: DatabaseKind.all)
    func deliveries(kind: DatabaseKind) async throws {
      try await withService(on: kind, webhooks: [Self.endpoint]) { service in
        let entitlements = try await Self.buy(service)
        let queue = WebhookQueue(service.database)
        let now = F.day(90)
        let leases = try await queue.lease(
          app: "shop", endpoint: "backend", at: now, for: .seconds(30), limit: 10)
        #expect(leases.count == 3)
        for lease in leases {
          switch lease.change.customer {
          case "customer-1": try await queue.end(lease, .delivered, at: now, random: 0)
          case "customer-2": try await queue.end(lease, .dead("HTTP 410"), at: now, random: 0)
          default: try await queue.end(lease, .failed("HTTP 500"), at: now, random: 0)
          }
        }
        // It is known when each was told, or will be.
        func states() async throws -> [WebhookQueue.Delivery?] {
          var states: [WebhookQueue.Delivery?] = []
          for customer in 1...3 {
            let changes = try await queue.changes(app: "shop", customer: "customer-\(customer)", limit: 10)
            let found = try await queue.deliveries(of: changes, app: "shop")
            states.append(changes.first.flatMap { found[$0.sequence]?["backend"] })
          }
          return states
        }
        let due = now.addingSeconds(WebhookQueue.delays[0] * 0.9)
        #expect(
          try await states() == [
            .delivered(now), .dead(attempts: 1, error: "HTTP 410"),
            .waiting(attempts: 1, error: "HTTP 500", next: due),
          ])
        // Three notifications, and the change that was delivered.
        #expect(try await entitlements.remove(before: now) == 4)
        #expect(try await states()[0] == nil)
        #expect(
          try await service.database.read { try $0.run("SELECT count(*) FROM delivered").first?.integer(0) }
            == 0)
        #expect(try await entitlements.remove(before: now) == 0)
        let dead = try await queue.deadLetters(app: "shop", endpoint: "backend")
        #expect(dead.map(\.change.customer) == ["customer-2"])
        #expect(try await queue.counts(app: "shop")["backend"]?.waiting == 1)
        // Once a change is delivered, it is removed too.
        #expect(try await queue.replay(app: "shop", endpoint: "backend", at: now) == 1)
        let again = try await queue.lease(
          app: "shop", endpoint: "backend", at: now.addingSeconds(3600), for: .seconds(30), limit: 10)
        for lease in again { try await queue.end(lease, .delivered, at: now.addingSeconds(3600), random: 0) }
        #expect(again.count == 2)
        let told = now.addingSeconds(3600)
        #expect(try await states().dropFirst() == [.delivered(told), .delivered(told)])
        #expect(try await entitlements.remove(before: now) == 2)
      }
    }

    @Test(
      "old deliveries to an endpoint that is not in the configuration any more are removed",
      arguments: DatabaseKind.all)
    func formerEndpoint(kind: DatabaseKind) async throws {
      try await withService(on: kind, webhooks: [Self.endpoint]) { service in
        let entitlements = try await Self.buy(service)
        let backend = EndpointName(app: "shop", endpoint: "backend")
        let queue = WebhookQueue(service.database)
        let before = F.day(30)
        #expect(try await entitlements.removeDeliveries(except: [backend], before: before).isEmpty)
        #expect(try await queue.counts(app: "shop")["backend"]?.waiting == 3)
        let other = EndpointName(app: "other", endpoint: "backend")
        #expect(try await entitlements.removeDeliveries(except: [other], before: before) == [backend: 2])
        #expect(try await entitlements.removeDeliveries(except: [other], before: before).isEmpty)
        // Their notifications and changes go as well; what is not old is delivered when the endpoint comes back.
        #expect(try await entitlements.remove(before: before) == 4)
        let leases = try await queue.lease(
          app: "shop", endpoint: "backend", at: F.day(90), for: .seconds(30), limit: 10)
        #expect(leases.map(\.change.customer) == ["customer-3"])
      }
    }

    @Test("the job removes what is older than its days", arguments: DatabaseKind.all)
    func job(kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = try await Self.buy(service)
        service.clock.now = F.day(75)
        let job = RetentionJob(
          entitlements: entitlements, apps: [service.app], days: 30, logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await job.run() }
          while try await Self.notificationCount(service) != 1 {
            try await Task.sleep(for: .milliseconds(10))
          }
          group.cancelAll()
        }
        #expect(
          try await entitlements.changes(app: "shop", after: 0, limit: 10).map(\.customer) == ["customer-3"])
      }
    }

    @Test("fewer days than stores repeat notifications for are refused", arguments: [-1, 1, 29])
    func fewDays(days: Int) async throws {
      try await withService(on: .sqlite) { service in
        var configuration = ServiceConfiguration(apps: [service.app])
        configuration.retentionDays = days
        #expect {
          try ReceiptAPI(configuration, database: service.database)
        } throws: {
          ($0 as? ServiceConfigurationError)?.setting == "retention.days"
        }
        for allowed in [0, 30, 365] {
          configuration.retentionDays = allowed
          _ = try ReceiptAPI(configuration, database: service.database)
        }
      }
    }
  }
#endif
