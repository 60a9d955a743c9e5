// SPDX-License-Identifier: Apache-2.0

/// The queue of waiting appends, which are first prepared, then committed together, then synced.
struct AppendQueue {
  enum Stage: Int {
    case preparing, committing, synchronizing
  }

  /// The number of batches that may be entered during a sync that does not cover them.
  private static let batchesAhead = 2

  private var lines = [Line](repeating: Line(), count: 3)
  /// The number of waiting records, including those that are being prepared.
  private var waitingRecords = 0
  private var waitingBytes = 0
  private var isSynchronizing = false
  /// The number of batches that were entered since the running sync began.
  private var enteredBatches = 0
  private let maximumWaiting: Int
  private let maximumWaitingByteCount: Int
  private let maximumBatch: Int
  private var isClosed = false

  /// The requests that wait for a stage.
  private struct Line {
    var waiting: [Request] = []
    var isWorkedOn = false
    var recordCount = 0
  }

  init(maximumWaiting: Int, maximumWaitingByteCount: Int, maximumBatch: Int) {
    self.maximumWaiting = maximumWaiting
    self.maximumWaitingByteCount = maximumWaitingByteCount
    self.maximumBatch = maximumBatch
  }

  /// Accepts a request of any size, unless the limit of waiting records or bytes is reached.
  ///
  /// If its own size counted, a large request would need an almost empty queue, which small requests refill again and
  /// again. Returns `true` if the caller must start preparing; otherwise another thread is doing it.
  mutating func accept(_ request: Request) throws(AuditError) -> Bool {
    guard !isClosed else { throw AuditError(.closed, "The trail is closed.") }
    guard
      waitingRecords == 0
        || waitingRecords < maximumWaiting && waitingBytes < maximumWaitingByteCount
    else {
      throw AuditError(
        .overloaded,
        "\(waitingRecords) records of \(waitingBytes) bytes wait to be stored; no more are taken in beyond "
          + "\(maximumWaiting) records or \(maximumWaitingByteCount) bytes. Try again.")
    }
    waitingRecords += request.count
    waitingBytes += request.byteCount
    return add([request], to: .preparing)
  }

  /// Queues a batch for a stage, and returns `true` if the caller must start the stage because no thread works on it.
  mutating func add(_ requests: [Request], to stage: Stage) -> Bool {
    if stage == .synchronizing { enteredBatches += 1 }
    defer { lines[stage.rawValue].isWorkedOn = true }
    lines[stage.rawValue].waiting += requests
    lines[stage.rawValue].recordCount += requests.reduce(0) { $0 + $1.count }
    return !lines[stage.rawValue].isWorkedOn
  }

  /// Removes and returns the next batch for a stage.
  ///
  /// A batch has whole requests of at most ``maximumBatch`` records together, or one request that has more. A sync
  /// takes all that wait. If it returns `nil`, because there is no batch or it must wait for a sync, no thread is
  /// working on the stage any more.
  mutating func next(_ stage: Stage) -> [Request]? {
    // During a sync, less than a full batch waits, and shares the next sync with requests that arrive until then.
    let isWorthwhile = lines[stage.rawValue].recordCount >= maximumBatch && enteredBatches < Self.batchesAhead
    let mustWait = stage == .committing && isSynchronizing && !isWorthwhile && !isClosed
    let maximum = stage == .synchronizing ? Int.max : maximumBatch
    var batch: [Request] = []
    var (recordCount, byteCount) = (0, 0)
    for request in lines[stage.rawValue].waiting where !mustWait {
      guard batch.isEmpty || request.count <= maximum - recordCount else { break }
      recordCount += request.count
      byteCount += request.byteCount
      batch.append(request)
    }
    lines[stage.rawValue].waiting.removeFirst(batch.count)
    lines[stage.rawValue].recordCount -= recordCount
    lines[stage.rawValue].isWorkedOn = !batch.isEmpty
    switch stage {
    case .preparing: break
    case .committing:
      waitingRecords -= recordCount
      waitingBytes -= byteCount
    case .synchronizing:
      isSynchronizing = !batch.isEmpty
      enteredBatches = 0
    }
    return batch.isEmpty ? nil : batch
  }

  /// Ends the running sync, and returns `true` if the caller must start committing again.
  mutating func endSynchronizing() -> Bool {
    isSynchronizing = false
    let line = lines[Stage.committing.rawValue]
    guard !line.isWorkedOn, !line.waiting.isEmpty else { return false }
    lines[Stage.committing.rawValue].isWorkedOn = true
    return true
  }

  mutating func close() { isClosed = true }
}

extension AppendQueue.Request {
  /// The number of records, in whatever form they are.
  var count: Int { records.count + prepared.count + acknowledgements.count }
}
