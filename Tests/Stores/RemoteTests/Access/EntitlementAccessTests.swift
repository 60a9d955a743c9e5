// SPDX-License-Identifier: Apache-2.0

@testable import Entitlements
import GooglePlay
import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// Named entitlements over purchases of both stores and grants by hand.
@Suite struct EntitlementAccessTests {
  private static let premium = NamedEntitlement(
    name: "premium", products: ["com.example.app.monthly", "pro:year"])
  private static let start = Timestamp(millisecondsSince1970: 1_800_000_000_000)

  private static func day(_ day: Double) -> Timestamp { start.addingSeconds(day * 86_400) }

  private static func appStore(
    _ id: String = "1", until end: Double, product: String = "com.example.app.monthly",
    _ change: (inout JWSTransaction) -> Void = { _ in }
  ) -> EntitlementLedger {
    var transaction = JWSTransaction()
    transaction.transactionId = id
    transaction.originalTransactionId = id
    transaction.productId = product
    transaction.purchaseDate = start
    transaction.expiresDate = day(end)
    transaction.type = .autoRenewableSubscription
    transaction.environment = .production
    change(&transaction)
    var ledger = EntitlementLedger()
    ledger.purchases.join(
      PurchaseLine(transaction: transaction, renewalInfo: nil, status: nil, signedDate: start),
      to: Entitlement.ID(
        environment: transaction.environment?.category ?? .production, bundleId: "com.example.app",
        originalTransactionId: id))
    return ledger
  }

  private static func googlePlay(
    until end: Double, plan: String = "year", isTest: Bool = false
  ) throws -> EntitlementLedger {
    var ledger = EntitlementLedger()
    let id = try #require(PlayEntitlement.ID(packageName: "com.example.app", purchaseToken: "token"))
    ledger.apply(
      SubscriptionPurchaseV2().with {
        $0.subscriptionState = .active
        $0.startTime = start
        if isTest { $0.testPurchase = EmptyObject() }
        $0.lineItems = [
          PlaySubscriptionLineItem().with {
            $0.productId = "pro"
            $0.expiryTime = day(end)
            $0.offerDetails = PlayOfferDetails().with { $0.basePlanId = plan }
          }
        ]
      }, to: id, asOf: start)
    return ledger
  }

  private static func grant(until end: Double?, _ name: String = "premium") -> EntitlementLedger {
    var fact = GrantFact(date: start, entitlement: name, customer: "ann", reason: "test")
    fact.expires = end.map { day($0) }
    return EntitlementLedger(granting: fact, id: EntitlementGrant.ID(identifier: "gr_1"))
  }

  private static func access(
    _ ledgers: EntitlementLedger..., at instant: Double, rules: EntitlementRules = EntitlementRules(),
    customer: String = "ann"
  ) throws -> EntitlementAccess {
    let ledger = ledgers.reduce(into: EntitlementLedger()) { $0.merge($1) }
    return try #require(ledger.access(to: [premium], of: customer, under: rules, at: day(instant)).first)
  }

  @Test("without anything the standing is none, and never active")
  func nothing() throws {
    let access = try Self.access(at: 1)
    #expect(access.standing == nil)
    #expect(!access.grantsAccess)
    #expect(access.reasons.isEmpty)
  }

  @Test("of what gives access, that which does so for longest decides")
  func longest() throws {
    let google = try Self.googlePlay(until: 20)
    let both = try Self.access(Self.appStore(until: 10), google, at: 5)
    #expect(both.until == Self.day(20))
    #expect(both.reasons.map(\.source) == [.googlePlay, .appStore])
    let granted = try Self.access(Self.appStore(until: 10), google, Self.grant(until: nil), at: 5)
    #expect(granted.until == nil)
    #expect(granted.reasons.first?.source == .grant)
  }

  @Test("when one of two ends, the other still gives access; when both did, that which ended last decides")
  func oneEnds() throws {
    let google = try Self.googlePlay(until: 20)
    let one = try Self.access(Self.appStore(until: 10), google, at: 15)
    #expect(one.grantsAccess)
    #expect(one.reasons.map(\.standing.status) == [.active, .expired])
    let none = try Self.access(Self.appStore(until: 10), google, at: 25)
    #expect(none.standing == .expired)
    #expect(none.since == Self.day(20))
  }

  @Test("a refund is told although an older purchase expired", arguments: [8.0, 12.0])
  func refund(instant: Double) throws {
    let refunded = Self.appStore("2", until: 30) { $0.revocationDate = Self.day(7) }
    let access = try Self.access(Self.appStore(until: 3), refunded, at: instant)
    #expect(access.standing == .refunded)
    #expect(access.since == Self.day(7))
  }

