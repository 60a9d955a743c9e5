// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import Testing

/// Identifiers are unique within a store, an app and an environment: equal ones of two of these are two purchases.
@Suite struct PurchaseScopeTests {
  private static let apps = [SampleReceipts.bundleId, "com.example.other", "com.example.third"]
  private static let environments: [ReceiptEnvironment] = [.production, .sandbox, .xcode]

  private let fixture: TrailFixture
  private let log: AuditLog
  private let verifier: ReceiptVerifier

  init() throws {
    fixture = try TrailFixture()
    log = try fixture.create()
    let key = try TestKeys.app().publicKey
    verifier = try RecordingFixture.verifier {
      $0.bundleIds = .any
      $0.environments = [.production, .sandbox, .xcode]
      for app in Self.apps {
        for store in PurchaseStore.allCases { $0.appKeys.insert(AppKey(store, package: app, publicKey: key)) }
      }
    }
  }

  private func request(_ receipt: [UInt8], as customer: String?, _ rules: Set<ReplayRule>) -> GrantRequest {
    GrantRequest(
      verifier.verify(receipt), receipt: receipt, policyDigest: SHA256Digest(of: verifier.policy),
      at: RecordingFixture.now, rules: rules, consumables: ["gems"],
      options: RecordingOptions(customer: customer))
  }

  private func grant(
    _ receipt: [UInt8], as customer: String?, _ rules: Set<ReplayRule> = Set(ReplayRule.all)
  ) async throws -> GrantDecision {
    try #require(try await log.grant([request(receipt, as: customer, rules)]).first)
  }

  private func transaction(
    _ id: String, app: String = SampleReceipts.bundleId, _ environment: ReceiptEnvironment = .production,
    original: String? = nil, isConsumable: Bool = true, signed: Int = 0
  ) throws -> [UInt8] {
    Array(
      try TestReceipts().signedTransaction {
        $0.transactionId = id
        $0.originalTransactionId = original ?? id
        $0.bundleId = app
        $0.environment = environment
        $0.type = isConsumable ? .consumable : .nonConsumable
        $0.appAccountToken = nil
        $0.signedDate = SampleReceipts.signedAt.addingSeconds(-Double(signed))
      }.utf8)
  }

  @Test(
    "one identifier in production, in the sandbox and in another app: three purchases, of three customers")
  func threePurchases() async throws {
    let receipts = [
      (try transaction("70001"), "alice"), (try transaction("70001", .sandbox), "bob"),
      (try transaction("70001", app: Self.apps[1]), "carol"),
    ]
    for (receipt, customer) in receipts {
      let checker = ReplayChecker(log, rules: Set(ReplayRule.all), customer: customer)
      #expect(await verifier.verify(receipt, checkers: [checker]).receipt != nil, "\(customer)")
      let decision = try await grant(receipt, as: customer)
      #expect(decision.isGranted, "\(customer): \(decision.verdict.reason?.message ?? "")")
    }
    for (index, (receipt, _)) in receipts.enumerated() {
      for rule in [ReplayRule.anotherCustomer, .consumableAgain] {
        let decision = try await grant(receipt, as: "dave", [rule])
        #expect(!decision.isGranted)
        // Each is refused for its own entry, which states all three.
        #expect(decision.verdict.reason?.message.hasSuffix("in entry \(index).") == true)
        let checker = ReplayChecker(log, rules: [rule], customer: "dave")
        let verdict = await verifier.verify(receipt, checkers: [checker])
        #expect(verdict.reason?.message.hasSuffix("in entry \(index).") == true, "\(verdict)")
      }
    }
  }

  @Test("app receipts of Xcode of several apps, whose transactions are all 0, do not refuse each other")
  func xcode() async throws {
    for (app, customer) in zip(Self.apps, ["alice", "bob", "carol"]) {
      let receipt = try TestReceipts().appReceipt {
        $0.environment = .xcode
        $0.bundleId = app
        for index in $0.inAppPurchases.indices {
          $0.inAppPurchases[index].transactionId = "0"
          $0.inAppPurchases[index].originalTransactionId = nil
          $0.inAppPurchases[index].productType = .consumable
        }
      }
      let decision = try await grant(receipt, as: customer)
      #expect(decision.isGranted, "\(decision.verdict.reason?.message ?? "")")
    }
  }

