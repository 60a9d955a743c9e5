// SPDX-License-Identifier: Apache-2.0

#if Server
  import Entitlements
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import ReceiptVerification
  import Testing

  /// What the service's own ledger says about a receipt.
  @Suite struct LedgerCheckerTests {
    private typealias F = ServiceFixture

    private static func statement(
      _ receipt: VerifiedReceipt, _ entitlements: ServiceEntitlements, app: String = "shop"
    ) async throws -> CheckerResponse {
      let known = try await entitlements.knownPurchases(of: [receipt], app: app)
      let answer = await LedgerChecker(known: known, clock: entitlements.clock).check(receipt)
      guard case .response(let response) = answer else { throw Unanswered() }
      return response
    }

    private struct Unanswered: Error {}

    @Test("a purchase that the ledger does not know is unknown to it", arguments: DatabaseKind.all)
    func unknown(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let receipt = try service.receipt(F.period(1), day: 0)
        #expect(try await Self.statement(receipt, service.entitlements()) == CheckerResponse(.unknown))
      }
    }

    @Test("an old transaction has the standing of the renewal", arguments: DatabaseKind.all)
    func renewed(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let old = try service.receipt(F.period(1), day: 0)
        let renewal = F.period(2)
        try await entitlements.record(service.notification(.didRenew, day: 31, renewal), app: "shop")
        service.clock.now = F.day(40)
        let statement = try await Self.statement(old, entitlements)
        let standing = try #require(statement.purchases.first)
        #expect(statement.purchases.count == 1 && standing.status == .active)
        #expect(standing.source == .ledger && standing.expiresDate == renewal.expiresDate)
        #expect(standing.transactionId == F.period(1).transactionId)
        // Another app's ledger knows nothing.
        #expect(try await Self.statement(old, entitlements, app: "other") == CheckerResponse(.unknown))
      }
    }

    @Test("a receipt that is newer than the ledger keeps its own standing")
    func newer() async throws {
      try await withService(on: .sqlite) { service in
        let entitlements = service.entitlements()
        try await entitlements.record(service.notification(.subscribed, day: 0, F.period(1)), app: "shop")
        service.clock.now = F.day(40)
        let renewal = F.period(2)
        let statement = try await Self.statement(try service.receipt(renewal, day: 31), entitlements)
        #expect(statement.purchases.map(\.status) == [.active])
        #expect(statement.purchases.first?.expiresDate == renewal.expiresDate)
      }
    }

    @Test("a customer has one product of a subscription at a time: the former one is upgraded, or expired")
    func otherProduct() async throws {
      try await withService(on: .sqlite) { service in
        let entitlements = service.entitlements()
        let old = try service.receipt(F.period(1), day: 0)
        let upgrade = F.period(2) {
          $0.productId = "gold"
          $0.purchaseDate = F.day(10)
          $0.expiresDate = F.day(41)
        }
        try await entitlements.record(
          service.notification(.didChangeRenewalPref, day: 10, upgrade), app: "shop")
        service.clock.now = F.day(12)
        let statement = try await Self.statement(old, entitlements)
        #expect(statement.purchases.map(\.status) == [.upgraded])
        #expect(statement.purchases.first?.since == F.day(10))
      }
    }

    @Test("a refund is known after its customer was erased", arguments: DatabaseKind.all)
    func erased(on kind: DatabaseKind) async throws {
      try await withService(on: kind) { service in
        let entitlements = service.entitlements()
        let period = F.period(1) { $0.expiresDate = F.day(365) }
        let old = try service.receipt(period, day: 0)
        try await entitlements.record(service.notification(.subscribed, day: 0, period), app: "shop")
        service.clock.now = F.day(5)
        try await entitlements.record(service.notification(.refund, day: 5, period), app: "shop")
        #expect(try await Self.statement(old, entitlements).purchases.map(\.status) == [.refunded])
        try await entitlements.erase(app: "shop", customer: F.customer)
        #expect(try await Self.statement(old, service.entitlements()).purchases.map(\.status) == [.refunded])
      }
    }
  }
#endif
