// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import Synchronization
import Testing

@Suite struct ReplayCheckerTests {
  /// A trail that is a list.
  private final class ListedTrail: AuditLookup {
    struct Unreachable: Error {}
    private let entries: Mutex<[(entry: RecordedEntry, customer: String?)]> = Mutex([])
    private let isReachable: Bool

    init(isReachable: Bool = true) { self.isReachable = isReachable }

    func append(_ records: [AuditRecord], erased: Bool = false) throws {
      try entries.withLock { entries in
        for record in records {
          let entry = try RecordedEntry(
            index: UInt64(entries.count), bytes: AuditEntry(record.facts).encoded())
          entries.append((entry, erased ? nil : record.customerToken))
        }
      }
    }

    func customer(at index: UInt64) async throws -> String? { entries.withLock { $0[Int(index)].customer } }

    func entries(_ question: ReplayQuestion, limit: Int) async throws -> [RecordedEntry] {
      guard isReachable else { throw Unreachable() }
      func matches(_ entry: AuditEntry) -> Bool {
        if question.scope?.mayContain(entry) == false { return false }
        switch question {
        case .receipt(let digest): return entry.receipt == digest
        case .consumable(.transaction(let name), _), .customer(.transaction(let name), _, _, _):
          return entry.transaction.map { Array($0.utf8) } == Array(name.utf8)
        case .consumable(.original(let name), _), .customer(.original(let name), _, _, _):
          return entry.original.map { Array($0.utf8) } == Array(name.utf8)
        }
      }
      let found = entries.withLock { $0.map(\.entry).filter { matches($0.entry) } }
      return Array(found.reversed().prefix(limit))
    }
  }

  private let trail = ListedTrail()

  /// Presents a receipt as a customer, and records the verdict.
  private func present(
    _ receipt: [UInt8], as customer: String? = nil, rules: Set<ReplayRule>, consumables: Set<String> = [],
    to trail: ListedTrail? = nil, erased: Bool = false, others: [any RemoteChecker] = [],
    environments: Set<ReceiptEnvironment.Category> = [.sandbox]
  ) async throws -> Verdict {
    let trail = trail ?? self.trail
    let verifier = try RecordingFixture.verifier { $0.environments = environments }
    let checker = ReplayChecker(trail, rules: rules, customer: customer, consumables: consumables)
    let verdict = await verifier.verify(receipt, checkers: [checker] + others)
    try trail.append(
      [AuditRecord](
        verdict, receipt: receipt, policy: verifier.policy, at: RecordingFixture.now,
        options: RecordingOptions(customer: customer)), erased: erased)
    return verdict
  }

  private func transaction(_ change: (inout JWSTransaction) -> Void = { _ in }) throws -> [UInt8] {
    Array(try TestReceipts().signedTransaction(change).utf8)
  }

  private func expectRefused(
    _ verdict: Verdict, _ message: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(verdict.reason?.code == .checkerRefused, sourceLocation: sourceLocation)
    #expect(verdict.reason?.place == "checker replay", sourceLocation: sourceLocation)
    #expect(verdict.reason?.message.contains(message) == true, sourceLocation: sourceLocation)
  }