  @Test("an entry that does not state its app or environment may be of any, and the refusal says so")
  func unstated() async throws {
    var record = TrailFixture.record(0, token: "alice")
    record.facts.transaction = "70001"
    record.facts.original = "70001"
    record.facts.bundle = nil
    record.facts.environment = nil
    record.facts.format = ReceiptKind.signedTransaction.rawValue
    try await log.append([record])
    for rule in [ReplayRule.anotherCustomer, .consumableAgain] {
      let decision = try await grant(transaction("70001", .sandbox), as: "bob", [rule])
      #expect(
        decision.verdict.reason?.message.hasSuffix(
          "in entry 0. The entry does not state its app or environment, so it may be of another one.")
          == true,
        "\(decision.verdict)")
    }
    // This entry does state its store, which is another one.
    record.facts.format = ReceiptKind.huaweiPurchase.rawValue
    record.facts.transaction = "70002"
    record.facts.original = "70002"
    record.facts.receipt = SHA256Digest(of: [1])
    try await log.append([record])
    #expect(try await grant(transaction("70002"), as: "bob").isGranted)
  }

  @Test("lookups go by the scope, page by page")
  func lookups() async throws {
    for (number, environment) in [ReceiptEnvironment.production, .sandbox, .production, .sandbox].enumerated()
    {
      _ = try await grant(transaction("7", environment, signed: number), as: "alice", [])
    }
    let receipt = try #require(verifier.verify(try transaction("7", .sandbox)).receipt)
    let scope = PurchaseScope(of: receipt)
    let found = try log.withView { view in
      [
        try view.entries(transaction: "7"), try view.entries(transaction: "7", in: scope),
        try view.entries(transaction: "7", in: scope, limit: 1),
        try view.history(original: "7", in: scope, before: 3, limit: 1),
      ].map { $0.map(\.index) }
    }
    #expect(found == [[3, 2, 1, 0], [3, 1], [3], [1]])
  }

  /// The expected grants, by a plain reading of the rules.
  private struct Model {
    struct Scope: Hashable {
      let store: Int
      let app: String
      let environment: String
    }
    struct Name: Hashable {
      let scope: Scope
      let name: String
    }
    var owners: [Name: String] = [:]
    var events: Set<Name> = []
    var lines: Set<Name> = []

    mutating func grants(_ purchase: Purchase, to customer: String?) -> Bool {
      let (event, line) = (
        Name(scope: purchase.scope, name: purchase.id), Name(scope: purchase.scope, name: purchase.line)
      )
      if let customer, let owner = owners[line], owner != customer { return false }
      if purchase.isConsumable {
        if events.contains(event) { return false }
        if purchase.scope.store > 0, lines.contains(line) { return false }
      }
      events.insert(event)
      lines.insert(line)
      if let customer, owners[line] == nil { owners[line] = customer }
      return true
    }
  }

  /// A purchase with few identifiers, so that they meet often.
  private struct Purchase {
    let scope: Model.Scope
    let id: String
    let line: String
    let isConsumable: Bool
    let environment: ReceiptEnvironment
    let signed: Int
  }

  private func randomPurchase(_ generator: inout some RandomNumberGenerator) -> Purchase {
    let store = Int.random(in: 0..<3, using: &generator)
    let environment = Self.environments[Int.random(in: 0..<3, using: &generator)]
    // Google states no environment, and Huawei has two.
    let stated =
      store == 0 ? environment.rawValue : store == 1 ? "" : environment == .sandbox ? "Sandbox" : "Production"
    return Purchase(
      scope: Model.Scope(
        store: store, app: Self.apps[Int.random(in: 0..<3, using: &generator)], environment: stated),
      id: "\(Int.random(in: 0..<3, using: &generator))", line: "\(Int.random(in: 0..<3, using: &generator))",
      isConsumable: Bool.random(using: &generator), environment: environment,
      signed: Int.random(in: 0..<3, using: &generator))
  }

  private func receipt(_ purchase: Purchase) throws -> [UInt8] {
    switch purchase.scope.store {
    case 0:
      return try transaction(
        purchase.id, app: purchase.scope.app, purchase.environment, original: purchase.line,
        isConsumable: purchase.isConsumable, signed: purchase.signed)
    case 1:
      return try TestReceipts().googlePlayPurchase {
        $0.packageName = purchase.scope.app
        $0.orderId = purchase.id
        $0.purchaseToken = purchase.line
        $0.productId = purchase.isConsumable ? "gems" : "badge"
        $0.obfuscatedAccountId = nil
        $0.acknowledged = purchase.signed > 0
        $0.quantity = Int64(1 + purchase.signed)
      }
    default:
      return try TestReceipts().huaweiPurchase {
        $0.packageName = purchase.scope.app
        $0.orderId = purchase.id
        $0.purchaseToken = purchase.line
        $0.kind = purchase.isConsumable ? .consumable : .nonConsumable
        $0.purchaseType = purchase.environment == .sandbox ? .sandbox : nil
        $0.confirmed = Int64(purchase.signed)
      }
    }
  }

  @Test(
    "random purchases of three apps, stores and environments are granted as a plain model says",
    arguments: UInt64(1)...4)
  func model(seed: UInt64) async throws {
    var generator = SplitMix(state: seed)
    var model = Model()
    let rules: Set<ReplayRule> = [.anotherCustomer, .consumableAgain]
    for step in 0..<60 {
      var requests: [GrantRequest] = []
      var expected: [Bool] = []
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let purchase = randomPurchase(&generator)
        let customer = ["alice", "bob", nil].randomElement(using: &generator) ?? nil
        requests.append(request(try receipt(purchase), as: customer, rules))
        expected.append(model.grants(purchase, to: customer))
      }
      let decisions = try await log.grant(requests)
      let reasons = decisions.map { $0.verdict.reason?.message ?? "granted" }
      #expect(decisions.map(\.isGranted) == expected, "step \(step): \(reasons)")
    }
  }

  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}

