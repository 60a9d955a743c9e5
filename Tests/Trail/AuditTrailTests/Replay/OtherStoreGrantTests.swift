// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import Testing

/// A purchase of another store is granted once: the store signs it anew whenever it changes, so that order and purchase
/// token tell, not the bytes.
@Suite struct OtherStoreGrantTests {
  private static let otherApp = "com.example.other"

  private let log: AuditLog
  private let receipts: TestReceipts
  private let verifier: ReceiptVerifier

  init() throws {
    log = try TrailFixture().create()
    receipts = try TestReceipts()
    let key = try TestKeys.app().publicKey
    verifier = try RecordingFixture.verifier {
      $0.bundleIds = .oneOf([SampleReceipts.bundleId, Self.otherApp])
      // Google Play states no environment.
      $0.environments = [.production, .sandbox]
      for store in PurchaseStore.allCases {
        $0.appKeys.insert(AppKey(store, package: Self.otherApp, publicKey: key))
      }
    }
  }

  private func request(
    _ receipt: [UInt8], _ rules: Set<ReplayRule>, as customer: String? = nil
  ) -> GrantRequest {
    GrantRequest(
      verifier.verify(receipt), receipt: receipt, policyDigest: SHA256Digest(of: verifier.policy),
      at: RecordingFixture.now, rules: rules, consumables: ["com.example.app.coins"],
      options: RecordingOptions(customer: customer))
  }

  private func grant(
    _ receipt: [UInt8], _ rules: Set<ReplayRule> = [.consumableAgain], as customer: String? = nil
  ) async throws -> GrantDecision {
    try #require(try await log.grant([request(receipt, rules, as: customer)]).first)
  }

  private func expectReplay(
    _ decision: GrantDecision, _ message: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let reason = decision.verdict.reason
    #expect(reason?.code == .checkerRefused, sourceLocation: sourceLocation)
    #expect(reason?.place == "checker replay", sourceLocation: sourceLocation)
    #expect(reason?.message.contains(message) == true, "\(reason as Any)", sourceLocation: sourceLocation)
  }

  /// The consumable as Google Play signs it once it is acknowledged.
  private func playPurchase(_ change: (inout GooglePlayPurchase) -> Void = { _ in }) throws -> [UInt8] {
    try receipts.googlePlayPurchase {
      $0.acknowledged = true
      change(&$0)
    }
  }

  /// A consumable as Huawei signs it once it is confirmed.
  private func huaweiPurchase(_ change: (inout HuaweiPurchase) -> Void = { _ in }) throws -> [UInt8] {
    try receipts.huaweiPurchase {
      $0.kind = .consumable
      $0.confirmed = 1
      change(&$0)
    }
  }

  @Test("a consumable of Google Play is granted once: its order and its purchase token each tell a replay")
  func googlePlay() async throws {
    let order = "GPA.1234-5678-9012-34567"
    let token = try #require(SampleReceipts.googlePlayPurchase.purchaseToken)
    let first = try await grant(receipts.googlePlayPurchase())
    #expect(first.isGranted)
    let found = try log.withView { view in
      [try view.entries(transaction: order), try view.history(original: token)].map { $0.map(\.index) }
    }
    #expect(found == [[0], [0]])
    expectReplay(try await grant(playPurchase()), "of transaction \(order) was granted before, in entry 0")
    expectReplay(
      try await grant(playPurchase { $0.purchaseToken = "other" }), "\(order) was granted before, in entry 0")
    expectReplay(
      try await grant(playPurchase { $0.orderId = "GPA.2" }), "\(token) was granted before, in entry 0")
    expectReplay(
      try await grant(playPurchase { $0.orderId = nil }), "\(token) was granted before, in entry 0")
    // A refused grant uses nothing up: neither the order nor the token that came with a known one.
    let next = try playPurchase {
      $0.orderId = "GPA.2"
      $0.purchaseToken = "other"
    }
    #expect(try await grant(next).isGranted)
  }

  @Test("a test purchase without an order is entered by its purchase token, and granted once")
  func withoutOrder() async throws {
    let token = try #require(SampleReceipts.googlePlayPurchase.purchaseToken)
    #expect(try await grant(playPurchase { $0.orderId = nil }).isGranted)
    #expect(try log.withView { try $0.entries(transaction: token).map(\.index) } == [0])
    expectReplay(
      try await grant(playPurchase { $0.orderId = nil }), "\(token) was granted before, in entry 0")
  }

  @Test("a consumable of Huawei is granted once: its order and its purchase token each tell a replay")
  func huawei() async throws {
    let (order, token) = ("20251001150910000example.100000001", "0000019example.1.100000001")
    #expect(try await grant(receipts.huaweiPurchase { $0.kind = .consumable }).isGranted)
    let found = try log.withView { view in
      [try view.entries(transaction: order), try view.history(original: token)].map { $0.map(\.index) }
    }
    #expect(found == [[0], [0]])
    expectReplay(try await grant(huaweiPurchase()), "of transaction \(order) was granted before, in entry 0")
    expectReplay(
      try await grant(huaweiPurchase { $0.purchaseToken = "other" }), "\(order) was granted before")
    expectReplay(
      try await grant(huaweiPurchase { $0.orderId = "2" }), "\(token) was granted before, in entry 0")
    let next = try huaweiPurchase {
      $0.orderId = "2"
      $0.purchaseToken = "other"
    }
    #expect(try await grant(next).isGranted)
  }

