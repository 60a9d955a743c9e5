// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import Testing

/// A purchase is granted once: of any number of requests, in one call, in tasks, and from two opened trails.
@Suite struct GrantTests {
  private let fixture: TrailFixture
  private let log: AuditLog
  private let policy = SHA256Digest(of: RecordingFixture.policy())

  init() throws {
    fixture = try TrailFixture()
    log = try fixture.create()
  }

  private func consumable(_ number: Int = 0) throws -> [UInt8] {
    Array(
      try TestReceipts().signedTransaction {
        $0.type = .consumable
        $0.appAccountToken = nil
        $0.signedDate = $0.signedDate?.addingSeconds(-Double(number))
      }.utf8)
  }

  private func request(
    _ receipt: [UInt8], as customer: String? = nil, rules: Set<ReplayRule>, answers: [CheckerAnswer] = []
  ) async throws -> GrantRequest {
    let checkers = answers.map { FakeChecker(name: "store", answers: [$0]) }
    let verdict = try await RecordingFixture.verifier().verify(receipt, checkers: checkers)
    return GrantRequest(
      verdict, receipt: receipt, policyDigest: policy, at: RecordingFixture.now, rules: rules,
      options: RecordingOptions(customer: customer))
  }

  /// Equal requests; under the rule of the customer each is of another one.
  private func requests(_ count: Int, _ rule: ReplayRule) async throws -> [GrantRequest] {
    var requests: [GrantRequest] = []
    for number in 0..<count {
      let receipt = try consumable(rule == .consumableAgain ? number : 0)
      requests.append(
        try await request(receipt, as: rule == .anotherCustomer ? "customer \(number)" : nil, rules: [rule]))
    }
    return requests
  }

  @Test("in one call one of many is granted", arguments: ReplayRule.all)
  func batch(rule: ReplayRule) async throws {
    let decisions = try await log.grant(requests(9, rule))
    #expect(decisions.map(\.isGranted) == [true] + [Bool](repeating: false, count: 8))
    for refused in decisions.dropFirst() {
      #expect(refused.verdict.reason?.code == .checkerRefused)
      #expect(refused.verdict.reason?.place == "checker replay")
      let index = try #require(refused.acknowledgements.first?.index)
      try log.withView { view in
        let entry = try view.entry(at: index).entry
        #expect(entry.verdict == .invalid && entry.reason == "checker-refused")
        #expect(entry.facts.checks == [RecordedCheck(name: "replay", answer: .refused)])
      }
    }
  }

  @Test("of tasks on two opened trails one is granted", arguments: ReplayRule.all)
  func race(rule: ReplayRule) async throws {
    let logs = [log, try fixture.open()]
    for round in 0..<20 {
      let receipt = try Array(
        TestReceipts().signedTransaction {
          $0.type = .consumable
          $0.transactionId = "\(5_000 + round)"
          $0.originalTransactionId = "\(5_000 + round)"
        }.utf8)
      let granted = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<4 {
          group.addTask {
            let request = try await request(receipt, as: "customer \(number)", rules: [rule])
            return try await logs[number % 2].grant([request])[0].isGranted
          }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(granted == 1, "round \(round)")
    }
  }

  @Test("a customer may present a purchase again, and another may not")
  func sameCustomer() async throws {
    let receipt = try consumable()
    for (customer, isGranted) in [("anna", true), ("anna", true), ("bert", false), ("anna", true)] {
      let decision = try await log.grant([request(receipt, as: customer, rules: [.anotherCustomer])])[0]
      #expect(decision.isGranted == isGranted, "\(customer)")
    }
  }

  @Test("a purchase whose grant names no customer, or no longer, has one owner from the next grant on")
  func ownerless() async throws {
    let receipt = try consumable()
    func isGranted(to customer: String?) async throws -> Bool {
      try await log.grant([request(receipt, as: customer, rules: [.anotherCustomer])])[0].isGranted
    }
    #expect(try await isGranted(to: nil))
    #expect(try await isGranted(to: "anna"))
    #expect(try await !isGranted(to: "bert"))
    let granted = try log.withView { try $0.entries(customer: "anna").map(\.index) }
    try await log.erase(entries: granted)
    #expect(try await isGranted(to: "carl"))
    #expect(try await !isGranted(to: "dora"))
  }

  @Test("a purchase that was granted to two customers, when no rule forbade it, is the first one's")
  func twoOwners() async throws {
    func isGranted(_ number: Int, to customer: String, _ rules: Set<ReplayRule>) async throws -> Bool {
      try await log.grant([request(consumable(number), as: customer, rules: rules)])[0].isGranted
    }
    #expect(try await isGranted(0, to: "anna", []))
    #expect(try await isGranted(1, to: "bert", []))
    #expect(try await !isGranted(2, to: "bert", [.anotherCustomer]))
    #expect(try await isGranted(3, to: "anna", [.anotherCustomer]))
  }

  @Test("a verdict that is not valid is recorded, and neither a grant nor an owner")
  func refusedVerdict() async throws {
    let receipt = try consumable()
    let refused = CheckerAnswer.response(CheckerResponse(.refused(message: "unknown")))
    let rules = Set(ReplayRule.all)
    let first = try await log.grant([request(receipt, as: "bert", rules: rules, answers: [refused])])[0]
    #expect(!first.isGranted && first.acknowledgements.map(\.index) == [0])
    #expect(try await log.grant([request(receipt, as: "anna", rules: rules)])[0].isGranted)
  }

  @Test("a grant is found behind any number of refusals of the same purchase")
  func manyRefusals() async throws {
    let receipt = try consumable()
    #expect(try await log.grant([request(receipt, rules: [.consumableAgain])])[0].isGranted)
    try await log.append(
      (0..<700).map { number in
        var record = TrailFixture.record(number)
        record.facts.transaction = "2000000001"
        record.facts.verdict = .invalid
        return record
      })
    #expect(try await !log.grant([request(consumable(1), rules: [.consumableAgain])])[0].isGranted)
  }
}