  @Test func withoutRulesNothingIsAReplay() async throws {
    for _ in 0..<2 { #expect(try await present(transaction(), rules: []).receipt != nil) }
  }

  /// Of another source, which refuses whatever it is asked.
  private let refusing = FakeChecker(
    name: "store", answers: [.response(CheckerResponse(.refused(message: "unknown")))])

  @Test func aTransactionIsGrantedToOneCustomer() async throws {
    #expect(try await present(transaction(), as: "anna", rules: [.anotherCustomer]).receipt != nil)
    let verdict = try await present(transaction(), as: "bert", rules: [.anotherCustomer])
    expectRefused(verdict, "granted to another customer, in entry 0")
    #expect(verdict.reason?.message.contains("anna") == false)
    #expect(try await present(transaction(), as: "anna", rules: [.anotherCustomer]).receipt != nil)
  }

  @Test("a refused presentation does not make its customer the owner")
  func refusedCustomerIsNoOwner() async throws {
    let refused = try await present(transaction(), as: "bert", rules: [], others: [refusing])
    #expect(refused.reason?.place == "checker store")
    #expect(try await present(transaction(), as: "anna", rules: [.anotherCustomer]).receipt != nil)
    expectRefused(
      try await present(transaction(), as: "bert", rules: [.anotherCustomer]), "another customer, in entry 1")
    #expect(try await present(transaction(), as: "anna", rules: [.anotherCustomer]).receipt != nil)
  }

  @Test("a refused presentation is no grant, whatever the rule")
  func refusalIsNoGrant() async throws {
    let receipt = try transaction { $0.type = .consumable }
    let rules: Set<ReplayRule> = [.consumableAgain, .sameReceipt]
    _ = try await present(receipt, rules: [], others: [refusing])
    #expect(try await present(receipt, rules: rules).receipt != nil)
    expectRefused(try await present(receipt, rules: [.consumableAgain]), "granted before, in entry 1")
    expectRefused(try await present(receipt, rules: [.sameReceipt]), "accepted before, in entry 1")
  }

  @Test("customers whose names are only canonically equivalent are two customers")
  func composedAndDecomposedCustomers() async throws {
    let (composed, decomposed) = ("Ren\u{E9}", "Rene\u{301}")
    #expect(try await present(transaction(), as: composed, rules: [.anotherCustomer]).receipt != nil)
    expectRefused(
      try await present(transaction(), as: decomposed, rules: [.anotherCustomer]),
      "another customer, in entry 0")
    #expect(try await present(transaction(), as: composed, rules: [.anotherCustomer]).receipt != nil)
  }

  @Test("another spelling of a receipt that was accepted is refused")
  func respelledReceipts() async throws {
    let receipts = try TestReceipts()
    let jws = try transaction()
    let appReceipt = try receipts.appReceipt()
    let spellings = [
      (jws, try JWSSpellings.negated(jws)),
      (appReceipt, try AppReceiptSpelling(segmentLength: 100, isIndefinite: true).encode(appReceipt)),
    ]
    for (receipt, respelled) in spellings {
      #expect(try await present(receipt, rules: [.sameReceipt]).receipt != nil)
      #expect(try RecordingFixture.verifier().verify(respelled).receipt != nil)
      expectRefused(try await present(respelled, rules: [.sameReceipt]), "accepted before")
    }
  }

  @Test func aRenewalBelongsToTheSubscriptionsOwner() async throws {
    _ = try await present(transaction(), as: "anna", rules: [.anotherCustomer])
    let renewal = try transaction { $0.transactionId = "2000000002" }
    expectRefused(try await present(renewal, as: "bert", rules: [.anotherCustomer]), "transaction 2000000002")
    #expect(try await present(renewal, as: "anna", rules: [.anotherCustomer]).receipt != nil)
  }

  @Test func theCustomerIsThatOfTheReceiptUnlessGiven() async throws {
    let token = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"
    #expect(try await present(transaction(), rules: [.anotherCustomer]).receipt != nil)
    #expect(
      try await present(transaction(), as: token.uppercased(), rules: [.anotherCustomer]).receipt != nil)
    expectRefused(try await present(transaction(), as: "bert", rules: [.anotherCustomer]), "entry 0")
  }

  @Test func anErasedCustomerStandsInNobodysWay() async throws {
    _ = try await present(transaction(), as: "anna", rules: [.anotherCustomer], erased: true)
    #expect(try await present(transaction(), as: "bert", rules: [.anotherCustomer]).receipt != nil)
  }

  @Test func thePurchaseBelongsToItsFirstOwner() async throws {
    _ = try await present(transaction(), as: "anna", rules: [])
    _ = try await present(transaction(), as: "bert", rules: [])
    expectRefused(try await present(transaction(), as: "bert", rules: [.anotherCustomer]), "in entry 0")
    #expect(try await present(transaction(), as: "anna", rules: [.anotherCustomer]).receipt != nil)
  }

