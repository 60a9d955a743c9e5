// SPDX-License-Identifier: Apache-2.0

/// What a queue has to do with its store.
struct SynchronizationState {
  /// Payments that are to be sent.
  var toSend = WorkQueue()
  /// Payments that wait for somebody's approval. They are sent again now and then: only the answer to that says that
  /// it was refused.
  var awaitingApproval: Set<SequenceNumber> = []
  /// Finishes that the store is to be told of.
  var toFinish = WorkQueue()

  /// What speaks with the store while somebody watches.
  var loop: Task<Void, Never>?
  /// What the loop waits for, where it has nothing to do.
  var pause: (continuation: CheckedContinuation<Void, Never>, number: UInt64, isInterruptible: Bool)?
  var pauseCount: UInt64 = 0

  /// The last pause that lasted as long as was wanted.
  var lastPauseOver: UInt64 = 0
  /// How many questions the store has answered.
  var progress = 0

  /// How many lists of sales are being fetched.
  var fetches = 0
  /// Sales that the store was told to be finished while a list was being fetched: later pages may be older.
  var finishedMeanwhile: Set<String> = []

  var hasWork: Bool { !toSend.isEmpty || !toFinish.isEmpty }
}
