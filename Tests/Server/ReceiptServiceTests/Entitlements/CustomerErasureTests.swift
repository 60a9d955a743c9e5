// SPDX-License-Identifier: Apache-2.0

#if Server
  import Entitlements
  import Foundation
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Synchronization
  import ReceiptVerification
  import Testing

  /// The facts that an erasure must leave: that a purchase was refunded, and the changes that concern other customers.
  @Suite(.timeLimit(.minutes(2))) struct CustomerErasureTests {
    private typealias F = ServiceFixture

    private static let endpoint = WebhookEndpoint(name: "backend", url: "https://example.com", secrets: [])

    private static func states(_ entitlements: ServiceEntitlements, _ clock: FixedClock) async throws
      -> [String]
    {
      try await entitlements.entitlements(app: "shop", identifier: "2000000001").compactMap {
        $0.ledger.entitlements.first?.state(at: clock.now).rawValue
      }
    }

    @Test(
      "a purchase that was refunded or revoked is so when it is presented after its customer was erased",
      arguments: DatabaseKind.all, [NotificationType.refund, .revoke])
    func refunded(on kind: DatabaseKind, by type: NotificationType) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let period = F.period(1) { $0.expiresDate = F.day(365) }
        let old = try service.receipt(period, day: 0)
        try await entitlements.record(service.notification(.subscribed, day: 0, period), app: "shop")
        service.clock.now = F.day(5)
        // The transaction in the notification does not say so itself: that is the harder case.
        let refund = try service.notification(type, day: 5, period)
        #expect(try await entitlements.record(refund, app: "shop"))
        let state = type == .refund ? "refunded" : "revoked"
        #expect(try await Self.states(entitlements, service.clock) == [state])
        try await entitlements.erase(app: "shop", customer: F.customer)
        #expect(try await entitlements.told() == [])
        for name in [F.customer, "2000001001", "2000000001"] {
          #expect(try !service.files().contains { $0.contains(Data(name.utf8)) }, "\(name)")
        }
        // By another process, which has nothing in memory.
        let other = service.entitlements()
        for _ in 0..<2 {
          try await other.merge(old, customer: F.customer, app: "shop")
          #expect(try await Self.states(other, service.clock) == [state])
          #expect(try await other.told() == ["entitlement.\(state)"])
        }
        #expect(try await !other.record(refund, app: "shop"))
        #expect(try await Self.states(other, service.clock) == [state])
        // Erased once more, it is still known.
        try await other.erase(app: "shop", customer: F.customer)
        try await other.merge(old, customer: F.customer, app: "shop")
        #expect(try await Self.states(other, service.clock) == [state])
        // A refund that is reversed gives access again.
        service.clock.now = F.day(6)
        try await other.record(service.notification(.refundReversed, day: 6, period), app: "shop")
        #expect(try await Self.states(other, service.clock) == ["active"])
      }
    }

    @Test(
      "what a refund alone says of a purchase outlives it, too, and of one app alone",
      arguments: DatabaseKind.all)
    func revokedTransaction(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let old = try service.receipt(F.period(1), day: 0)
        let revoked = try service.receipt(F.period(1) { $0.revocationDate = F.day(3) }, day: 4)
        service.clock.now = F.day(5)
        for receipt in [old, revoked] {
          try await entitlements.merge(receipt, customer: F.customer, app: "shop")
        }
        try await entitlements.erase(app: "shop", customer: F.customer)
        try await entitlements.merge(old, customer: F.customer, app: "shop")
        #expect(try await Self.states(entitlements, service.clock) == ["refunded"])
        try await entitlements.merge(old, customer: F.customer, app: "other")
        #expect(try await entitlements.told("other") == ["entitlement.granted"])
        // Another purchase of the customer is as good as before.
        let second = try service.receipt(F.period(1, line: 2), day: 0)
        try await entitlements.merge(second, customer: F.customer, app: "shop")
        try await entitlements.erase(app: "shop", customer: F.customer)
        try await entitlements.merge(second, customer: F.customer, app: "shop")
        #expect(try await entitlements.told() == ["entitlement.granted"])
        // A later purchase of the line is one of its own.
        service.clock.now = F.day(31)
        try await entitlements.merge(
          service.receipt(F.period(2), day: 31), customer: F.customer, app: "shop")
        #expect(try await Self.states(entitlements, service.clock) == ["active"])
      }
    }

    @Test("a voided purchase of Google Play stays voided", arguments: DatabaseKind.all)
    func voided(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let token = "a-purchase-token"
        service.clock.now = F.day(20)
        func ledger(_ facts: String) throws -> EntitlementLedger {
          try EntitlementLedger(
            decoding: Array(
              """
              {"version":2,"purchases":[],"playPurchases":[{"packageName":"com.example.app",\
              "purchaseToken":"\(token)","facts":\(facts)}]}
              """.utf8))
        }
        let purchase =
          #""purchase":{"asOf":1760000000000,"isSubscription":false,"state":"PURCHASED","items":[{"productId":"p"}],"orderId":"GPA.1","accountId":"alice"}"#
        let voided = #""voided":{"date":1760000001000,"orderId":"GPA.1"}"#
        try await entitlements.merge(ledger("{\(purchase),\(voided)}"), app: "shop")
        #expect(try await entitlements.told() == ["entitlement.refunded"])
        #expect(try await entitlements.erase(app: "shop", customer: "alice") == [token])
        try await entitlements.merge(ledger("{\(purchase)}"), app: "shop")
        #expect(try await entitlements.told() == ["entitlement.refunded"])
      }
    }

    @Test("an altered row keeps the purchase from being granted", arguments: DatabaseKind.all)
    func altered(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let old = try service.receipt(F.period(1), day: 0)
        try await entitlements.record(service.notification(.refund, day: 1, F.period(1)), app: "shop")
        try await entitlements.erase(app: "shop", customer: F.customer)
        try await service.database.write { session -> Void in
          try session.run("UPDATE withdrawals SET facts = $1", .bytes(Array(repeating: 7, count: 100)))
        }
        let error = await #expect(throws: DatabaseError.self) {
          try await entitlements.merge(old, customer: F.customer, app: "shop")
        }
        #expect(error?.code == .unusable)
        #expect(try await entitlements.told() == [])
      }
    }

    @Test(
      "a customer who has what an erased one had, or had what they have, is still told, without the name",
      arguments: DatabaseKind.all, [true, false])
    func transfers(on kind: DatabaseKind, isGiver: Bool) async throws {
      try await withService(on: kind, webhooks: [Self.endpoint]) { service in
        let entitlements = service.entitlements()
        let queue = WebhookQueue(service.database)
        let (alice, bob) = ("alice@example.com", "bob@example.com")
        let receipt = try service.receipt(F.period(1, customer: nil), day: 0)
        for customer in isGiver ? [alice, bob] : [bob, alice] {
          try await entitlements.merge(receipt, customer: customer, app: "shop")
        }
        try await entitlements.erase(app: "shop", customer: alice)
        let changes = try await entitlements.changes(app: "shop", after: 0)
        let transfer = try #require(changes.last)
        #expect(transfer.type == "entitlement.transferred")
        #expect(changes.map(\.customer) == (isGiver ? [bob] : [bob, nil]))
        let data = try JSONValue(parsing: transfer.body)["data"]
        #expect(data?["customer"]?.string == (isGiver ? bob : nil))
        #expect(data?["previous"]?["state"]?.string == "active")
        #expect(data?["previous"]?["customer"]?.string == (isGiver ? nil : bob))
        #expect(data?["entitlement"]?["originalTransactionId"]?.string == "2000000001")
        #expect(try !service.files().contains { $0.contains(Data(alice.utf8)) })
        // The remaining changes are delivered, in their order.
        var delivered: [String] = []
        while true {
          let leases = try await queue.lease(
            app: "shop", endpoint: "backend", at: service.clock.now, for: .seconds(30), limit: 10)
          if leases.isEmpty { break }
          for lease in leases {
            delivered.append(lease.change.id)
            try await queue.end(lease, .delivered, at: service.clock.now, random: 0.5)
          }
        }
        #expect(delivered == changes.map(\.id))
        #expect(
          try await service.database.read { try $0.run("SELECT 1 FROM lanes").isEmpty })
      }
    }

    @Test(
      "a transfer that waits for the erased customer's webhook waits no longer", arguments: DatabaseKind.all)
    func waitingTransfer(on kind: DatabaseKind) async throws {
      try await withService(on: kind, webhooks: [Self.endpoint]) { service in
        let entitlements = service.entitlements()
        let queue = WebhookQueue(service.database)
        let receipt = try service.receipt(F.period(1, customer: nil), day: 0)
        try await entitlements.merge(receipt, customer: "alice", app: "shop")
        let first = try #require(
          try await queue.lease(
            app: "shop", endpoint: "backend", at: service.clock.now, for: .seconds(30), limit: 10
          ).first)
        try await queue.end(
          first, .failed("HTTP 503", retryAfter: F.day(0.5)), at: service.clock.now, random: 0.5)
        try await entitlements.merge(receipt, customer: "bob", app: "shop")
        #expect(
          try await queue.lease(
            app: "shop", endpoint: "backend", at: service.clock.now, for: .seconds(30), limit: 10
          ).isEmpty)
        try await entitlements.erase(app: "shop", customer: "alice")
        let next = try await queue.lease(
          app: "shop", endpoint: "backend", at: service.clock.now, for: .seconds(30), limit: 10)
        #expect(next.map(\.change.customer) == ["bob"])
      }
    }

    @Test("erasing nobody rewrites nothing", arguments: DatabaseKind.all)
    func nobody(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        try await service.entitlements().record(
          service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        let database = FaultyDatabase(service.database)
        let entitlements = ServiceEntitlements(
          database: database, apps: [service.app], clock: service.clock.reading)
        #expect(try await entitlements.erase(app: "shop", customer: "nobody") == [])
        #expect(try await entitlements.erase(app: "other", customer: F.customer) == [])
        #expect(database.scrubbed.withLock { $0 } == [])
        #expect(try await entitlements.erase(app: "shop", customer: F.customer) == ["2000000001"])
        #expect(database.scrubbed.withLock { $0 } == [ServiceSchema.personalTables])
      }
    }

    @Test("the end of the changes stays known when the last ones are removed", arguments: DatabaseKind.all)
    func end(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        #expect(try await entitlements.endOfChanges(app: "shop") == 0)
        for line in 1...3 {
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: line, customer: "c\(line)")),
            app: "shop")
        }
        let end = try await entitlements.latestSequence(app: "shop")
        #expect(try await entitlements.endOfChanges(app: "shop") == end)
        try await entitlements.erase(app: "shop", customer: "c3")
        #expect(try await entitlements.latestSequence(app: "shop") < end)
        #expect(try await entitlements.endOfChanges(app: "shop") == end)
        #expect(try await entitlements.remove(before: F.day(30)) == 5)
        #expect(try await entitlements.latestSequence(app: "shop") == 0)
        #expect(try await entitlements.endOfChanges(app: "shop") == end)
        #expect(try await entitlements.endOfChanges(app: "other") == 0)
      }
    }
  }
#endif