/// A purchase with thousands of entries, as an old subscriber's: the transaction that decides reads few of them.
@Suite struct LongHistoryTests {
  private let fixture: TrailFixture
  private let storage: ReadCountingStorage
  private let log: AuditLog

  init() throws {
    storage = ReadCountingStorage(MemoryStorage())
    fixture = try TrailFixture(storage: storage)
    log = try fixture.create()
  }

  private func request(
    _ number: Int, of transaction: String = "2000000001", as customer: String, _ rule: ReplayRule
  ) throws -> GrantRequest {
    let receipt = Array(
      try TestReceipts().signedTransaction {
        $0.transactionId = transaction
        $0.originalTransactionId = transaction
        $0.type = .consumable
        $0.appAccountToken = nil
        $0.signedDate = $0.signedDate?.addingSeconds(-Double(number))
      }.utf8)
    return GrantRequest(
      try RecordingFixture.verifier().verify(receipt), receipt: receipt,
      policyDigest: SHA256Digest(of: RecordingFixture.policy()), at: RecordingFixture.now, rules: [rule],
      options: RecordingOptions(customer: customer))
  }

  /// The app starts of customers, each with a receipt signed anew.
  private func appendStarts(
    _ numbers: Range<Int>, of customer: String?, _ verdict: RecordedVerdict = .valid,
    transaction: String = "2000000001"
  ) async throws {
    try await log.append(
      numbers.map { number in
        var record = TrailFixture.record(number, original: transaction, token: customer)
        record.facts.transaction = transaction
        record.facts.bundle = SampleReceipts.bundleId
        record.facts.environment = "Sandbox"
        record.facts.verdict = verdict
        return record
      })
  }

  @Test("its first customer owns it, and the transaction reads a bounded part of it")
  func owner() async throws {
    try await appendStarts(0..<1, of: "anna")
    try await appendStarts(1..<2000, of: "bert")
    storage.reset()
    let decisions = try await log.grant([
      request(0, as: "bert", .anotherCustomer), request(1, as: "anna", .anotherCustomer),
      request(2, as: "carl", .anotherCustomer),
    ])
    #expect(decisions.map(\.isGranted) == [false, true, false])
    #expect(decisions[0].verdict.reason?.message.contains("another customer, in entry 0") == true)
    // Two values an entry: all three would read 2,000 entries each while no other could write.
    #expect(storage.longestTransaction < 4000, "\(storage.longestTransaction)")
  }

  @Test("what was searched for one purchase says nothing of another")
  func otherPurchase() async throws {
    try await appendStarts(5000..<5001, of: "dora", transaction: "2000000002")
    try await appendStarts(0..<1, of: "anna")
    try await appendStarts(1..<700, of: "bert")
    let decisions = try await log.grant([
      request(0, as: "bert", .anotherCustomer),
      request(1, of: "2000000002", as: "erik", .anotherCustomer),
    ])
    #expect(decisions.map(\.isGranted) == [false, false])
    #expect(decisions[1].verdict.reason?.message.contains("another customer, in entry 0") == true)
  }

  @Test(
    "an owner who was erased stands in nobody's way, and a consumable is found behind any number of refusals")
  func erasedAndConsumable() async throws {
    try await appendStarts(0..<1, of: "anna")
    try await appendStarts(1..<700, of: nil, .invalid)
    #expect(try await !log.grant([request(0, as: "anna", .consumableAgain)])[0].isGranted)
    try await log.erase(entries: [0])
    #expect(try await log.grant([request(1, as: "bert", .anotherCustomer)])[0].isGranted)
    #expect(try await !log.grant([request(2, as: "anna", .anotherCustomer)])[0].isGranted)
  }
}
