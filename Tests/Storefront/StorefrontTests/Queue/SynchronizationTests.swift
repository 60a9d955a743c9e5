// SPDX-License-Identifier: Apache-2.0

import Storefront
import Synchronization
import Testing

@Suite("Payment queue: synchronization with the store", .timeLimit(.minutes(1)))
struct SynchronizationTests {
  let store = FakeStore()
  let storage = MemoryRecordStorage()
  let time = ManualTime()
  let coins = Payment(productIdentifier: "coins")

  private func makeQueue(_ options: PaymentQueue.Options? = nil) throws -> PaymentQueue {
    try PaymentQueue(store: store, storage: storage, options: options ?? testOptions(time))
  }

  @Test("retries an unreachable store with growing delays, and never fails the payment")
  func backsOff() async throws {
    let lines = Mutex<[String]>([])
    let queue = try makeQueue(testOptions(time, log: { line in lines.withLock { $0.append(line) } }))
    await store.setDown(true)
    let observer = RecordingObserver()
    await queue.addObserver(observer)
    let id = try await queue.add(coins)
    for count in 1...12 {
      try await time.waits(reach: count)
      #expect(try await queue.transaction(id)?.transactionState == .purchasing)
      await time.pass()
    }
    try await time.waits(reach: 13)
    let waits = await time.waits
    #expect(waits.prefix(10) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map { Duration.seconds($0) }[...])
    #expect(waits[10...].allSatisfy { $0 == .seconds(300) })
    #expect(lines.withLock { $0.count } == 13)
    // A new payment does not end the delay.
    let calls = await store.calls.count
    try await queue.add(coins)
    for _ in 0..<50 { await Task.yield() }
    #expect(await store.calls.count == calls)
    await store.setDown(false)
    await time.pass()
    try await observer.wait { $0.states.values.count { $0 == .purchased } == 2 }
    #expect(await store.charges == ["r1": 1, "r2": 1])
    await queue.removeObserver(observer)
  }

  @Test("waits as long as the store asks, up to a bound")
  func retryAfter() {
    let options = testOptions(time)
    #expect(options.delay(afterFailures: 1, asked: .seconds(77)) == .seconds(77))
    #expect(options.delay(afterFailures: 9, asked: .seconds(77)) == .seconds(256))
    #expect(options.delay(afterFailures: 1, asked: .seconds(1_000_000)) == .seconds(3600))
    #expect(options.delay(afterFailures: 1, asked: .seconds(-5)) == .seconds(1))
    #expect(options.delay(afterFailures: Int.max, asked: nil) == .seconds(300))
  }

  @Test("sends a payment again with the same identifier, when the answer was lost and after a relaunch")
  func sameIdentifier() async throws {
    let queue = try makeQueue()
    let id = try await queue.add(coins)
    await store.lose(.answer, ofCall: 1)
    // The list of sales is lost, too.
    await store.lose(.request, ofCall: 2)
    #expect(await queueCode { try await queue.synchronize() } == .storeUnavailable)
    #expect(try await queue.transaction(id)?.transactionState == .purchasing)
    try await queue.close()
    let next = try PaymentQueue(
      store: store, storage: storage.reopened(), options: testOptions(prefix: "other"))
    try await next.synchronize()
    #expect(try await next.transaction(id)?.transactionIdentifier == "s1000")
    #expect(await store.calls.filter { $0.hasPrefix("purchase") } == ["purchase r1", "purchase r1"])
    #expect(await store.charges == ["r1": 1])
  }

  @Test("takes the outcome from the list of sales, if that comes first")
  func feedCompletes() async throws {
    let queue = try makeQueue()
    let id = try await queue.add(coins)
    await store.lose(.answer, ofCall: 1)
    #expect(await queueCode { try await queue.synchronize() } == .storeUnavailable)
    #expect(try await queue.transaction(id)?.transactionReceipt == Array("receipt of s1000".utf8))
    #expect(await queue.transactions.count == 1)
    try await queue.synchronize()
    #expect(await queue.transactions.count == 1)
  }

  @Test("keeps a payment in Purchasing while it waits for approval, and receives either answer")
  func approval() async throws {
    await store.decide { _ in .ask }
    let queue = try makeQueue()
    let observer = RecordingObserver()
    await queue.addObserver(observer)
    let approved = try await queue.add(coins)
    let declined = try await queue.add(coins)
    try await store.calls(reach: 3)
    #expect(await queue.transactions.allSatisfy { $0.transactionState == .purchasing })
    await store.decide("r1", .approve)
    await store.decide("r2", .decline(StoreError(.paymentNotAllowed, "not today")))
    // No request is sent before the delay has passed.
    try await time.waits(reach: 1)
    while await observer.states[approved] != .purchased {
      await time.pass()
      await Task.yield()
    }
    try await observer.wait { $0.states[declined] == .failed }
    #expect(await time.waits.allSatisfy { $0 == .seconds(60) })
    await queue.removeObserver(observer)
  }

