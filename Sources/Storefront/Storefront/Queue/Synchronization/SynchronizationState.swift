// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

/// The pending synchronization with the store.
struct SynchronizationState {
  /// Payments to send.
  var toSend: ArraySlice<SequenceNumber> = []
  /// Payments that wait for approval. They are sent again periodically, because only the answer reports a refusal.
  var awaitingApproval: Set<SequenceNumber> = []
  /// Finishes to send.
  var toFinish: ArraySlice<SequenceNumber> = []

  /// The synchronization loop, which runs while the queue is observed or has finishes to send.
  var loop: Task<Void, Never>?
  /// The current pause of the loop.
  var pause: Pause?

  struct Pause {
    /// Receives `true` if the whole duration elapsed.
    let isOver: FirstResult<Bool>
    /// `true` if new work ends the pause; `false` after a failure.
    let isInterruptible: Bool
    /// `true` if the queue was observed when the pause began.
    let isObserved: Bool
  }

  /// Receives the store's signals, while the queue is observed.
  var listener: Task<Void, Never>?
  /// `true` if the store has signalled a change that was not fetched yet.
  var isStale = false

  /// The number of requests that the store answered.
  var progress = 0
  /// The delay that the store asked for when it was last unavailable.
  var retryAfter: Duration?

  /// The number of lists of sales that are being fetched.
  var fetches = 0
  /// Sales whose finish was sent while a list was being fetched. Later pages may still contain them.
  var finishedDuringFetch: Set<String> = []

  var hasWork: Bool { !toSend.isEmpty || !toFinish.isEmpty || isStale }
}

/// A fair asynchronous lock around requests to the store. The answer to a request is applied before the next request
/// is sent. So no list of sales in flight is older than a finish that was sent meanwhile.
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
  func withRequestLock<Result, Failure>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if !requestLock.takeIfFree() {
      await withCheckedContinuation { requestLock.wait($0) }
    }
    defer { requestLock.end() }
    return try await body()
  }
}
