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
