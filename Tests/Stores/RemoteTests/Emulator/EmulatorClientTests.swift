// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import ReceiptCodec
@testable import AppStoreServer
import ReceiptTesting
import ReceiptVerification
import Storefront
import Testing

/// The client against the emulator: everything is signed, and verified.
@Suite struct EmulatorClientTests {
  private static let original = "2000000001"

  @Test("ten thousand transactions come in order, either way")
  func longHistory() async throws {
    let fixture = try await EmulatorFixture()
    var first = SampleReceipts.transaction
    first.transactionId = "5000000"
    first.originalTransactionId = "5000000"
    try await fixture.store.purchases.addHistory(of: first, count: 10_000, customer: "many")
    let client = try fixture.client
    for sort in [HistorySort.ascending, .descending] {
      var filter = TransactionHistoryFilter()
      filter.sort = sort
      var expected = sort == .ascending ? 5_000_000 : 5_009_999
      var count = 0
      for try await transaction in client.pages(.transactionHistory(of: "5000000", filter: filter)) {
        #expect(transaction.payload.transactionId == String(expected))
        expected += sort == .ascending ? 1 : -1
        count += 1
      }
      #expect(count == 10_000)
    }
    #expect(fixture.store.statistics.counts.totalRequests == 1000)
  }

  @Test("a change moves a purchase to the end of the history, and a revision finds it there")
  func changes() async throws {
    let fixture = try await EmulatorFixture()
    for number in 1...3 {
      var transaction = SampleReceipts.transaction
      transaction.transactionId = "900\(number)"
      try await fixture.store.purchases.add([LocalStore.ImportedPurchase(transaction)])
    }
    let raw = try fixture.client.raw
    let page = try await raw.content(.transactionHistory(of: Self.original))
    #expect(page.signedTransactions?.count == 4)
    try await fixture.store.purchases.refund("9001", reason: .issue)
    let next = try await raw.content(
      .transactionHistory(of: Self.original), after: page.revision)
    #expect(next.signedTransactions?.count == 1)
    let refunds = try await raw.content(.refundHistory(of: "9003"))
    #expect(refunds.signedTransactions?.count == 1)
  }

  @Test("purchases, statuses, app transactions and orders are verified")
  func purchases() async throws {
    let fixture = try await EmulatorFixture(.production)
    let client = try fixture.client
    #expect(try await client.send(.transaction(Self.original)).payload.productId == SampleReceipts.productId)
    #expect(
      try await client.send(.appTransaction(of: Self.original)).payload.originalApplicationVersion == "1.0")
    let statuses = try await client.send(.subscriptionStatuses(of: Self.original))
    #expect(statuses.first?.status == .active)
    #expect(try await client.raw.content(.orderLookup("W000001")).signedTransactions?.count == 1)
    let token = try #require(try await client.send(.requestTestNotification()).testNotificationToken)
    #expect(
      try await client.send(.testNotificationStatus(token)).notification.payload.notificationType == .test)
  }

  @Test(
    "forged data gives no value",
    arguments: [EmulatorFault.flippedBit, .untrustedSigner, .otherApp, .otherEnvironment])
  func forgeries(fault: EmulatorFault) async throws {
    let fixture = try await EmulatorFixture()
    let client = try fixture.client
    fixture.store.faults.replace(with: [.once(fault)])
    let error = await #expect(throws: AppStoreServerError.self) {
      try await client.send(.transaction(Self.original))
    }
    guard case .notVerified = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    _ = try await client.send(.transaction(Self.original))
  }

  @Test("transient faults are survived")
  func retries() async throws {
    let fixture = try await EmulatorFixture()
    let client = try fixture.client
    let passing: [EmulatorFault] = [
      .status(503), .status(500), .status(502), .status(504), .error(code: 5_000_001), .cut(afterBytes: 30),
      .reset(afterBytes: 0), .brokenChunks, .notHTTP,
    ]
    for fault in passing {
      fixture.store.faults.replace(with: [.once(fault, fault)])
      #expect(
        try await client.send(.transaction(Self.original)).payload.transactionId == Self.original, "\(fault)")
    }
  }

  @Test("the same seed gives the same faults")
  func randomFaults() async throws {
    var outcomes: [[Bool]] = []
    for _ in 0..<2 {
      let fixture = try await EmulatorFixture()
      fixture.store.faults.replace(with: [.init([.status(503)], requests: nil, probability: 0.5, seed: 42)])
      let transport = EmulatorTransport(sandbox: fixture.store)
      let url = try RemoteURL("https://sandbox.example.com/inApps/v1/transactions/2000000001")
      var outcome: [Bool] = []
      for _ in 0..<100 { outcome.append(try await transport.send(RemoteRequest(.get, url)).status == 200) }
      outcomes.append(outcome)
    }
    #expect(outcomes[0] == outcomes[1])
    #expect(30...70 ~= outcomes[0].count { $0 })
  }
}
