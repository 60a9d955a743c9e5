// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// Verdicts recorded in a trail, and looked up there by what refuses replays.
@Suite struct RecordingInTrailTests {
  @Test func everyVerdictIsEnteredOnce() async throws {
    let log = try TrailFixture().create()
    let receipts = try TestReceipts()
    let withoutOriginals = try receipts.appReceipt { payload in
      for index in payload.inAppPurchases.indices {
        payload.inAppPurchases[index].originalTransactionId = nil
      }
    }
    let all = [
      Array(try receipts.signedTransaction().utf8), try receipts.appReceipt(), withoutOriginals,
      Array(try receipts.signedNotification().utf8), Array("no receipt".utf8),
    ]
    var indexes: [[UInt64]] = []
    for receipt in all {
      let acknowledgements = try await log.append(await RecordingFixture.records(receipt))
      #expect(acknowledgements.allSatisfy { !$0.isRepeat })
      indexes.append(acknowledgements.map(\.index))
    }
    #expect(indexes.flatMap(\.self) == Array(0..<9))
    for (receipt, first) in zip(all, indexes) {
      let acknowledgements = try await log.append(await RecordingFixture.records(receipt))
      #expect(!acknowledgements.map(\.isRepeat).contains(false))
      #expect(acknowledgements.map(\.index) == first)
    }
  }

  @Test func noReceiptKeepsItsVerdictFromBeingRecorded() async throws {
    let log = try TrailFixture().create()
    let long = String(repeating: "%", count: 60_000)
    let longest = String(repeating: "%", count: 512)
    for identifier in [long, longest, ""] {
      let receipt = try TestReceipts().signedTransaction {
        $0.transactionId = identifier
        $0.originalTransactionId = identifier
        $0.productId = identifier
        $0.bundleId = identifier
        $0.appAccountToken = UUIDString(rawValue: identifier)
      }
      let records = try await RecordingFixture.records(
        Array(receipt.utf8), answers: Array(repeating: .response(CheckerResponse(.confirmed)), count: 20)
      ) { $0.bundleIds = .any }
      #expect(records[0].verdict == .valid)
      #expect(records[0].product == (identifier == longest ? longest : nil))
      #expect(records[0].customerToken == (identifier == longest ? longest : nil))
      try await log.append(records)
    }
    let size = try log.withView { $0.size }
    #expect(size == 3)
  }

  @Test func aTrailTellsOfReplays() async throws {
    let log = try TrailFixture().create()
    let verifier = try RecordingFixture.verifier()
    // Signed once each: the same content signed again is another receipt.
    let receipts = try ["2000000001", "2000000002", "2000000003"].map { identifier in
      Array(try TestReceipts().signedTransaction { $0.transactionId = identifier }.utf8)
    }
    func present(_ customer: String, _ number: Int) async throws -> Verdict {
      let receipt = receipts[number]
      let checker = ReplayChecker(log, rules: Set(ReplayRule.all), customer: customer)
      let verdict = await verifier.verify(receipt, checkers: [checker])
      try await log.append(
        [AuditRecord](
          verdict, receipt: receipt, policy: verifier.policy, at: RecordingFixture.now,
          options: RecordingOptions(customer: customer)))
      return verdict
    }
    let (first, again) = (try await present("anna", 0), try await present("anna", 0))
    #expect(first.receipt != nil)
    #expect(again.reason?.message == "This receipt was accepted before, in entry 0.")
    let (another, same) = (try await present("bert", 1), try await present("anna", 1))
    #expect(another.reason?.message.hasSuffix("another customer, in entry 0.") == true)
    #expect(same.receipt != nil)
    for index: UInt64 in [0, 1, 2, 3] { try await log.erase(entry: index) }
    let afterErasure = try await present("bert", 2)
    #expect(afterErasure.receipt != nil)
  }
}
