// SPDX-License-Identifier: Apache-2.0

import Storefront
import Testing

@Suite("Restoring", .timeLimit(.minutes(1)))
struct RestoringTests {
  let store = FakeStore()
  let storage = MemoryRecordStorage()

  private func makeQueue() throws -> PaymentQueue {
    try PaymentQueue(store: store, storage: storage, options: testOptions())
  }

  /// Buys and finishes.
  private func own(_ payments: MutablePayment..., in queue: PaymentQueue) async throws {
    for payment in payments { try await queue.finish(try await queue.purchase(payment)) }
    try await queue.synchronize()
  }

  @Test("SKPaymentQueue: restoreCompletedTransactions")
  func restoresEachFinishedPurchase() async throws {
    let queue = try makeQueue()
    try await own(
      MutablePayment(productIdentifier: "book 1"), MutablePayment(productIdentifier: "coins"),
      MutablePayment(productIdentifier: "book 2"), in: queue)
    // Not finished: it is still to be delivered, not restored.
    let unfinished = try await queue.purchase(Payment(productIdentifier: "book 3"))
    try await queue.restoreCompletedTransactions()
    let restored = await queue.transactions.filter { $0.transactionState == .restored }
    #expect(restored.map { $0.payment.productIdentifier } == ["book 1", "book 2"])
    #expect(restored.map { $0.originalTransaction?.transactionIdentifier } == ["s1000", "s1002"])
    #expect(await queue.transactions.count == 3)
    #expect(await queue.transactions.map { $0.id }.contains(unfinished.id))
    // A restored, unfinished purchase is not restored again; a finished one is, as a new transaction.
    try await queue.restoreCompletedTransactions()
    #expect(await queue.transactions.count == 3)
    try await queue.finish(restored[0])
    try await queue.restoreCompletedTransactions()
    let again = await queue.transactions.filter { $0.transactionState == .restored }
    #expect(again.map { $0.originalTransaction?.transactionIdentifier } == ["s1002", "s1000"])
    #expect(!again.map { $0.id }.contains(restored[0].id))
    #expect(await store.charges.values.allSatisfy { $0 == 1 })
  }

  @Test("SKPaymentQueue: restoreCompletedTransactionsWithApplicationUsername:")
  func restoresByUsername() async throws {
    let queue = try makeQueue()
    try await own(
      MutablePayment(payment: "book 1", username: "a"), MutablePayment(payment: "book 2", username: "b"),
      MutablePayment(productIdentifier: "book 3"), in: queue)
    try await queue.restoreCompletedTransactions(applicationUsername: "b")
    #expect(await queue.transactions.map { $0.payment.productIdentifier } == ["book 2"])
    try await queue.restoreCompletedTransactions(applicationUsername: "c")
    #expect(await queue.transactions.count == 1)
    try await queue.restoreCompletedTransactions()
    #expect(await queue.transactions.count == 3)
  }

  @Test("Restore/repurchase: Obligation")
  func restoringIsOfferedOnAFreshInstallation() async throws {
    let queue = try makeQueue()
    try await own(MutablePayment(productIdentifier: "book 1"), in: queue)
    // Another device, with an empty storage.
    let fresh = try PaymentQueue(
      store: store, storage: MemoryRecordStorage(), options: testOptions(prefix: "other"))
    try await fresh.synchronize()
    #expect(await fresh.transactions.isEmpty)
    try await fresh.restoreCompletedTransactions()
    let restored = try #require(await fresh.transactions.first)
    #expect(restored.transactionState == .restored)
    #expect(try await fresh.transaction(restored.id)?.transactionReceipt == Array("receipt of other1-0".utf8))
  }

  @Test("Restore/repurchase: Any")
  func finishedPurchasesReturnOnlyForRestorableProducts() async throws {
    let queue = try makeQueue()
    try await own(
      MutablePayment(productIdentifier: "coins"), MutablePayment(productIdentifier: "book 1"), in: queue)
    let observer = RecordingObserver()
    await queue.addObserver(observer)
    try await queue.synchronize()
    #expect(await queue.transactions.isEmpty)
    try await queue.restoreCompletedTransactions()
    try await observer.wait { $0.restoreFinishedCount == 1 }
    #expect(await observer.updated.map { $0.payment.productIdentifier } == ["book 1"])
    await queue.removeObserver(observer)
  }

  @Test("sends finishes before restoring, so that those purchases are restored, too")
  func finishesFirst() async throws {
    let queue = try makeQueue()
    let book = try await queue.purchase(Payment(productIdentifier: "book 1"))
    try await queue.finish(book)
    try await queue.restoreCompletedTransactions()
    #expect(await queue.transactions.map { $0.transactionState } == [.restored])
  }

  @Test("keeps transactions from before a failure, and reports one end")
  func failsInTheMiddle() async throws {
    let queue = try makeQueue()
    for number in 0..<5 { try await own(MutablePayment(productIdentifier: "book \(number)"), in: queue) }
    await store.limitPages(to: 2)
    for loss in [FakeStore.Loss.request, .answer] {
      let observer = RecordingObserver()
      await queue.addObserver(observer)
      try await store.calls(reach: 1)
      await store.loseNothing()
      // The loop of the new observer may send its request first: every call after the first page is lost.
      await store.lose(loss, ofRestoration: 2)
      await #expect(throws: StoreError.self) { try await queue.restoreCompletedTransactions() }
      try await observer.wait { !$0.restoreErrors.isEmpty }
      #expect(await observer.restoreErrors.map { $0.code } == [.unknown])
      #expect(await observer.restoreFinishedCount == 0)
      #expect(await queue.transactions.count == 2)
      await queue.removeObserver(observer)
    }
    await store.loseNothing()
    try await queue.restoreCompletedTransactions()
    #expect(await queue.transactions.count == 5)
  }

  @Test("ends a restoration whose task is cancelled with one failure")
  func cancelled() async throws {
    let queue = try makeQueue()
    let observer = RecordingObserver()
    await queue.addObserver(observer)
    let task = Task {
      try? await Task.sleep(for: .seconds(100))
      try await queue.restoreCompletedTransactions()
    }
    task.cancel()
    await #expect(throws: StoreError.self) { try await task.value }
    try await observer.wait { !$0.restoreErrors.isEmpty }
    #expect(await observer.restoreErrors.map { $0.code } == [.paymentCancelled])
    await queue.removeObserver(observer)
  }

  @Test("ends even if the store's list has no end")
  func endless() async throws {
    let queue = try PaymentQueue(
      store: FixedSales(next: StorePosition(rawValue: "again")), storage: storage, options: testOptions())
    await #expect(throws: StoreError.self) { try await queue.restoreCompletedTransactions() }
    try await queue.synchronize()
  }

  @Test("restores a purchase once that the store lists twice")
  func doubled() async throws {
    let queue = try makeQueue()
    let book = try await queue.purchase(Payment(productIdentifier: "book 1"))
    let original = try #require(book.storeTransaction)
    func copy(_ identifier: String) -> RestoredTransaction {
      var copy = original
      copy.transactionIdentifier = identifier
      return RestoredTransaction(transaction: copy, original: original)
    }
    let other = try PaymentQueue(
      store: FixedSales(restored: [copy("a"), copy("a"), copy("b")]), storage: MemoryRecordStorage())
    try await other.restoreCompletedTransactions()
    try await other.restoreCompletedTransactions()
    #expect(await other.transactions.map { $0.transactionIdentifier } == ["a"])
  }
}
