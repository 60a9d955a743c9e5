// SPDX-License-Identifier: Apache-2.0

#if Server
  import Entitlements
  import GooglePlay
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Testing

  /// The changes that are reported for Google Play purchases with several products, by their state at the time of the
  /// report.
  @Suite struct PlayChangeTests {
    private typealias F = ServiceFixture

    private static let id = PlayEntitlement.ID(packageName: "com.example.app", purchaseToken: "t1")

    private static func answer(_ change: (inout EntitlementLedger, PlayEntitlement.ID) -> Void) throws
      -> EntitlementLedger
    {
      var ledger = EntitlementLedger()
      change(&ledger, try #require(id))
      return ledger
    }

    private static func item(_ product: String, order: String, day: Double) -> PlaySubscriptionLineItem {
      PlaySubscriptionLineItem().with {
        $0.productId = product
        $0.expiryTime = F.day(day)
        $0.latestSuccessfulOrderId = order
      }
    }

    private static func products(_ body: [UInt8], _ member: String? = nil) throws -> [String?]? {
      let data = try JSONValue(parsing: body)["data"]
      return (member.map { data?[$0] } ?? data?["entitlement"])??["productIds"]?.array?.map(\.string)
    }

    @Test("add-ons that expire or are refunded are told while the base runs", arguments: DatabaseKind.all)
    func addOns(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        service.clock.now = F.day(0)
        try await entitlements.merge(
          Self.answer { ledger, id in
            ledger.apply(
              SubscriptionPurchaseV2().with {
                $0.subscriptionState = .active
                $0.lineItems = [
                  Self.item("refunded", order: "GPA.3", day: 30), Self.item("base", order: "GPA.1", day: 30),
                  Self.item("add-on", order: "GPA.2", day: 10),
                ]
              }, to: id, asOf: F.day(0))
          }, app: "shop")
        service.clock.now = F.day(5)
        try await entitlements.merge(
          Self.answer { ledger, _ in
            ledger.apply(
              VoidedPurchase().with {
                $0.purchaseToken = "t1"
                $0.orderId = "GPA.3"
                $0.voidedTimeMillis = F.day(5)
              }, packageName: "com.example.app")
          }, app: "shop")
        service.clock.now = F.day(10)
        #expect(try await entitlements.expireDue() == 1)
        service.clock.now = F.day(30)
        #expect(try await entitlements.expireDue() == 1)
        let changes = try await entitlements.changes(app: "shop", after: 0)
        #expect(
          changes.map(\.type) == [
            "entitlement.granted", "entitlement.updated", "entitlement.updated", "entitlement.expired",
          ])
        #expect(
          try changes.map { try Self.products($0.body) } == [
            ["refunded", "base", "add-on"], ["base", "add-on"], ["base"], ["refunded", "base", "add-on"],
          ])
        #expect(
          try changes.map { try Self.products($0.body, "previous") } == [
            nil, ["refunded", "base", "add-on"], ["base", "add-on"], ["base"],
          ])
      }
    }

    @Test("the store is asked about each item's renewal in its time", arguments: DatabaseKind.all)
    func renewals(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        // Google Play does not know yet of any renewal.
        @Sendable func answer(asOf day: Double) throws -> EntitlementLedger {
          try Self.answer { ledger, id in
            ledger.apply(
              SubscriptionPurchaseV2().with {
                $0.subscriptionState = .active
                $0.lineItems = [
                  Self.item("base", order: "GPA.1", day: 30), Self.item("add-on", order: "GPA.2", day: 300),
                ]
              }, to: id, asOf: F.day(day))
          }
        }
        service.clock.now = F.day(0)
        try await entitlements.merge(answer(asOf: 0), app: "shop")
        for (day, count) in [(29.0, 0), (31.5, 1), (33, 0), (299, 0), (301.5, 1), (303, 0)] {
          service.clock.now = F.day(day)
          let asked = try await entitlements.reconcile(app: "shop") { _, _ in try answer(asOf: day) }
          #expect(asked == count, "day \(day)")
        }
      }
    }

    @Test("the refund of a part of the quantity is told", arguments: DatabaseKind.all)
    func quantity(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        for (day, refundable) in [(0.0, Int64(3)), (1, 3), (2, 1), (3, 0)] {
          service.clock.now = F.day(day)
          try await entitlements.merge(
            Self.answer { ledger, id in
              ledger.apply(
                ProductPurchaseV2().with {
                  $0.orderId = "GPA.1"
                  $0.purchaseStateContext = PlayPurchaseStateContext().with { $0.purchaseState = .purchased }
                  $0.productLineItem = [
                    PlayProductLineItem().with {
                      $0.productId = "coins"
                      $0.productOfferDetails = PlayProductOfferDetails().with {
                        $0.quantity = 3
                        $0.refundableQuantity = refundable
                      }
                    }
                  ]
                }, to: id, asOf: F.day(day))
            }, app: "shop")
        }
        #expect(
          try await entitlements.told() == [
            "entitlement.granted", "entitlement.updated", "entitlement.refunded",
          ])
      }
    }
  }
#endif
