// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Storefront

/// For the thread sanitizer: everything at once.
@Suite("Payment queue: from many tasks", .timeLimit(.minutes(5)))
struct QueueStressTests {
  @Test("sells everything once to 64 tasks, while observers are added and removed")
  func stress() async throws {
    let store = FakeStore()
    await store.decide { $0.quantity % 7 == 0 ? .decline(StoreError(.paymentCancelled, "no")) : .approve }
    let storage = MemoryRecordStorage()
    let queue = try PaymentQueue(store: store, storage: storage, options: testOptions())
    let lasting = [RecordingObserver(), RecordingObserver { $0.transactionState != .purchasing }]
    for observer in lasting { await queue.addObserver(observer) }
    #if THREAD_SANITIZER
      // One of each kind. What they cost grows with the square of their number.
      let rounds = 2
    #else
      let rounds = 6
    #endif
    try await withThrowingTaskGroup { group in
      for task in 0..<64 {
        group.addTask {
          for round in 0..<rounds {
            switch task % 4 {
            case 0:
              let observer = RecordingObserver { $0.transactionState == .purchased }
              await queue.addObserver(observer)
              await Task.yield()
              await queue.removeObserver(observer)
            case 1:
              try await queue.synchronize()
              let reading = Task { for await _ in await queue.updates {} }
              await Task.yield()
              reading.cancel()
              await reading.value
            case 2:
              try await queue.restoreCompletedTransactions()
            default: break
            }
            var payment = MutablePayment(productIdentifier: task % 3 == 0 ? "book \(task)" : "coins")
            payment.quantity = task + round + 1
            if round.isMultiple(of: 2) {
              try await queue.add(payment)
            } else {
              try await queue.finish(try await queue.purchase(payment))
            }
            _ = await queue.transactions.count
          }
        }
      }
      try await group.waitForAll()
    }
    // The second observer finishes all.
    while await !queue.transactions.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    for observer in lasting { await queue.removeObserver(observer) }
    try await queue.synchronize()
    #expect(await store.unfinished.isEmpty)
    #expect(await store.decided.count == 64 * rounds)
    #expect(await store.charges.values.allSatisfy { $0 <= 1 })
    for observer in lasting { #expect(await !observer.hasOverlapped) }
    try await queue.close()
    #expect(try storage.reopened().records(in: .queueFinishes, after: nil, limit: 9).isEmpty)
  }
}
