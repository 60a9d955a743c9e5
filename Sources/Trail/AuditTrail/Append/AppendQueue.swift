// SPDX-License-Identifier: Apache-2.0

/// Appends that wait: first to be prepared, then to be committed together, then to be synced.
struct AppendQueue {
  /// One call of append, and what has become of its records so far.
  struct Request<Element: Sendable>: Sendable {
    /// For each record, in order: itself, then what was prepared of it, then where it stands.
    let elements: [Element]
    /// The approximate memory of the records.
    let byteCount: Int
    let mode: AcknowledgementMode
    let continuation: CheckedContinuation<Result<[AuditAcknowledgement], AuditError>, Never>

    /// The same call, a step further: what has become of its records now is taken from the front of `results`.
    func taking<Next>(_ results: inout ArraySlice<Next>) -> Request<Next> {
      let own = Array(results.prefix(elements.count))
      results = results.dropFirst(elements.count)
      return Request<Next>(elements: own, byteCount: byteCount, mode: mode, continuation: continuation)
    }
  }

  typealias ArrivedRequest = Request<AuditRecord>
  typealias PreparedRequest = Request<PreparedRecord>
  /// Its records are entered, and not synced yet.
  typealias EnteredRequest = Request<AuditAcknowledgement>

  /// The number of batches that may be entered during a sync that does not cover them.
  private static let batchesAhead = 2

  private var arrived = Line<AuditRecord>()
  private var prepared = Line<PreparedRecord>()
  private var entered = Line<AuditAcknowledgement>()
  /// Those being prepared are counted as well.
  private var waitingRecords = 0
  private var waitingBytes = 0
  private var isSynchronizing = false
  /// Since the sync that is under way began.
  private var enteredBatches = 0
  private let maximumWaiting: Int
  private let maximumWaitingByteCount: Int
  private let maximumBatch: Int
  private var isClosed = false

  init(maximumWaiting: Int, maximumWaitingByteCount: Int, maximumBatch: Int) {
    self.maximumWaiting = maximumWaiting
    self.maximumWaitingByteCount = maximumWaitingByteCount
    self.maximumBatch = maximumBatch
  }

  /// Takes a request in, of any size, unless there wait as many as may. A large one would else have to find the queue almost
  /// empty, while small ones fill it again and again.
  ///
  /// - Returns: Whether the caller has to start the preparing; otherwise another thread is doing it.
  /// - Throws: ``AuditError/Code/closed``, ``AuditError/Code/overloaded``.
  mutating func add(_ request: ArrivedRequest) throws(AuditError) -> Bool {
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
    waitingRecords += request.elements.count
    waitingBytes += request.byteCount
    return arrived.add(request)
  }

  /// The requests to prepare next: those of a batch. Empty when the work is done.
  mutating func nextToPrepare() -> [ArrivedRequest] { arrived.next(maximumBatch) }

  /// Takes requests back that were prepared.
  ///
  /// - Returns: Whether the caller has to start the committing; otherwise another thread is doing it.
  mutating func add(_ requests: [PreparedRequest]) -> Bool {
    var isToStart = false
    for request in requests where prepared.add(request) { isToStart = true }
    return isToStart
  }

  /// The requests to commit next: those of a batch. Empty when the work is done, or has to wait for a sync.
  mutating func nextToCommit() -> [PreparedRequest] {
    // Less than a batch shares the next sync with records that arrive until then.
    let isWorthwhile = prepared.recordCount >= maximumBatch && enteredBatches < Self.batchesAhead
    guard !isSynchronizing || isWorthwhile || isClosed else {
      prepared.pause()
      return []
    }
    let batch = prepared.next(maximumBatch)
    for request in batch {
      waitingRecords -= request.elements.count
      waitingBytes -= request.byteCount
    }
    return batch
  }

  /// Takes requests back whose records were entered in one transaction.
  ///
  /// - Returns: Whether the caller has to start the syncing; otherwise another thread is doing it.
  mutating func add(_ requests: [EnteredRequest]) -> Bool {
    enteredBatches += 1
    var isToStart = false
    for request in requests where entered.add(request) { isToStart = true }
    return isToStart
  }

  /// The requests to sync next: all that are entered. Empty when the work is done.
  mutating func nextToSynchronize() -> [EnteredRequest] {
    let requests = entered.next(.max)
    isSynchronizing = !requests.isEmpty
    enteredBatches = 0
    return requests
  }

  /// Ends the sync that is under way.
  ///
  /// - Returns: Whether the caller has to start the committing again.
  mutating func endSynchronizing() -> Bool {
    isSynchronizing = false
    return prepared.resume()
  }

  mutating func close() { isClosed = true }
}

/// Queued requests, and whether a thread is working on them.
private struct Line<Element: Sendable> {
  private var waiting: [AppendQueue.Request<Element>] = []
  private var isWorkedOn = false
  /// Of all requests that wait.
  private(set) var recordCount = 0

  /// Indicates whether the caller has to start the work.
  mutating func add(_ request: AppendQueue.Request<Element>) -> Bool {
    waiting.append(request)
    recordCount += request.elements.count
    defer { isWorkedOn = true }
    return !isWorkedOn
  }

  /// Whole requests, of at most `maximum` records together unless one alone has more; without any, no thread is at
  /// work on them any more.
  mutating func next(_ maximum: Int) -> [AppendQueue.Request<Element>] {
    var taken = 0
    var count = 0
    while count < waiting.count, count == 0 || waiting[count].elements.count <= maximum - taken {
      taken += waiting[count].elements.count
      count += 1
    }
    let batch = Array(waiting.prefix(count))
    waiting.removeFirst(count)
    recordCount -= taken
    if batch.isEmpty { isWorkedOn = false }
    return batch
  }

  /// No thread works on them any more, though there may be some.
  mutating func pause() { isWorkedOn = false }

  /// Indicates whether the caller has to start the work again.
  mutating func resume() -> Bool {
    guard !isWorkedOn, !waiting.isEmpty else { return false }
    isWorkedOn = true
    return true
  }
}

/// When an append is acknowledged.
public enum AcknowledgementMode: String, Sendable, Hashable, CaseIterable {
  /// When the entry survives the loss of power. A checkpoint that includes it follows within the trail's interval.
  case durable
  /// When a signed checkpoint that includes the entry is published as well: from then on nobody can deny it.
  case checkpointed
  /// When as many witnesses as the policy requires cosigned such a checkpoint as well.
  case witnessed
}
