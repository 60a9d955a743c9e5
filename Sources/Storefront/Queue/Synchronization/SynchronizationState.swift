// SPDX-License-Identifier: Apache-2.0

/// The pending synchronization with the store.
struct SynchronizationState {
  /// Payments to send.
  var toSend = WorkQueue()
  /// Payments that are waiting for approval. They are sent again periodically: only the answer reports a refusal.
  var awaitingApproval: Set<SequenceNumber> = []
  /// Finishes to send.
  var toFinish = WorkQueue()

  /// The synchronization loop, while the queue is observed or has finishes to send.
  var loop: Task<Void, Never>?
  /// The current pause of the loop.
  var pause: Pause?
  var pauseCount: UInt64 = 0

  struct Pause {
    let continuation: CheckedContinuation<Void, Never>
    let number: UInt64
    /// Whether new work ends it; `false` after a failure.
    let isInterruptible: Bool
    /// Whether the queue was observed when it began.
    let isObserved: Bool
  }

  /// Receives the store's signals, while the queue is observed.
  var listener: Task<Void, Never>?
  /// Whether the store has signalled a change that was not fetched yet.
  var isStale = false

  /// The number of the last pause whose whole duration elapsed.
  var lastPauseOver: UInt64 = 0
  /// The number of requests that the store answered.
  var progress = 0

  /// The number of lists of sales that are being fetched.
  var fetches = 0
  /// Sales whose finish was sent while a list was being fetched: later pages may still contain them.
  var finishedDuringFetch: Set<String> = []

  var hasWork: Bool { !toSend.isEmpty || !toFinish.isEmpty || isStale }
}

/// A first-in, first-out queue of transactions.
struct WorkQueue {
  private var items: [SequenceNumber]
  private var taken = 0

  init(_ items: [SequenceNumber] = []) { self.items = items }

  var isEmpty: Bool { taken == items.count }

  var count: Int { items.count - taken }

  mutating func append(_ item: SequenceNumber) { items.append(item) }

  mutating func append(contentsOf more: some Sequence<SequenceNumber>) { items.append(contentsOf: more) }

  mutating func popFirst() -> SequenceNumber? {
    guard taken < items.count else { return nil }
    defer {
      taken += 1
      if taken * 2 >= items.count {
        items.removeFirst(taken)
        taken = 0
      }
    }
    return items[taken]
  }
}

/// A fair asynchronous lock around requests to the store. The answer to a request is applied before the next request is
/// sent, so that no list of sales in flight is older than a finish that was sent meanwhile.
struct StoreRequestLock {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Takes the lock if it is free.
  mutating func takeIfFree() -> Bool {
    defer { isTaken = true }
    return !isTaken
  }

  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

  /// Releases the lock to the longest waiter.
  mutating func end() {
    if waiting.isEmpty {
      isTaken = false
    } else {
      waiting.removeFirst().resume()
    }
  }
}

extension PaymentQueue {
  /// Sends one request and applies its answer while holding the lock.
  func withRequestLock<Result>(
    _ body: () async throws(SynchronizationFault) -> Result
  ) async throws(SynchronizationFault) -> Result {
    if !requestLock.takeIfFree() {
      await withCheckedContinuation { requestLock.wait($0) }
    }
    defer { requestLock.end() }
    return try await body()
  }
}

/// Why synchronization failed.
enum SynchronizationFault: Error {
  case store(StoreUnavailable)
  case queue(PaymentQueueError)
}

/// An answer of the store, or the continuation that waits for it.
struct AnswerWait<Answer: Sendable> {
  private var result: Result<Answer, any Error>?
  private var continuation: CheckedContinuation<Answer, any Error>?

  /// Resumes the continuation with the result, now or when it is known.
  mutating func wait(_ continuation: CheckedContinuation<Answer, any Error>) {
    if let result { continuation.resume(with: result) } else { self.continuation = continuation }
  }

  /// Sets the result, unless there is one already.
  mutating func end(_ result: Result<Answer, any Error>) {
    guard self.result == nil else { return }
    self.result = result
    continuation?.resume(with: result)
    continuation = nil
  }
}