  @Test func aPurchaseInAnAppReceiptIsGrantedToOneCustomer() async throws {
    let receipt = try TestReceipts().appReceipt()
    #expect(try await present(receipt, as: "anna", rules: [.anotherCustomer]).receipt != nil)
    expectRefused(try await present(receipt, as: "bert", rules: [.anotherCustomer]), "in entry 1")
  }

  @Test func theSameReceiptIsAcceptedOnce() async throws {
    let receipt = try transaction()
    #expect(try await present(receipt, rules: [.sameReceipt]).receipt != nil)
    expectRefused(try await present(receipt, rules: [.sameReceipt]), "accepted before, in entry 0")
    expectRefused(try await present([0x0A] + receipt, rules: [.sameReceipt]), "accepted before, in entry 0")
    let signedAgain = try transaction { $0.signedDate = $0.signedDate?.addingSeconds(1) }
    #expect(try await present(signedAgain, rules: [.sameReceipt]).receipt != nil)
  }

  @Test func aConsumableIsGrantedOnceInWhateverReceipt() async throws {
    let receipt = try transaction { $0.type = .consumable }
    #expect(try await present(receipt, as: "anna", rules: [.consumableAgain]).receipt != nil)
    let signedAgain = try transaction {
      $0.type = .consumable
      $0.signedDate = $0.signedDate?.addingSeconds(1)
    }
    expectRefused(
      try await present(signedAgain, as: "anna", rules: [.consumableAgain]), "granted before, in entry 0")
    let next = try transaction {
      $0.type = .consumable
      $0.transactionId = "2000000009"
    }
    #expect(try await present(next, as: "anna", rules: [.consumableAgain]).receipt != nil)
  }

  // MARK: Other stores

  /// The same purchase as the store may sign it again: once acknowledged, its bytes are others.
  private func acknowledged(
    _ change: @escaping (inout GooglePlayPurchase) -> Void = { _ in }
  ) throws -> [UInt8] {
    try TestReceipts().googlePlayPurchase {
      $0.acknowledged = true
      change(&$0)
    }
  }

  /// Google Play states no environment.
  private func presentPlay(
    _ receipt: [UInt8], as customer: String? = nil, rules: Set<ReplayRule>
  ) async throws -> Verdict {
    try await present(
      receipt, as: customer, rules: rules, consumables: ["com.example.app.coins"],
      environments: [.production, .sandbox])
  }

  @Test("a consumable of Google Play is granted once, by its order or its purchase token")
  func consumableOfGooglePlay() async throws {
    let rules: Set<ReplayRule> = [.consumableAgain]
    let first = try TestReceipts().googlePlayPurchase()
    #expect(try await presentPlay(first, rules: rules).receipt != nil)
    expectRefused(try await presentPlay(acknowledged(), rules: rules), "granted before, in entry 0")
    expectRefused(try await presentPlay(acknowledged { $0.orderId = nil }, rules: rules), "in entry 0")
    expectRefused(try await presentPlay(acknowledged { $0.purchaseToken = nil }, rules: rules), "in entry 0")
    let next = try acknowledged {
      $0.orderId = "GPA.2"
      $0.purchaseToken = "other"
    }
    #expect(try await presentPlay(next, rules: rules).receipt != nil)
  }

  @Test("a test purchase without an order is granted once too")
  func consumableWithoutOrder() async throws {
    let receipt = try TestReceipts().googlePlayPurchase { $0.orderId = nil }
    #expect(try await presentPlay(receipt, rules: [.consumableAgain]).receipt != nil)
    let again = try acknowledged { $0.orderId = nil }
    expectRefused(try await presentPlay(again, rules: [.consumableAgain]), "granted before, in entry 0")
  }