  @Test("a base plan that the entitlement does not name gives nothing, nor does a product of another name")
  func products() throws {
    #expect(try Self.access(Self.googlePlay(until: 20, plan: "month"), at: 1).standing == nil)
    #expect(try Self.access(Self.appStore(until: 20, product: "pro"), at: 1).standing == nil)
    #expect(try Self.access(Self.appStore(until: 20, product: "pro:year"), at: 1).standing == nil)
    #expect(try Self.access(Self.grant(until: 20, "pro"), at: 1).standing == nil)
  }

  @Test("a purchase in an environment that does not count gives nothing, and says so")
  func environments() throws {
    var rules = EntitlementRules()
    rules.environments = [.appStore: [.production], .googlePlay: [.production]]
    let sandbox = Self.appStore(until: 20) { $0.environment = .sandbox }
    for ledger in [sandbox, try Self.googlePlay(until: 20, isTest: true)] {
      #expect(try Self.access(ledger, at: 1).grantsAccess)
      let access = try Self.access(ledger, at: 1, rules: rules)
      #expect(!access.grantsAccess)
      #expect(access.standing == nil)
      #expect(access.reasons.map(\.ignored) == [.environment])
    }
    #expect(try Self.access(Self.grant(until: 20), at: 1, rules: rules).grantsAccess)
  }

  @Test("test purchases count for the named customers alone")
  func testCustomers() throws {
    var rules = EntitlementRules()
    rules.testCustomers = ["bob"]
    let google = try Self.googlePlay(until: 20, isTest: true)
    #expect(try Self.access(google, at: 1, rules: rules).reasons.map(\.ignored) == [.testCustomer])
    #expect(try Self.access(google, at: 1, rules: rules, customer: "bob").grantsAccess)
    #expect(try Self.access(Self.googlePlay(until: 20), at: 1, rules: rules).grantsAccess)
  }

  @Test("a purchase that the family shares counts unless the rules leave it out")
  func familySharing() throws {
    let shared = Self.appStore(until: 20) { $0.inAppOwnershipType = .familyShared }
    #expect(try Self.access(shared, at: 1).grantsAccess)
    var rules = EntitlementRules()
    rules.acceptsFamilySharing = false
    #expect(try Self.access(shared, at: 1, rules: rules).reasons.map(\.ignored) == [.familySharing])
  }

  @Test("a purchase that is ignored never hides one that counts")
  func ignoredIsLast() throws {
    var rules = EntitlementRules()
    rules.acceptsFamilySharing = false
    let shared = Self.appStore("2", until: 90) { $0.inAppOwnershipType = .familyShared }
    let access = try Self.access(shared, Self.appStore(until: 3), at: 5, rules: rules)
    #expect(access.standing == .expired)
    #expect(access.reasons.map(\.id) == ["1", "2"])
  }

  // MARK: Grants

  @Test("a grant is active until it ends or is withdrawn, whichever comes first")
  func grantStates() throws {
    var ledger = Self.grant(until: 10)
    let id = EntitlementGrant.ID(identifier: "gr_1")
    #expect(ledger.entitlementGrants.first?.state(at: Self.day(9)) == .active)
    #expect(ledger.entitlementGrants.first?.state(at: Self.day(10)) == .expired)
    ledger.merge(EntitlementLedger(withdrawing: GrantWithdrawalFact(date: Self.day(4)), id: id))
    ledger.merge(EntitlementLedger(withdrawing: GrantWithdrawalFact(date: Self.day(6)), id: id))
    let grant = try #require(ledger.entitlementGrants.first)
    #expect(grant.state(at: Self.day(3)) == .active)
    #expect(grant.state(at: Self.day(4)) == .withdrawn)
    #expect(grant.standing(at: Self.day(12)).status == .revoked)
    #expect(grant.standing(at: Self.day(3)).until == Self.day(4))
  }

  @Test("a ledger with grants is encoded and read, in any order of its facts, and earlier ones do not change")
  func encoding() throws {
    let id = EntitlementGrant.ID(identifier: "gr_1")
    let withdrawal = EntitlementLedger(withdrawing: GrantWithdrawalFact(date: Self.day(4)), id: id)
    var forwards = Self.grant(until: 10)
    forwards.merge(withdrawal)
    var backwards = withdrawal
    #expect(backwards.entitlementGrants.isEmpty)
    backwards.merge(Self.grant(until: 10))
    #expect(forwards == backwards)
    #expect(forwards.encoded() == backwards.encoded())
    #expect(try EntitlementLedger(decoding: forwards.encoded()) == forwards)
    #expect(try JSONValue(parsing: forwards.encoded())["version"]?.int64 == 4)
    #expect(try JSONValue(parsing: Self.appStore(until: 3).encoded())["version"]?.int64 == 1)
    #expect(throws: MalformedReceipt.self) {
      try EntitlementLedger(
        decoding: Array(#"{"version":4,"purchases":[],"grants":[{"grantId":""}]}"#.utf8))
    }
  }
}