  @Test("delivers sales without a request, such as renewals, once")
  func renewals() async throws {
    let queue = try makeQueue()
    await store.limitPages(to: 2)
    for number in 0..<7 { await store.renew("plan \(number)") }
    for _ in 0..<3 { try await queue.synchronize() }
    let transactions = await queue.transactions
    #expect(transactions.map { $0.payment.productIdentifier } == (0..<7).map { "plan \($0)" })
    #expect(transactions.allSatisfy { $0.transactionState == .purchased })
    // The list is requested before the store knows of the finishes, which are lost.
    await store.loseFinishes(.request)
    for transaction in transactions { try await queue.finish(transaction) }
    #expect(await queueCode { try await queue.synchronize() } == .storeUnavailable)
    #expect(await queue.transactions.isEmpty)
    await store.loseFinishes(nil)
    try await queue.synchronize()
    #expect(await store.unfinished.isEmpty)
    #expect(await Set(store.finishes).count == 7)
  }

  @Test("sends a finish after a relaunch, until the store has confirmed it")
  func pendingFinishes() async throws {
    let queue = try makeQueue()
    let transaction = try await queue.purchase(coins)
    await store.setDown(true)
    try await queue.finish(transaction)
    #expect(await queueCode { try await queue.synchronize() } == .storeUnavailable)
    try await queue.close()
    await store.setDown(false)
    await store.loseFinishes(.answer)
    let second = storage.reopened()
    var next = try PaymentQueue(store: store, storage: second, options: testOptions())
    #expect(await queueCode { try await next.synchronize() } == .storeUnavailable)
    try await next.close()
    await store.loseFinishes(nil)
    let third = second.reopened()
    let lost = await store.finishes.count
    next = try PaymentQueue(store: store, storage: third, options: testOptions())
    try await next.synchronize()
    try await next.synchronize()
    #expect(await store.finishes == [String](repeating: "s1000", count: lost + 1))
    #expect(lost >= 1)
    #expect(try third.records(in: .queueFinishes, after: nil, limit: 9).isEmpty)
    #expect(await next.transactions.isEmpty)
  }

  @Test("continues with other payments if one has no answer")
  func oneWithoutAnAnswer() async throws {
    let queue = try makeQueue()
    try await queue.add(contentsOf: [coins, coins, coins])
    await store.lose(.request, ofCall: 1)
    #expect(await queueCode { try await queue.synchronize() } == .storeUnavailable)
    await store.lose(.request, ofCall: 3)
    #expect(await queueCode { try await queue.synchronize() } == .storeUnavailable)
    let states = await queue.transactions.map { $0.transactionState }
    #expect(states == [.purchasing, .purchased, .purchased])
    try await queue.synchronize()
    #expect(await queue.transactions.allSatisfy { $0.transactionState == .purchased })
    #expect(await store.charges.values.allSatisfy { $0 == 1 })
  }

  @Test("synchronizes for a pending purchase without an observer, but not for a cancelled one")
  func purchasing() async throws {
    let queue = try makeQueue()
    let bought = try await queue.purchase(coins)
    #expect(bought.transactionReceipt == Array("receipt of s1000".utf8))
    #expect(await !queue.isWatched)
    await store.hold()
    let task = Task { try await queue.purchase(coins) }
    try await store.calls(reach: 2)
    while await store.calls.filter({ $0.hasPrefix("purchase") }).count < 2 { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await queue.transactions.map { $0.transactionState } == [.purchased, .purchasing])
    await store.release()
    // The payment itself completes: its answer was in flight.
    while await queue.transactions.last?.transactionState != .purchased { await Task.yield() }
    let cancelled = Task {
      try? await Task.sleep(for: .seconds(100))
      return try await queue.purchase(coins)
    }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(await queue.transactions.count == 2)
  }

