// SPDX-License-Identifier: Apache-2.0

@testable import Storefront
import Testing

@Suite("Finishing, as the store learns of it", .timeLimit(.minutes(1)))
struct FinishingTests {
  private let store = FakeStore()
  private let storage = MemoryRecordStorage()
  private let time = ManualTime()
  private let coins = Payment(productIdentifier: "coins")

  private func queue() throws -> PaymentQueue {
    try PaymentQueue(store: store, storage: storage, options: testOptions(time))
  }

  @Test("reaches the store without an observer, so that no other device is given the sale")
  func withoutAnObserver() async throws {
    let queue = try queue()
    let transaction = try await queue.purchase(coins)
    try await queue.finish(transaction)
    while await store.finishes.isEmpty { await Task.yield() }
    #expect(await store.unfinished == [])
    let other = try PaymentQueue(store: store, storage: MemoryRecordStorage(), options: testOptions())
    try await other.synchronize()
    #expect(await other.transactions == [])
    // Nothing else is sent: nobody observes the queue.
    try await queue.add(coins)
    for _ in 0..<50 { await Task.yield() }
    #expect(await store.calls.count { $0.hasPrefix("purchase") } == 1)
  }

  @Test("is sent again until the store takes it, and the caller can wait for that")
  func isRetried() async throws {
    let queue = try queue()
    let transaction = try await queue.purchase(coins)
    await store.setDown(true)
    let confirmed = Task { try await queue.finishAndConfirm(transaction) }
    while await queue.confirmations.isEmpty { await Task.yield() }
    #expect(await queue.transactions == [])
    #expect(await store.finishes == [])
    await store.setDown(false)
    while await store.finishes.isEmpty {
      await time.pass()
      await Task.yield()
    }
    try await confirmed.value
    // It is idempotent.
    try await queue.finishAndConfirm(transaction)
    #expect(await store.finishes == ["s1000"])
  }

  @Test("is sent after a relaunch without an observer")
  func afterARelaunch() async throws {
    let first = try queue()
    let transaction = try await first.purchase(coins)
    await store.setDown(true)
    try await first.finish(transaction)
    try await first.close()
    await store.setDown(false)
    let second = try PaymentQueue(store: store, storage: storage.reopened(), options: testOptions())
    while await store.finishes.isEmpty { await Task.yield() }
    #expect(await second.transactions == [])
  }

  @Test("an observer does not wait for the retry of a finish")
  func observerDuringARetry() async throws {
    let queue = try queue()
    let transaction = try await queue.purchase(coins)
    await store.setDown(true)
    let calls = await store.calls.count
    try await queue.finish(transaction)
    try await store.calls(reach: calls + 1)
    await store.setDown(false)
    // Time stands still.
    #expect(try await queue.purchase(coins).transactionState == .purchased)
    while await store.finishes.isEmpty { await Task.yield() }
  }

  @Test("cancelling, and closing the queue, end the waiting for the store")
  func endOfWaiting() async throws {
    let queue = try queue()
    let transaction = try await queue.purchase(coins)
    await store.setDown(true)
    let cancelled = Task { try await queue.finishAndConfirm(transaction) }
    while await queue.confirmations.isEmpty { await Task.yield() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(await queue.confirmations.isEmpty)
    let closed = Task { try await queue.finishAndConfirm(transaction) }
    while await queue.confirmations.isEmpty { await Task.yield() }
    try await queue.close()
    #expect(await queueCode { try await closed.value } == .closed)
  }

  @Test("finishes several transactions, all or none, with one sync")
  func severalAtOnce() async throws {
    let queue = try queue()
    try await queue.add(contentsOf: [coins, coins])
    try await queue.synchronize()
    let bought = await queue.transactions
    let pending = try await queue.add(coins)
    let transactions = await queue.transactions
    #expect(await queueCode { try await queue.finish(contentsOf: transactions) } == .stillPurchasing)
    #expect(await queue.transactions == transactions)
    try await queue.finish(contentsOf: bought + bought)
    #expect(await queue.transactions.map(\.id) == [pending])
    for transaction in bought { try await queue.finishAndConfirm(transaction) }
    #expect(await store.finishes.sorted() == ["s1000", "s1001"])
  }

  @Test("a failed transaction is unknown to the store")
  func failed() async throws {
    await store.decide { _ in .decline(StoreError(.paymentCancelled, "no")) }
    let queue = try queue()
    try await queue.finishAndConfirm(try await queue.purchase(coins))
    #expect(await queue.transactions == [])
    #expect(await store.finishes == [])
  }
}
