// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storefront
import Testing

/// `true` if sweeps that take minutes are wanted.
let fullSweeps = ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == "1"

@Suite("Payment queue: random schedules", .timeLimit(.minutes(10)))
struct ScheduleTests {
  @Test("behaves like a simple model, whatever fails in between")
  func schedules() async throws {
    for seed in 1...(fullSweeps ? 1000 : 100) as ClosedRange<UInt64> {
      let schedule = Schedule(seed: seed)
      try await schedule.run(steps: 60)
      // Only the first failure is of interest.
      if schedule.hasFailed { return }
    }
  }
}

/// One random schedule, and what is expected after each of its steps.
///
/// The model has the request of each transaction in the queue. The transaction may have the state that the store
/// decided for the request, and must have it after a successful synchronization.
private final class Schedule {
  private enum Kind: Hashable {
    /// A payment, by its request.
    case payment(String)
    /// A sale without a request.
    case renewal(String)
    /// A restoration, by its original.
    case restoration(String)
  }

  private let seed: UInt64
  private var numbers: SeededNumbers
  private let store = FakeStore()
  private var storage = FaultyRecordStorage()
  private var queue: PaymentQueue?
  private var launches = 0
  private var step = ""
  private(set) var hasFailed = false

  private var kinds: [PaymentTransaction.ID: Kind] = [:]
  /// The number of acknowledged payments.
  private var acknowledged = 0
  /// `true` if the last step added a payment that may or may not be stored.
  private var isUncertain = false
  /// Sales whose transaction was finished.
  private var finished: Set<String> = []
  private var states: [PaymentTransaction.ID: PaymentTransaction.State] = [:]
  /// All transactions that were seen, because numbers must not be reused.
  private var seen: [PaymentTransaction.ID: Kind] = [:]

  init(seed: UInt64) {
    self.seed = seed
    numbers = SeededNumbers(seed: seed)
  }

  func run(steps: Int) async throws {
    await store.decide { payment in
      switch payment.productIdentifier.prefix(3) {
      case "ask": .ask
      case "no ": .decline(StoreError(.paymentCancelled, "no"))
      default: .approve
      }
    }
    await store.limitPages(to: 3)
    try launch()
    for number in 0..<steps where !hasFailed {
      try await perform(number)
      if try await check(isIdle: false) == false { return }
    }
    try await expectFinalState()
  }

  private func perform(_ number: Int) async throws {
    // Some of the steps have faults.
    if Int.random(in: 0..<6, using: &numbers) == 0 {
      let fault = FaultyRecordStorage.Fault.allCases.randomElement(using: &numbers) ?? .full
      storage.fail(fault, atCommit: .random(in: 1...3, using: &numbers))
    }
    if Int.random(in: 0..<4, using: &numbers) == 0 {
      await store.lose(
        Bool.random(using: &numbers) ? .request : .answer, ofCall: .random(in: 1...5, using: &numbers))
    }
    let open = try #require(queue)
    switch Int.random(in: 0..<12, using: &numbers) {
    case 0..<4:
      step = "\(number) add"
      await add(open)
    case 4..<6:
      step = "\(number) synchronize"
      if (try? await open.synchronize()) != nil { _ = try await check(isIdle: true) }
    case 6:
      step = "\(number) decide"
      let waiting = await store.waiting.keys.sorted()
      if let request = waiting.randomElement(using: &numbers) {
        await store.decide(
          request, Bool.random(using: &numbers) ? .approve : .decline(StoreError(.paymentNotAllowed, "no")))
      }
    case 7:
      step = "\(number) renew"
      await store.renew("plan")
    case 8..<10:
      step = "\(number) finish"
      try await finish(open)
    case 10:
      step = "\(number) restore"
      try? await open.restoreCompletedTransactions()
    default:
      step = "\(number) relaunch"
      try await relaunch()
    }
    if await open.fault != nil { try await relaunch() }
    storage.failNothing()
    await store.loseNothing()
  }

  private func add(_ queue: PaymentQueue) async {
    let product = ["coins", "book 1", "book 2", "ask", "no "].randomElement(using: &numbers) ?? "coins"
    do {
      let id = try await queue.add(Payment(productIdentifier: product))
      acknowledged += 1
      kinds[id] = .payment("?")
    } catch {
      // After a failed sync it may be stored; after any other error it is not.
      isUncertain = error.storageError?.code == .syncFailed
    }
  }

  private func finish(_ queue: PaymentQueue) async throws {
    guard let transaction = await queue.transactions.randomElement(using: &numbers) else { return }
    do {
      try await queue.finish([transaction.id])
      if transaction.transactionState == .purchasing { fail("A transaction in Purchasing was finished.") }
      forget(transaction)
    } catch {
      switch error.code {
      case .stillPurchasing:
        if transaction.transactionState != .purchasing { fail("\(error)") }
      case .storage:
        guard error.storageError?.code == .syncFailed else { return }
        // Either it is finished, or it is still there.
        try await relaunch()
        let next = try #require(self.queue)
        if await !next.transactions.contains(where: { $0.id == transaction.id }) { forget(transaction) }
      default: fail("\(error)")
      }
    }
  }

  private func forget(_ transaction: PaymentTransaction) {
    kinds[transaction.id] = nil
    states[transaction.id] = nil
    if let sale = transaction.transactionIdentifier { finished.insert(sale) }
  }

  private func launch() throws {
    launches += 1
    queue = try PaymentQueue(
      store: store, storage: storage, options: testOptions(prefix: "launch\(launches)-"))
  }

  private func relaunch() async throws {
    try? await queue?.close()
    storage = storage.reopened()
    try launch()
  }