  @Test("stops after a failed sync, with the reason, until it is opened again")
  func stops() async throws {
    let storage = FaultyRecordStorage()
    let queue = try PaymentQueue(store: store, storage: storage, options: testOptions(time))
    let id = try await queue.add(coins)
    let waiting = Task { for await _ in await queue.updates {} }
    while await queue.transactions.first?.transactionState != .purchased { await Task.yield() }
    storage.fail(.stored, atCommit: 1)
    let code = await queueCode { try await queue.finish([id]) }
    #expect(code == .storage)
    await waiting.value
    #expect(await queue.fault?.storageError?.code == .syncFailed)
    for _ in 0..<2 {
      #expect(await queueCode { _ = try await queue.add(coins) } == .storage)
      #expect(await queueCode { try await queue.finish([id]) } == .storage)
      #expect(await queueCode { _ = try await queue.purchase(coins) } == .storage)
      #expect(await queueCode { _ = try await queue.transaction(id) } == .storage)
      #expect(await queueCode { try await queue.synchronize() } == .storage)
      await #expect(throws: StoreError.self) { try await queue.restoreCompletedTransactions() }
    }
    let next = try PaymentQueue(store: store, storage: storage.reopened(), options: testOptions())
    #expect(await next.transactions.isEmpty)
    try await next.synchronize()
    #expect(await store.finishes == ["s1000"])
  }

  @Test("continues after the disk was full")
  func full() async throws {
    let storage = FaultyRecordStorage()
    let queue = try PaymentQueue(store: store, storage: storage, options: testOptions(time))
    storage.fail(.full, atCommit: 1)
    #expect(await queueCode { _ = try await queue.add(coins) } == .storage)
    #expect(await queue.transactions.isEmpty)
    let observer = RecordingObserver()
    let id = try await queue.add(coins)
    // The answer cannot be stored: it is not reported, and the request is repeated.
    storage.fail(.full, atCommit: 1)
    await queue.addObserver(observer)
    try await time.waits(reach: 1)
    while await observer.states[id] != .purchased {
      await time.pass()
      await Task.yield()
    }
    #expect(await queue.fault == nil)
    #expect(await store.charges == ["r2": 1])
    await queue.removeObserver(observer)
  }

  @Test("ends all pending calls when it is closed, and can be closed twice")
  func closes() async throws {
    await store.decide { _ in .ask }
    let queue = try makeQueue()
    let purchase = Task { try await queue.purchase(coins) }
    try await store.calls(reach: 2)
    try await queue.close()
    try await queue.close()
    do {
      _ = try await purchase.value
      Issue.record("It was not purchased.")
    } catch {
      #expect((error as? PaymentQueueError)?.code == .closed)
    }
    #expect(await queueCode { _ = try await queue.add(coins) } == .closed)
    #expect(await queueCode { try await queue.synchronize() } == .closed)
    await queue.addObserver(RecordingObserver())
    #expect(await !queue.isWatched)
    let next = try PaymentQueue(store: store, storage: storage.reopened())
    #expect(await next.transactions.map { $0.transactionState } == [.purchasing])
  }

  @Test("applies an answer only to a payment without one")
  func lateAnswers() async throws {
    let queue = try makeQueue()
    let id = try await queue.add(coins)
    await store.hold()
    let observer = RecordingObserver()
    await queue.addObserver(observer)
    try await store.calls(reach: 1)
    // The queue is closed before the store's answer arrives: the request is repeated later.
    try await queue.close()
    await store.release()
    let next = try PaymentQueue(store: store, storage: storage.reopened(), options: testOptions(prefix: "n"))
    try await next.synchronize()
    #expect(try await next.transaction(id)?.transactionIdentifier == "s1000")
    #expect(await store.charges == ["r1": 1])
  }

  @Test("does not add a sale again that was finished while a long list was fetched")
  func staleList() async throws {
    let store = FakeStore()
    await store.limitPages(to: 1)
    for plan in ["first", "second"] { await store.renew(plan) }
    let queue = try PaymentQueue(store: store, storage: MemoryRecordStorage(), options: testOptions())
    try await queue.synchronize()
    let second = try #require(await queue.transactions.last)
    await store.freezeLists()
    await store.hold()
    let calls = await store.calls.count
    let listing = Task { try await queue.synchronize() }
    try await store.calls(reach: calls + 1)
    // The store receives the finish after the first page and before the second, which is a snapshot from before.
    try await queue.finish(second)
    let telling = Task { try await queue.synchronize() }
    await letOtherTasksRun()
    await store.release()
    try await listing.value
    try await telling.value
    #expect(await queue.transactions.map { $0.payment.productIdentifier } == ["first"])
    #expect(await store.finishes == [second.transactionIdentifier])
    try await queue.close()
  }
}
