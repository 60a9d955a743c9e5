// SPDX-License-Identifier: Apache-2.0

import Storefront
import Testing

/// A user's session with one fault, at every possible place.
@Suite("Payment queue: one fault at every step", .timeLimit(.minutes(2)))
struct FaultSweepTests {
  @Test(
    "neither loses nor repeats a purchase when any commit fails in any way",
    arguments: FaultyRecordStorage.Fault.allCases)
  func commits(fault: FaultyRecordStorage.Fault) async throws {
    let plain = try await Session().run()
    #expect(plain >= 20)
    for number in 1...plain {
      try await Session(fault: fault, atCommit: number).run()
    }
  }

  @Test(
    "neither loses nor repeats a purchase when a request to the store or its answer is lost",
    arguments: [FakeStore.Loss.request, .answer])
  func calls(loss: FakeStore.Loss) async throws {
    let plain = Session()
    try await plain.run()
    let count = await plain.store.calls.count
    #expect(count > 12)
    for number in 1...count {
      let session = Session()
      await session.store.lose(loss, ofCall: number)
      try await session.run()
    }
  }

  @Test("neither loses nor repeats a purchase when an answer is lost and then a commit fails")
  func both() async throws {
    let plain = Session()
    let commits = try await plain.run()
    let calls = await plain.store.calls.count
    var numbers = SeededNumbers(seed: 9)
    for _ in 0..<(fullSweeps ? 2000 : 60) {
      let session = Session(
        fault: FaultyRecordStorage.Fault.allCases.randomElement(using: &numbers) ?? .lost,
        atCommit: .random(in: 1...commits, using: &numbers))
      await session.store.lose(
        Bool.random(using: &numbers) ? .request : .answer, ofCall: .random(in: 1...calls, using: &numbers))
      try await session.run()
    }
  }
}

/// The user repeats failed operations, and relaunches the app if the queue stopped.
private final class Session {
  let store = FakeStore()
  private var storage: FaultyRecordStorage
  private var queue: PaymentQueue?
  private var launches = 0
  private var commits = 0
  /// The delivered sales, by the store's identifier.
  private var delivered: [String: Int] = [:]

  init(fault: FaultyRecordStorage.Fault? = nil, atCommit number: Int = 0) {
    storage = FaultyRecordStorage()
    if let fault { storage.fail(fault, atCommit: number) }
  }

  /// - Returns: The number of commits.
  @discardableResult
  func run() async throws -> Int {
    await store.decide { payment in
      switch payment.productIdentifier {
      case "refused": .decline(StoreError(.paymentCancelled, "The customer cancelled."))
      case "asked": .ask
      default: .approve
      }
    }
    try await launch()
    for product in ["coins", "refused", "asked", "book"] { try await buy(product) }
    try await trying { try await $0.synchronize() }
    try await expect(["asked": .purchasing, "book": .purchased, "coins": .purchased, "refused": .failed])
    try await deliver { $0 == "coins" || $0 == "refused" }
    await approve("asked")
    await store.renew("plan")
    try await trying { try await $0.synchronize() }
    try await expect(["asked": .purchased, "book": .purchased, "plan": .purchased])
    // After a relaunch all of these are delivered again.
    try await relaunch()
    try await expect(["asked": .purchased, "book": .purchased, "plan": .purchased])
    try await deliver { $0 != "plan" }
    try await trying { try await $0.synchronize() }
    try await trying { try await $0.restoreCompletedTransactions() }
    try await expect(["book": .restored, "plan": .purchased])
    try await relaunch()
    try await deliver { _ in true }
    try await trying { try await $0.synchronize() }
    try await expect([:])
    // A finish that was under way, and was lost, was not waiting when `synchronize` was called. The queue repeats it
    // after a while, which does not pass here, or when `synchronize` is called again.
    for _ in 0..<100 where await !store.unfinished.isEmpty {
      try await trying { try await $0.synchronize() }
      try await Task.sleep(for: .milliseconds(10))
    }
    let end = try #require(queue)
    try await end.close()

    // Each payment was charged once, and each sale is delivered and finished.
    let charged = await store.charges
    #expect(charged.count == 3 && charged.values.allSatisfy { $0 == 1 }, "\(charged)")
    #expect(await store.unfinished.isEmpty)
    let sales = await store.sales
    #expect(sales.count == 4)
    for sale in sales { #expect(delivered[sale.transaction.transactionIdentifier] ?? 0 >= 1) }
    #expect(delivered.count == 5, "\(delivered)")
    return commits + storage.commitCount
  }

  private func launch() async throws {
    launches += 1
    for _ in 0..<3 {
      do {
        queue = try PaymentQueue(
          store: store, storage: storage, options: testOptions(prefix: "launch\(launches)-"))
        return
      } catch {
        reopen()
      }
    }
    Issue.record("The queue cannot be opened.")
  }

  private func reopen() {
    commits += storage.commitCount
    storage = storage.reopened()
  }

  private func relaunch() async throws {
    try? await queue?.close()
    reopen()
    try await launch()
  }

  /// Runs an operation, and repeats it if it fails.
  private func trying(_ body: (PaymentQueue) async throws -> Void) async throws {
    for _ in 0..<6 {
      let queue = try #require(queue)
      do { return try await body(queue) } catch {}
      if await queue.fault != nil { try await relaunch() }
    }
    Issue.record("It fails however often it is tried.")
  }

  /// Buys one of a product, and checks after a failure whether it was bought.
  private func buy(_ product: String) async throws {
    try await trying { queue in
      if await queue.transactions.contains(where: { $0.payment.productIdentifier == product }) { return }
      try await queue.add(Payment(productIdentifier: product))
    }
  }

  private func approve(_ product: String) async {
    for (id, request) in await store.waiting where request.payment.productIdentifier == product {
      await store.decide(id, .approve)
    }
  }

  /// The queue's transactions by product, one of each.
  private func expect(_ states: [String: PaymentTransaction.State]) async throws {
    let found = try #require(queue)
    let transactions = await found.transactions
    #expect(transactions.count == states.count)
    let pairs = transactions.map { ($0.payment.productIdentifier, $0.transactionState) }
    #expect(Dictionary(pairs) { first, _ in first } == states)
  }

  /// Delivers and finishes the chosen transactions, which must be complete with the right receipt.
  private func deliver(_ isChosen: (String) -> Bool) async throws {
    let open = try #require(queue)
    for transaction in await open.transactions where isChosen(transaction.payment.productIdentifier) {
      try await trying { queue in
        guard let whole = try await queue.transaction(transaction.id) else { return }
        if let sale = whole.storeTransaction {
          #expect(sale.receipt == Array("receipt of \(sale.transactionIdentifier)".utf8))
          delivered[sale.transactionIdentifier, default: 0] += 1
        }
        try await queue.finish(whole)
      }
    }
  }
}