  /// Compares the queue with the model.
  private func check(isIdle: Bool) async throws -> Bool {
    let open = try #require(queue)
    guard await open.fault == nil else { return true }
    let transactions = await open.transactions
    let decided = await store.decided
    var requests: Set<String> = []
    var sales: Set<String> = []
    var originals: Set<String> = []
    var found: Set<PaymentTransaction.ID> = []
    for transaction in transactions {
      found.insert(transaction.id)
      if let before = states[transaction.id], before != .purchasing, before != transaction.transactionState {
        fail("\(transaction.id) went from \(before) to \(transaction.transactionState).")
      }
      states[transaction.id] = transaction.transactionState
      let kind: Kind
      switch transaction.outcome {
      case .purchasing: kind = .payment("?")
      case .failed: kind = .payment("?")
      case .purchased(let sale):
        if !sales.insert(sale.transactionIdentifier).inserted { fail("A sale has two transactions.") }
        if finished.contains(sale.transactionIdentifier) { fail("A finished sale came again.") }
        if let request = sale.requestIdentifier {
          if !requests.insert(request).inserted { fail("A request has two transactions.") }
          guard case .purchased(sale.withoutReceipt)? = decided[request]?.withoutReceipt else {
            fail("The store did not sell \(request).")
            return false
          }
          kind = .payment("?")
        } else {
          kind = .renewal(sale.transactionIdentifier)
        }
        let receipt = try await open.transaction(transaction.id)?.transactionReceipt
        if receipt != Array("receipt of \(sale.transactionIdentifier)".utf8) { fail("A receipt is wrong.") }
      case .restored(_, let original):
        let identifier = original.transactionIdentifier
        if !originals.insert(identifier).inserted { fail("An original was restored twice.") }
        if !finished.contains(identifier) { fail("What was not finished was restored.") }
        kind = .restoration(identifier)
      }
      if let before = seen[transaction.id], before != kind { fail("A number was given twice.") }
      if kinds[transaction.id] == nil {
        // New: a sale without a request, a restoration, or a payment whose addition seemed to fail.
        if case .payment = kind {
          if !isUncertain { fail("Nobody added \(transaction).") }
          isUncertain = false
          acknowledged += 1
        }
        kinds[transaction.id] = kind
      }
      seen[transaction.id] = kind
    }
    isUncertain = false
    for id in kinds.keys where !found.contains(id) { fail("\(id) was lost.") }
    // No request is charged twice, and no declined one at all.
    for (request, count) in await store.charges where count > 1 {
      fail("\(request) was charged \(count) times.")
    }
    if isIdle { try await checkSettled(transactions, sales) }
    return !hasFailed
  }

  /// After a synchronisation the queue has what the store has.
  private func checkSettled(_ transactions: [PaymentTransaction], _ sales: Set<String>) async throws {
    let undecided = await store.waiting.count
    let purchasing = transactions.count { $0.transactionState == .purchasing }
    if purchasing != undecided { fail("\(purchasing) are in Purchasing; \(undecided) wait at the store.") }
    for sale in await store.unfinished where !sales.contains(sale.transactionIdentifier) {
      fail("The sale \(sale.transactionIdentifier) was not delivered.")
    }
  }

  /// Finally, without faults, everything is delivered and finished.
  private func expectFinalState() async throws {
    step = "end"
    try await relaunch()
    for request in await store.waiting.keys { await store.decide(request, .approve) }
    var open = try #require(queue)
    try await open.synchronize()
    for request in await store.waiting.keys { await store.decide(request, .approve) }
    try await open.synchronize()
    guard try await check(isIdle: true) else { return }
    try await open.restoreCompletedTransactions()
    guard try await check(isIdle: true) else { return }
    // All are delivered again at the next launch, complete.
    try await relaunch()
    open = try #require(queue)
    let delivered = await open.redelivered()
    if Set(delivered.map { $0.id }) != Set(kinds.keys) || delivered.count != kinds.count {
      fail("\(delivered.count) of \(kinds.count) transactions were delivered.")
    }
    let owned = Set(delivered.compactMap { $0.originalTransaction?.transactionIdentifier })
    for sale in await store.sales where sale.isRestorable && sale.isFinished {
      if !owned.contains(sale.transaction.transactionIdentifier) { fail("\(sale) was not restored.") }
    }
    for transaction in delivered {
      try await open.finish([transaction.id])
      forget(transaction)
    }
    try await open.synchronize()
    if await !open.transactions.isEmpty { fail("The queue is not empty.") }
    if await !store.unfinished.isEmpty { fail("The store has sales that nobody finished.") }
    // Every acknowledged payment has an outcome, and every sale at most one charge.
    let decided = await store.decided
    if decided.count != acknowledged {
      fail("\(acknowledged) payments were acknowledged, \(decided.count) decided.")
    }
    for (request, outcome) in decided {
      if case .purchased(let sale) = outcome {
        let charge = await store.charges[request] ?? 0
        let isBook = sale.payment.productIdentifier.hasPrefix("book")
        if charge != 1, !(isBook && charge == 0) { fail("\(request) was charged \(charge) times.") }
        if !finished.contains(sale.transactionIdentifier) { fail("\(request) was sold and not delivered.") }
      }
    }
    try await open.close()
  }

  private func fail(_ message: String) {
    hasFailed = true
    Issue.record("Seed \(seed), step \(step): \(message)")
  }
}

extension StoreTransaction {
  fileprivate var withoutReceipt: StoreTransaction {
    var copy = self
    copy.receipt = []
    return copy
  }
}

extension PurchaseOutcome {
  fileprivate var withoutReceipt: PurchaseOutcome {
    if case .purchased(let sale) = self { .purchased(sale.withoutReceipt) } else { self }
  }
}
