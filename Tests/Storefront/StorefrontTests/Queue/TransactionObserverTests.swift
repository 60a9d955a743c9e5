// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Storefront
import Testing

@Suite("Transaction observers", .timeLimit(.minutes(1)))
struct TransactionObserverTests {
  let store = FakeStore()
  let storage = MemoryRecordStorage()

  private func makeQueue() throws -> PaymentQueue {
    try PaymentQueue(store: store, storage: storage, options: testOptions())
  }

  @Test("SKPaymentTransactionObserver")
  func processesUnlocksAndFinishes() async throws {
    let queue = try makeQueue()
    let observer = RecordingObserver { $0.transactionState == .purchased }
    await queue.addObserver(observer)
    let id = try await queue.add(Payment(productIdentifier: "coins"))
    try await observer.wait { $0.removed.map { $0.id } == [id] }
    try await queue.synchronize()
    #expect(await queue.transactions.isEmpty)
    #expect(await store.finishes == ["s1000"])
    #expect(await !observer.hasOverlapped)
    await queue.removeObserver(observer)
  }

  @Test("SKPaymentTransactionObserver: paymentQueue:updatedTransactions:")
  func isNotifiedOfEachState() async throws {
    await store.decide {
      $0.productIdentifier == "ruby" ? .decline(StoreError(.paymentInvalid, "no")) : .approve
    }
    let queue = try makeQueue()
    let observer = RecordingObserver { $0.transactionState != .purchasing }
    await queue.addObserver(observer)
    await store.hold()
    let coins = try await queue.add(Payment(productIdentifier: "coins"))
    try await observer.wait { $0.states[coins] == .purchasing }
    await store.release()
    try await observer.wait { $0.states[coins] == .purchased }
    let ruby = try await queue.add(Payment(productIdentifier: "ruby"))
    try await observer.wait { $0.states[ruby] == .failed }
    try await observer.wait { $0.removed.count == 2 }
    #expect(await queue.transactions.isEmpty)
    // With the receipt, and in the order of the events.
    let receipts = await observer.updated.compactMap { $0.transactionReceipt }
    #expect(receipts == [Array("receipt of s1000".utf8)])
    #expect(
      await observer.updated.filter { $0.id == coins }.map { $0.transactionState } == [
        .purchasing, .purchased,
      ])
    await queue.removeObserver(observer)
  }

  @Test("SKPaymentTransactionObserver: paymentQueue:removedTransactions:")
  func isNotifiedOfRemovedTransactions() async throws {
    let queue = try makeQueue()
    let observers = [RecordingObserver(), RecordingObserver()]
    for observer in observers { await queue.addObserver(observer) }
    let ids = try await queue.add(
      contentsOf: ["coins", "gems"].map { Payment(productIdentifier: $0) })
    for observer in observers {
      try await observer.wait { $0.states.values.allSatisfy { $0 == .purchased } && $0.states.count == 2 }
    }
    for id in ids { try await queue.finish([id]) }
    try await queue.finish([ids[0]])
    for observer in observers {
      try await observer.wait { $0.removed.count == 2 }
      #expect(await observer.removed.map { $0.id } == ids)
      #expect(await observer.removed.map { $0.transactionIdentifier } == ["s1000", "s1001"])
    }
    try await queue.close()
  }

  @Test("SKPaymentTransactionObserver: paymentQueue:restoreCompletedTransactionsFailedWithError:")
  func isNotifiedOfAFailedRestoration() async throws {
    let queue = try makeQueue()
    let observers = [RecordingObserver(), RecordingObserver()]
    for observer in observers { await queue.addObserver(observer) }
    let error = StoreError(.paymentNotAllowed, "not now")
    await store.fail(restoring: error)
    await #expect(throws: error) { try await queue.restoreCompletedTransactions() }
    for observer in observers {
      try await observer.wait { !$0.restoreErrors.isEmpty }
      #expect(await observer.restoreErrors == [error])
      #expect(await observer.restoreFinishedCount == 0)
    }
    try await queue.close()
  }

  @Test("SKPaymentTransactionObserver: paymentQueueRestoreCompletedTransactionsFinished:")
  func isNotifiedOfTheEndAfterAllRestoredTransactions() async throws {
    let queue = try makeQueue()
    await store.limitPages(to: 3)
    let ids = try await queue.add(
      contentsOf: (0..<10).map { Payment(productIdentifier: "book \($0)") })
    try await queue.synchronize()
    for id in ids { try await queue.finish([id]) }
    let observer = RecordingObserver()
    await queue.addObserver(observer)
    try await queue.restoreCompletedTransactions()
    try await observer.wait { $0.restoreFinishedCount > 0 }
    let events = await observer.events
    #expect(events.last == .restoreFinished)
    #expect(await observer.updated.count == 10)
    #expect(await observer.updated.allSatisfy { $0.transactionState == .restored })
    #expect(await observer.restoreFinishedCount == 1)
    #expect(await observer.restoreErrors.isEmpty)
    await queue.removeObserver(observer)
  }

  @Test("gives each sequence all updates, without prefetching")
  func updates() async throws {
    let queue = try makeQueue()
    let ids = try await queue.add(contentsOf: (0..<600).map { _ in Payment(productIdentifier: "coins") })
    try await queue.synchronize()
    for _ in 0..<2 {
      var found: [PaymentTransaction] = []
      for await update in await queue.updates {
        guard case .updated(let page) = update else { continue }
        #expect(page.count <= 256)
        found += page
        if found.count >= 600 { break }
      }
      #expect(found.map { $0.id } == ids)
      #expect(found.allSatisfy { $0.transactionReceipt != nil })
    }
  }

  @Test("ends a sequence of updates when its task is cancelled, and when the queue is closed")
  func endOfUpdates() async throws {
    let queue = try makeQueue()
    let cancelled = Task { for await _ in await queue.updates {} }
    let closed = Task { for await _ in await queue.updates {} }
    try await store.calls(reach: 1)
    cancelled.cancel()
    await cancelled.value
    try await queue.close()
    await closed.value
    for await _ in await queue.updates { Issue.record("A closed queue has no updates.") }
  }

  @Test("synchronizes with the store only while a sequence of updates exists")
  func sequenceCounts() async throws {
    let queue = try makeQueue()
    do {
      let updates = await queue.updates
      try await queue.add(Payment(productIdentifier: "coins"))
      var iterator = updates.makeAsyncIterator()
      while case .updated(let page)? = await iterator.next(), page[0].transactionState == .purchasing {}
    }
    // A separate task notifies the queue of the release.
    while await queue.isWatched { await Task.yield() }
    let calls = await store.calls
    try await queue.add(Payment(productIdentifier: "coins"))
    for _ in 0..<50 { await Task.yield() }
    #expect(await store.calls == calls)
  }

  @Test("bounds the size of the receipts that are read for one call")
  func largeReceipts() async throws {
    let sale = StoreTransaction(
      transactionIdentifier: "", originalTransactionIdentifier: "o",
      transactionDate: .init(millisecondsSince1970: .nan), payment: Payment(productIdentifier: "p"),
      receipt: [UInt8](repeating: 1, count: 1 << 20))
    let queue = try PaymentQueue(
      store: FixedSales(
        sales: (0..<20).map { number in
          var sale = sale
          sale.transactionIdentifier = "t\(number)"
          return sale
        }), storage: storage, options: testOptions())
    try await queue.synchronize()
    var found = 0
    for await update in await queue.updates {
      guard case .updated(let page) = update else { continue }
      #expect(page.count <= 4)
      found += page.count
      if found == 20 { break }
    }
    // An unrepresentable date does not damage the record.
    try await queue.close()
    _ = try PaymentQueue(store: store, storage: storage.reopened())
  }
}