  @Test("a purchase of Google Play belongs to its first customer")
  func customerOfGooglePlay() async throws {
    let receipt = try TestReceipts().googlePlayPurchase()
    #expect(try await presentPlay(receipt, rules: [.anotherCustomer]).receipt != nil)
    #expect(try await presentPlay(acknowledged(), as: "account-1", rules: [.anotherCustomer]).receipt != nil)
    expectRefused(
      try await presentPlay(acknowledged(), as: "bert", rules: [.anotherCustomer]),
      "another customer, in entry 0")
    let renewal = try acknowledged { $0.orderId = "GPA.1234-5678-9012-34567..0" }
    expectRefused(try await presentPlay(renewal, as: "bert", rules: [.anotherCustomer]), "another customer")
  }

  @Test("the same data is one receipt, however it is wrapped")
  func wrappedReceiptOfGooglePlay() async throws {
    let receipt = try TestReceipts().googlePlayPurchase()
    #expect(try await presentPlay(receipt, rules: [.sameReceipt]).receipt != nil)
    let members = try #require(try JSONValue(parsing: receipt).object)
    let wrapped = JSONValue.object([
      JSONMember(
        name: "transaction",
        value: .object(
          members.map { JSONMember(name: $0.name == "data" ? "receipt" : $0.name, value: $0.value) }))
    ]).encoded()
    expectRefused(try await presentPlay(wrapped, rules: [.sameReceipt]), "accepted before, in entry 0")
  }

  @Test func aConsumableOfHuaweiSaysSoItself() async throws {
    let receipt = try TestReceipts().huaweiPurchase { $0.kind = .consumable }
    let again = try TestReceipts().huaweiPurchase {
      $0.kind = .consumable
      $0.confirmed = 1
    }
    #expect(try await present(receipt, rules: [.consumableAgain]).receipt != nil)
    expectRefused(try await present(again, rules: [.consumableAgain]), "granted before, in entry 0")
    let subscription = try TestReceipts().huaweiPurchase {
      $0.orderId = "2"
      $0.purchaseToken = "2"
    }
    for _ in 0..<2 {
      #expect(try await present(subscription, rules: [.consumableAgain]).receipt != nil)
    }
  }

  @Test func aSubscriptionIsNoConsumable() async throws {
    for _ in 0..<2 { #expect(try await present(transaction(), rules: [.consumableAgain]).receipt != nil) }
  }

  @Test func aProductMayBeNamedAConsumable() async throws {
    let receipt = try transaction { $0.type = nil }
    let consumables: Set = [SampleReceipts.productId]
    #expect(try await present(receipt, rules: [.consumableAgain], consumables: consumables).receipt != nil)
    expectRefused(
      try await present(receipt, rules: [.consumableAgain], consumables: consumables), "consumable")
  }

  private func expectUndetermined(_ verdict: Verdict, sourceLocation: SourceLocation = #_sourceLocation) {
    guard case .undetermined(let receipt) = verdict else {
      Issue.record("not undetermined: \(verdict)", sourceLocation: sourceLocation)
      return
    }
    #expect(receipt.isRetryable, sourceLocation: sourceLocation)
    #expect(receipt.reason.code == .checkerUnavailable, sourceLocation: sourceLocation)
  }

  @Test func aTrailThatCannotBeAskedLeavesItUndetermined() async throws {
    expectUndetermined(
      try await present(transaction(), rules: [.sameReceipt], to: ListedTrail(isReachable: false)))
  }

  @Test("a grant may be behind more refusals than are looked at: then nothing is decided")
  func moreEntriesThanAreLookedAt() async throws {
    let receipt = try transaction { $0.type = .consumable }
    let refusal = AuditRecord(
      EntryFacts(time: 0, kind: .verdict, transaction: "2000000001", verdict: .invalid))
    func present() async throws -> Verdict { try await self.present(receipt, rules: [.consumableAgain]) }
    #expect(try await present().receipt != nil)
    try trail.append([AuditRecord](repeating: refusal, count: ReplayChecker.maximumEntryCount - 2))
    expectRefused(try await present(), "granted before, in entry 0")
    // The refusal above was recorded too: the trail has as many entries as the checker looks at, and then more, so that
    // it may not see the first one.
    for _ in 0..<2 {
      expectUndetermined(try await present())
      try trail.append([refusal])
    }
  }
}
