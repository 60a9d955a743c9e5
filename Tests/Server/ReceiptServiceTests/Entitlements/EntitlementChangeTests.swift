// SPDX-License-Identifier: Apache-2.0

#if Server
  @testable import Entitlements
  import Foundation
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Testing

  /// The entitlement changes that are reported for genuinely signed notifications.
  @Suite struct EntitlementChangeTests {
    private typealias F = ServiceFixture

    private static let name = "sandbox com.example.app 2000000001"

    @Test("the life of a subscription is told step by step, and each step once", arguments: DatabaseKind.all)
    func life(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let refunded = F.period(3) { $0.revocationDate = F.day(65) }
        let steps: [(AppStoreNotification, [String])] = [
          (try service.notification(.subscribed, .initialBuy, day: 0, F.period(1)), ["entitlement.granted"]),
          (try service.notification(.didRenew, day: 30, F.period(2)), ["entitlement.renewed"]),
          (
            try service.notification(.didChangeRenewalStatus, .autoRenewDisabled, day: 31, F.period(2)) {
              $0.autoRenewStatus = .off
            }, ["entitlement.updated"]
          ),
          (
            try service.notification(.didFailToRenew, .gracePeriod, day: 60, F.period(2)) {
              $0.isInBillingRetryPeriod = true
              $0.gracePeriodExpiresDate = F.day(76)
            }, ["entitlement.grace-period"]
          ),
          (
            try service.notification(.didRenew, .billingRecovery, day: 61, F.period(3)),
            ["entitlement.renewed"]
          ),
          (try service.notification(.refund, day: 65, refunded), ["entitlement.refunded"]),
          (try service.notification(.refundReversed, day: 66, F.period(3)), ["entitlement.granted"]),
          (try service.notification(.test, day: 66), []),
        ]
        var expected: [String] = []
        for (notification, types) in steps {
          service.clock.now = max(service.clock.now, notification.signedDate ?? service.clock.now)
          #expect(try await entitlements.record(notification, app: "shop"))
          expected += types
          #expect(try await entitlements.told() == expected)
        }
        for (notification, _) in steps.reversed() {
          #expect(try await !entitlements.record(notification, app: "shop"))
        }
        #expect(try await entitlements.told() == expected)
        let history = try await entitlements.history(app: "shop", name: Self.name)
        #expect(history.map(\.type) == expected)
        #expect(Set(history.map(\.id)).count == expected.count)
        #expect(history.allSatisfy { $0.customer == F.customer && $0.id.hasPrefix("msg_") })
      }
    }

    @Test("a snapshot of an earlier build, which says less, differs only in what it says")
    func earlierSnapshots() throws {
      func snapshot(_ members: String) throws -> EntitlementSnapshot {
        try EntitlementSnapshot(stored: Array(#"{"state":"active","grantsAccess":true\#(members)}"#.utf8))
      }
      let old = try snapshot("")
      let renewing = try snapshot(#","period":"normal","renews":true"#)
      let lapsing = try snapshot(#","period":"normal","renews":false"#)
      let other = try snapshot(#","period":"normal","renews":true,"renewalProductId":"yearly""#)
      let expired = try EntitlementSnapshot(stored: Array(#"{"state":"expired","grantsAccess":false}"#.utf8))
      #expect(ChangeKind(from: old, to: renewing) == nil)
      #expect(ChangeKind(from: renewing, to: renewing) == nil)
      #expect(ChangeKind(from: renewing, to: lapsing) == .updated)
      #expect(ChangeKind(from: lapsing, to: renewing) == .updated)
      #expect(ChangeKind(from: renewing, to: other) == .updated)
      #expect(ChangeKind(from: old, to: expired) == .expired)
      #expect(ChangeKind(from: renewing, to: expired) == .expired)
    }

    @Test("a change is the payload that Standard Webhooks recommends", arguments: DatabaseKind.all)
    func payload(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        service.clock.now = F.day(30)
        try await entitlements.record(service.notification(.didRenew, day: 30, F.period(2)), app: "shop")
        let changes = try await entitlements.changes(app: "shop", after: 0)
        #expect(try JSONValue(parsing: changes[0].body)["data"]?["previous"] == nil)
        #expect(
          String(decoding: changes[1].body, as: UTF8.self) == """
            {"type":"entitlement.renewed","timestamp":"2025-10-31T07:09:10.000Z","data":{"app":"shop",\
            "customer":"\(F.customer)","entitlement":{"type":"entitlement","version":1,\
            "originalTransactionId":"2000000001","bundleId":"com.example.app","environment":"Sandbox",\
            "state":"active","grantsAccess":true,"productId":"com.example.app.monthly",\
            "transactionId":"2000001002","appAccountToken":"\(F.customer)",\
            "productType":"Auto-Renewable Subscription","purchaseDate":"2025-10-31T07:09:10.000Z",\
            "originalPurchaseDate":"2025-10-01T07:09:10.000Z",\
            "expiresDate":"2025-11-30T07:09:10.000Z","nextChangeDate":"2025-11-30T07:09:10.000Z",\
            "period":"normal","inAppOwnershipType":"PURCHASED","price":9990,"currency":"USD",\
            "storefront":"USA","renews":true,\
            "standing":"active","standingSince":"2025-10-31T07:09:10.000Z",\
            "standingUntil":"2025-11-30T07:09:10.000Z","standingSource":"ledger"},\
            "previous":{"state":"active","grantsAccess":true,"productId":"com.example.app.monthly",\
            "transactionId":"2000001001","expiresDate":"2025-10-31T07:09:10.000Z",\
            "period":"normal","renews":true,"customer":"\(F.customer)"}}}
            """)
        #expect(try await entitlements.changes(app: "shop", after: changes[0].sequence) == [changes[1]])
        #expect(try await entitlements.latestSequence(app: "shop") == changes[1].sequence)
      }
    }

    @Test("what comes late tells nothing that was overtaken", arguments: DatabaseKind.all)
    func reordered(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        service.clock.now = F.day(61)
        for (type, day, period) in [
          (NotificationType.didRenew, 60.0, 3), (.subscribed, 0, 1), (.didRenew, 30, 2),
        ] {
          try await entitlements.record(service.notification(type, day: day, F.period(period)), app: "shop")
        }
        #expect(try await entitlements.told() == ["entitlement.granted"])
        let ledger = try #require(
          try await entitlements.entitlements(app: "shop", identifier: "2000000001").first
        )
        .ledger
        #expect(ledger.entitlements.first?.transactionId == "2000001003")
      }
    }

    @Test(
      "time alone expires a subscription, and a renewal that comes late renews it",
      arguments: DatabaseKind.all)
    func timeDriven(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        service.clock.now = F.day(30).addingSeconds(-1)
        #expect(try await entitlements.expireDue() == 0)
        service.clock.now = F.day(30)
        #expect(try await entitlements.expireDue() == 1)
        #expect(try await entitlements.expireDue() == 0)
        #expect(try await entitlements.told() == ["entitlement.granted", "entitlement.expired"])
        // The store says the same a minute later, to a process whose clock is a minute slow.
        try await service.entitlements(FixedClock(F.day(30).addingSeconds(-60))).record(
          service.notification(.expired, .voluntary, day: 30, F.period(1)), app: "shop")
        #expect(try await entitlements.told().count == 2)
        service.clock.now = F.day(30.5)
        try await entitlements.record(service.notification(.didRenew, day: 30, F.period(2)), app: "shop")
        #expect(try await entitlements.told().last == "entitlement.renewed")
      }
    }

    @Test("folded at once by four, each notification yields its change once", arguments: DatabaseKind.all)
    func concurrent(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let notifications = try (1...20).map {
          try service.notification(.subscribed, day: 0, F.period(1, line: $0))
        }
        let processes = (0..<4).map { _ in service.entitlements() }
        let recorded = try await withThrowingTaskGroup(of: Int.self) { group in
          for process in processes {
            group.addTask {
              var count = 0
              for notification in notifications.shuffled()
              where try await process.record(notification, app: "shop") {
                count += 1
              }
              return count
            }
          }
          return try await group.reduce(0, +)
        }
        #expect(recorded == notifications.count)
        #expect(
          try await processes[0].told() == Array(repeating: "entitlement.granted", count: notifications.count)
        )
      }
    }

    @Test(
      "a purchase belongs to the customer whom it names, or else to who presented it last",
      arguments: DatabaseKind.all)
    func customers(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let named = try service.receipt(F.period(1, line: 1), day: 0)
        for _ in 0..<2 {
          await #expect(throws: PresentedByAnother.self) {
            try await entitlements.merge(named, customer: "somebody", app: "shop")
          }
          try await entitlements.merge(named, customer: F.customer.uppercased(), app: "shop")
        }
        let anonymous = try service.receipt(F.period(1, line: 2, customer: nil), day: 0)
        try await entitlements.merge(anonymous, customer: "first", app: "shop")
        try await entitlements.merge(anonymous, customer: nil, app: "shop")
        try await entitlements.merge(anonymous, customer: "first", app: "shop")
        #expect(try await entitlements.told() == ["entitlement.granted", "entitlement.granted"])
        try await entitlements.merge(anonymous, customer: "second", app: "shop")
        let transfer = try #require(try await entitlements.changes(app: "shop", after: 2).first)
        #expect(transfer.type == "entitlement.transferred")
        #expect(transfer.customer == "second")
        #expect(try JSONValue(parsing: transfer.body)["data"]?["previous"]?["customer"]?.string == "first")
        #expect(try await entitlements.entitlements(app: "shop", customer: "somebody").isEmpty)
        #expect(try await entitlements.entitlements(app: "shop", customer: "first").isEmpty)
        for customer in ["second", F.customer, F.customer.uppercased()] {
          #expect(try await entitlements.entitlements(app: "shop", customer: customer).count == 1)
        }
        // A notification keeps the customer.
        service.clock.now = F.day(30)
        try await entitlements.record(
          service.notification(.didRenew, day: 30, F.period(2, line: 2, customer: nil)), app: "shop")
        #expect(try await entitlements.changes(app: "shop", after: 3).map(\.customer) == ["second"])
      }
    }

    @Test("other kinds of receipts are refused", arguments: DatabaseKind.all)
    func wrongKind(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let notification = try service.notification(.subscribed, day: 0, F.period(1))
        await #expect(throws: EntitlementError.self) {
          try await service.entitlements().merge(notification.receipt, customer: nil, app: "shop")
        }
      }
    }

    @Test("apps do not see each other", arguments: DatabaseKind.all)
    func apps(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let notification = try service.notification(.subscribed, day: 0, F.period(1))
        #expect(try await entitlements.record(notification, app: "shop"))
        #expect(try await entitlements.told("other") == [])
        #expect(try await entitlements.entitlements(app: "other", customer: F.customer).isEmpty)
        #expect(try await entitlements.entitlements(app: "other", identifier: "2000000001").isEmpty)
        #expect(try await entitlements.record(notification, app: "other"))
        #expect(try await entitlements.told("other") == ["entitlement.granted"])
        _ = try await entitlements.erase(app: "other", customer: F.customer)
        #expect(try await entitlements.told("other") == [])
        #expect(try await entitlements.told() == ["entitlement.granted"])
      }
    }

    @Test("nothing of an erased customer is in the files of the database", arguments: DatabaseKind.all)
    func erasure(on kind: DatabaseKind) async throws {
      let endpoint = WebhookEndpoint(name: "backend", url: "https://example.com", secrets: [])
      try await withService(on: kind, webhooks: [endpoint]) { service in
        let entitlements = service.entitlements()
        let other = "00000000-0000-4000-8000-000000000001"
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        try await entitlements.record(
          service.notification(.subscribed, day: 0, F.period(1, line: 2, customer: other)), app: "shop")
        // This one was the customer's, and is another's now.
        let anonymous = try service.receipt(F.period(1, line: 3, customer: nil), day: 0)
        try await entitlements.merge(anonymous, customer: F.customer, app: "shop")
        try await entitlements.merge(anonymous, customer: other, app: "shop")
        #expect(try service.files().contains { $0.contains(Data(F.customer.utf8)) })
        #expect(
          try await entitlements.erase(app: "shop", customer: F.customer.uppercased()) == ["2000000001"])
        #expect(try !service.files().contains { $0.contains(Data(F.customer.utf8)) })
        #expect(try await entitlements.entitlements(app: "shop", customer: other).count == 2)
        // The other customer is still told that the third purchase is theirs now.
        let changes = try await entitlements.changes(app: "shop", after: 0)
        #expect(changes.map(\.customer) == [other, other])
        #expect(changes.map(\.type) == ["entitlement.granted", "entitlement.transferred"])
        let count = try await service.database.read { session in
          try session.run("SELECT count(*) FROM deliveries").first?.integer(0)
        }
        #expect(count == 2)
      }
    }

    @Test(
      "a store is asked about a renewal that was due without a word, once, and its answer is told",
      arguments: DatabaseKind.all)
    func reconciliation(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        let renewed = try service.receipt(F.period(2), day: 30)
        let ask = { @Sendable (app: String, entitlement: StoredEntitlement) -> EntitlementLedger? in
          #expect(app == "shop")
          #expect(entitlement.identifier == "2000000001")
          var answer = EntitlementLedger()
          try answer.apply(transaction: renewed)
          return answer
        }
        service.clock.now = F.day(30.9)
        #expect(try await entitlements.reconcile(app: "shop", ask) == 0)
        service.clock.now = F.day(31)
        struct Unreachable: Error {}
        #expect(try await entitlements.reconcile(app: "shop") { _, _ in throw Unreachable() } == 1)
        #expect(try await entitlements.reconcile(app: "shop", ask) == 0, "it is left alone for an hour")
        service.clock.now = F.day(31.1)
        #expect(try await entitlements.reconcile(app: "shop", ask) == 1)
        #expect(try await entitlements.told() == ["entitlement.granted", "entitlement.renewed"])
        service.clock.now = F.day(60.5)
        #expect(try await entitlements.reconcile(app: "shop", ask) == 0)
        // The store knows no later period: it is not asked again.
        service.clock.now = F.day(61.5)
        #expect(try await entitlements.reconcile(app: "shop", ask) == 1)
        service.clock.now = F.day(100)
        #expect(try await entitlements.reconcile(app: "shop", ask) == 0)
      }
    }

    @Test(
      "withdrawn consent is told, and erased with the customer whom a purchase names",
      arguments: DatabaseKind.all)
    func consent(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        try await entitlements.record(
          service.notification(.subscribed, day: 0, F.period(1) { $0.appTransactionId = "700" }), app: "shop")
        var consent = EntitlementLedger()
        consent = try EntitlementLedger(
          decoding: Array(
            """
            {"version":1,"purchases":[],"rescindedConsents":[{"environment":"sandbox",\
            "bundleId":"com.example.app","appTransactionId":"700","fact":{"signedDate":1760000000000}}]}
            """.utf8))
        #expect(try await entitlements.merge(consent, app: "shop") == 1)
        #expect(try await entitlements.merge(consent, app: "shop") == 0)
        let change = try #require(try await entitlements.changes(app: "shop", after: 1).first)
        #expect(change.type == "consent.rescinded")
        #expect(
          try JSONValue(parsing: change.body)["data"]?["entitlement"]?["appTransactionId"]?.string == "700")
        _ = try await entitlements.erase(app: "shop", customer: F.customer)
        #expect(try await entitlements.told() == [])
        #expect(try await entitlements.entitlements(app: "shop", identifier: "700").isEmpty)
      }
    }
  }
#endif