  @Test("an order of several products is entered with each of them, once, and granted once")
  func severalProducts() async throws {
    func order(_ acknowledged: Bool) throws -> [UInt8] {
      try playPurchase {
        $0.acknowledged = acknowledged
        $0.productId = nil
        $0.productIds = ["com.example.app.coins", "com.example.app.badge"]
      }
    }
    let rules: Set<ReplayRule> = [.anotherCustomer, .consumableAgain]
    let first = try await grant(order(false), rules, as: "anna")
    #expect(first.isGranted && first.acknowledgements.map(\.index) == [0, 1, 2])
    let token = try #require(SampleReceipts.googlePlayPurchase.purchaseToken)
    let (line, badges) = try log.withView { view in
      (try view.history(original: token), try view.entries(product: "com.example.app.badge"))
    }
    #expect(line.map(\.index) == [2, 1] && badges.map(\.index) == [2])
    #expect(line.map { $0.entry.product } == ["com.example.app.badge", "com.example.app.coins"])
    let again = try await log.append(
      [AuditRecord](
        verifier.verify(order(false)), receipt: order(false), policy: verifier.policy,
        at: RecordingFixture.now))
    #expect(again.map(\.index) == [0, 1, 2] && again.allSatisfy(\.isRepeat))
    expectReplay(try await grant(order(true), rules, as: "anna"), "was granted before, in entry")
    expectReplay(try await grant(order(true), [.anotherCustomer], as: "bert"), "another customer, in entry 1")
  }

  @Test("identifiers that are canonically equivalent name two purchases, each of which is asked about")
  func lookAlikes() {
    let (composed, decomposed) = ("GPA.\u{E9}", "GPA.e\u{301}")
    #expect(composed == decomposed)
    let purchases: Set<ReplayQuestion.Purchase> = [
      .original(composed), .original(decomposed), .transaction(composed), .transaction(decomposed),
    ]
    #expect(purchases.count == 4)
  }

  @Test("a purchase of another app, with an order and a purchase token of its own, is no replay")
  func otherApp() async throws {
    #expect(try await grant(receipts.googlePlayPurchase()).isGranted)
    #expect(try await grant(huaweiPurchase()).isGranted)
    let others = [
      try playPurchase {
        $0.packageName = Self.otherApp
        $0.orderId = "GPA.9"
        $0.purchaseToken = "token of another app"
      },
      try huaweiPurchase {
        $0.packageName = Self.otherApp
        $0.orderId = "9"
        $0.purchaseToken = "another token of another app"
      },
    ]
    for receipt in others {
      #expect(try await grant(receipt, Set(ReplayRule.all), as: "bert").isGranted)
      expectReplay(try await grant(receipt), "was granted before")
    }
  }

  @Test("of one purchase in several receipts of one call one is granted")
  func oneCall() async throws {
    let same = [
      try receipts.googlePlayPurchase(), try playPurchase(), try playPurchase { $0.orderId = nil },
      try playPurchase { $0.purchaseToken = nil },
    ]
    let decisions = try await log.grant(same.map { request($0, [.consumableAgain]) })
    #expect(decisions.map(\.isGranted) == [true, false, false, false])
  }

  @Test("a purchase belongs to its first customer, whatever the order: renewals have the same purchase token")
  func customers() async throws {
    let rules: Set<ReplayRule> = [.anotherCustomer]
    for (store, receipt, renewal) in [
      (
        "Google Play", try receipts.googlePlayPurchase(),
        try playPurchase { $0.orderId = "GPA.1234-5678-9012-34567..0" }
      ),
      ("Huawei", try receipts.huaweiPurchase(), try receipts.huaweiPurchase { $0.orderId = "2" }),
    ] {
      #expect(try await grant(receipt, rules, as: "anna").isGranted, "\(store)")
      expectReplay(try await grant(receipt, rules, as: "bert"), "granted to another customer")
      expectReplay(try await grant(renewal, rules, as: "bert"), "granted to another customer")
      #expect(try await grant(renewal, rules, as: "anna").isGranted, "\(store)")
    }
  }

  @Test("a purchase that is not paid for, or whose key is not known, is recorded and not granted")
  func notValid() async throws {
    let pending = try await grant(playPurchase { $0.purchaseState = .pending })
    // Its signature is good; that nothing was bought yet is in the content: it has no purchase to grant.
    #expect(pending.verdict.receipt?.transactions.isEmpty == true)
    let foreign = try await grant(playPurchase { $0.packageName = "com.example.unknown" })
    #expect(!foreign.isGranted && foreign.verdict.reason?.code == .keyMissing)
    #expect(foreign.acknowledgements.count == 1)
    #expect(try await grant(receipts.googlePlayPurchase()).isGranted)
    expectReplay(try await grant(playPurchase()), "was granted before")
  }
}
