// SPDX-License-Identifier: Apache-2.0

/// The queue of waiting appends, which are first prepared, then committed together, then synced.
struct AppendQueue {
  /// One call of append, with the progress of its records.
  struct Request<Element: Sendable>: Sendable {
    /// One element for each record, in order: the record itself, then its prepared form, then its acknowledgement.
    let elements: [Element]
    /// The approximate size of the records, in bytes.
    let byteCount: Int
    let mode: AcknowledgementMode
    let continuation: CheckedContinuation<Result<[AuditAcknowledgement], AuditError>, Never>

    /// Returns the same call one stage later, and takes its elements from the front of `results`.
    func taking<Next>(_ results: inout ArraySlice<Next>) -> Request<Next> {
      let own = Array(results.prefix(elements.count))
      results = results.dropFirst(elements.count)
      return Request<Next>(elements: own, byteCount: byteCount, mode: mode, continuation: continuation)
    }
  }

  typealias ArrivedRequest = Request<AuditRecord>
  typealias PreparedRequest = Request<PreparedRecord>
  /// A request whose records are entered but not synced yet.
  typealias EnteredRequest = Request<AuditAcknowledgement>

  /// The number of batches that may be entered during a sync that does not cover them.
  private static let batchesAhead = 2

  private var arrived = Line<AuditRecord>()
  private var prepared = Line<PreparedRecord>()
  private var entered = Line<AuditAcknowledgement>()
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

  init(maximumWaiting: Int, maximumWaitingByteCount: Int, maximumBatch: Int) {
    self.maximumWaiting = maximumWaiting
    self.maximumWaitingByteCount = maximumWaitingByteCount
    self.maximumBatch = maximumBatch
  }

  /// Accepts a request of any size, unless the limit of waiting records or bytes is reached.
  ///
  /// If its own size counted, a large request would need an almost empty queue, which small requests refill again and
  /// again.
  ///
  /// - Returns: `true` if the caller must start preparing; otherwise another thread is doing it.
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

  /// Returns the next batch of requests to prepare, or an empty array if the work is done.
  mutating func nextToPrepare() -> [ArrivedRequest] { arrived.next(maximumBatch) }

  /// Queues prepared requests for committing.
  ///
  /// - Returns: `true` if the caller must start committing; otherwise another thread is doing it.
  mutating func add(_ requests: [PreparedRequest]) -> Bool {
    var isToStart = false
    for request in requests where prepared.add(request) { isToStart = true }
    return isToStart
  }

  /// Returns the next batch of requests to commit, or an empty array if the work is done or must wait for a sync.
  mutating func nextToCommit() -> [PreparedRequest] {
    // During a sync, less than a full batch waits, and shares the next sync with requests that arrive until then.
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

  /// Queues requests for syncing, after their records were entered in one transaction.
  ///
  /// - Returns: `true` if the caller must start syncing; otherwise another thread is doing it.
  mutating func add(_ requests: [EnteredRequest]) -> Bool {
    enteredBatches += 1
    var isToStart = false
    for request in requests where entered.add(request) { isToStart = true }
    return isToStart
  }

  /// Returns all entered requests, to be synced next, or an empty array if the work is done.
  mutating func nextToSynchronize() -> [EnteredRequest] {
    let requests = entered.next(.max)
    isSynchronizing = !requests.isEmpty
    enteredBatches = 0
    return requests
  }

  /// Ends the running sync.
  ///
  /// - Returns: `true` if the caller must start committing again.
  mutating func endSynchronizing() -> Bool {
    isSynchronizing = false
    return prepared.resume()
  }

  mutating func close() { isClosed = true }
}

/// A queue of requests that knows if a thread is working on it.
private struct Line<Element: Sendable> {
  private var waiting: [AppendQueue.Request<Element>] = []
  private var isWorkedOn = false
  /// The number of records in all waiting requests.
  private(set) var recordCount = 0

  /// Queues a request, and returns `true` if the caller must start the work.
  mutating func add(_ request: AppendQueue.Request<Element>) -> Bool {
    waiting.append(request)
    recordCount += request.elements.count
    defer { isWorkedOn = true }
    return !isWorkedOn
  }

  /// Removes and returns whole requests of at most `maximum` records together, or one request that has more.
  ///
  /// If it returns an empty array, no thread is working on the queue any more.
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

  /// Notes that no thread is working on the queue any more, though requests may be left.
  mutating func pause() { isWorkedOn = false }

  /// Returns `true` if the caller must start the work again.
  mutating func resume() -> Bool {
    guard !isWorkedOn, !waiting.isEmpty else { return false }
    isWorkedOn = true
    return true
  }
}

/// The condition under which an append is acknowledged.
public enum AcknowledgementMode: String, Sendable, Hashable, CaseIterable {
  /// The entry survives a power loss.
  ///
  /// A checkpoint that includes it follows within the trail's checkpoint interval.
  case durable
  /// The entry is durable, and a signed checkpoint that includes it is published: from then on nobody can deny the
  /// entry.
  case checkpointed
  /// In addition, as many witnesses as the policy requires cosigned such a checkpoint.
  case witnessed
}
