// SPDX-License-Identifier: Apache-2.0

import ReceiptHTTP
import Storefront
import Synchronization
import Testing

/// Time that passes only when a test says so.
actor ManualTime {
  private var sleepers: [(id: Int, duration: Duration, continuation: CheckedContinuation<Void, Never>)] = []
  private var cancelled: Set<Int> = []
  private var count = 0
  private let watchers = Watchers()
  /// All durations that were waited for.
  private(set) var waits: [Duration] = []

  private func makeID() -> Int {
    count += 1
    return count
  }

  func sleep(_ duration: Duration) async throws {
    let id = makeID()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waits.append(duration)
        watchers.wake()
        if cancelled.remove(id) != nil {
          continuation.resume()
        } else {
          sleepers.append((id, duration, continuation))
        }
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
    try Task.checkCancellation()
  }

  private func cancel(_ id: Int) {
    if let index = sleepers.firstIndex(where: { $0.id == id }) {
      sleepers.remove(at: index).continuation.resume()
    } else {
      cancelled.insert(id)
    }
  }

  /// Waits for the total number of begun waits.
  func waits(reach count: Int) async throws {
    while case let seen = watchers.changes, waits.count < count { try await watchers.change(after: seen) }
  }

  /// Ends every wait.
  func pass() {
    let ended = sleepers
    sleepers = []
    for sleeper in ended { sleeper.continuation.resume() }
  }

  nonisolated var remoteTime: RemoteTime {
    RemoteTime(
      now: RemoteTime.system.now, elapsed: RemoteTime.system.elapsed, sleep: { try await self.sleep($0) },
      random: { 1 })
  }
}

/// Consecutive identifiers of requests: `r1`, `r2`…
final class RequestNumbers: Sendable {
  private let prefix: String
  private let count = Atomic<Int>(0)

  init(prefix: String) { self.prefix = prefix }

  func next() -> String { "\(prefix)\(count.add(1, ordering: .relaxed).newValue)" }
}

/// Options for tests: time stands still.
func testOptions(
  _ time: ManualTime = ManualTime(), registered: Set<String>? = nil, canMakePayments: Bool = true,
  prefix: String = "r", log: @escaping @Sendable (String) -> Void = { _ in }
) -> PaymentQueue.Options {
  let numbers = RequestNumbers(prefix: prefix)
  return PaymentQueue.Options(
    canMakePayments: { canMakePayments }, registeredProductIdentifiers: registered, time: time.remoteTime,
    makeIdentifier: { numbers.next() }, log: log)
}

/// An observer that records its calls, and finishes chosen transactions.
actor RecordingObserver: TransactionObserver {
  private(set) var updated: [PaymentTransaction] = []
  private(set) var removed: [PaymentTransaction] = []
  private(set) var restoreErrors: [StoreError] = []
  private(set) var restoreFinishedCount = 0
  /// Each call, in order.
  private(set) var events: [PaymentQueueUpdate] = []
  private(set) var calls = 0
  private var isBusy = false
  /// `true` if two calls ever overlapped.
  private(set) var hasOverlapped = false
  private let finishes: @Sendable (PaymentTransaction) -> Bool
  private let watchers = Watchers()

  init(finishes: @escaping @Sendable (PaymentTransaction) -> Bool = { _ in false }) {
    self.finishes = finishes
  }

  func paymentQueue(_ queue: PaymentQueue, updated transactions: [PaymentTransaction]) async {
    begin()
    updated += transactions
    events.append(.updated(transactions))
    await Task.yield()
    for transaction in transactions where finishes(transaction) { try? await queue.finish(transaction) }
    end()
  }

  func paymentQueue(_ queue: PaymentQueue, removed transactions: [PaymentTransaction]) async {
    begin()
    removed += transactions
    events.append(.removed(transactions))
    end()
  }

  func paymentQueue(_ queue: PaymentQueue, restoreFailedWith error: StoreError) async {
    begin()
    restoreErrors.append(error)
    events.append(.restoreFailed(error))
    end()
  }

  func paymentQueueRestoreFinished(_ queue: PaymentQueue) async {
    begin()
    restoreFinishedCount += 1
    events.append(.restoreFinished)
    end()
  }

  private func begin() {
    if isBusy { hasOverlapped = true }
    isBusy = true
    calls += 1
  }

  private func end() {
    isBusy = false
    watchers.wake()
  }

  /// Waits until the recorded calls fulfil a condition.
  func wait(until condition: @Sendable (isolated RecordingObserver) -> Bool) async throws {
    while case let seen = watchers.changes, !condition(self) { try await watchers.change(after: seen) }
  }

  /// The last reported state of each transaction.
  var states: [PaymentTransaction.ID: PaymentTransaction.State] {
    Dictionary(updated.map { ($0.id, $0.transactionState) }) { $1 }
  }
}

extension PaymentQueue {
  /// The transactions that a new observer receives at once, with receipts.
  func redelivered() async -> [PaymentTransaction] {
    let expected = transactions.count
    guard expected > 0 else { return [] }
    var found: [PaymentTransaction] = []
    for await update in updates {
      if case .updated(let transactions) = update { found += transactions }
      if found.count >= expected { break }
    }
    return found
  }
}

/// The code of the queue's error that `body` throws, if any.
func queueCode(_ body: () async throws -> Void) async -> PaymentQueueError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? PaymentQueueError)?.code
  }
}

extension PaymentQueue {
  /// Finishes a transaction by its identifier.
  func finish(_ id: PaymentTransaction.ID) throws(PaymentQueueError) { try finish([id]) }
}
