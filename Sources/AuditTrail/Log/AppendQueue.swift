// SPDX-License-Identifier: Apache-2.0

/// Appends that wait: first to be prepared, then to be committed together.
struct AppendQueue {
  /// One call of append.
  struct Request {
    let records: [AuditRecord]
    let mode: AcknowledgementMode
    let continuation: CheckedContinuation<Result<[AuditAcknowledgement], AuditError>, Never>
  }

  /// A request whose records are prepared.
  struct PreparedRequest {
    let records: [PreparedRecord]
    let mode: AcknowledgementMode
    let continuation: CheckedContinuation<Result<[AuditAcknowledgement], AuditError>, Never>

    init(_ request: Request, _ records: [PreparedRecord]) {
      self.records = records
      mode = request.mode
      continuation = request.continuation
    }
  }

  private var arrived = Line<Request>()
  private var prepared = Line<PreparedRequest>()
  /// Those being prepared are counted as well.
  private var waitingRecords = 0
  private let maximumWaiting: Int
  private var isClosed = false

  init(maximumWaiting: Int) {
    self.maximumWaiting = maximumWaiting
  }

  /// Takes a request in.
  ///
  /// - Returns: Whether the caller has to start the preparing; otherwise somebody is at it.
  /// - Throws: ``AuditError/Code/closed``, ``AuditError/Code/overloaded``.
  mutating func add(_ request: Request) throws(AuditError) -> Bool {
    guard !isClosed else { throw AuditError(.closed, "The trail is closed.") }
    guard waitingRecords == 0 || waitingRecords + request.records.count <= maximumWaiting else {
      throw AuditError(
        .overloaded,
        "\(waitingRecords) records wait to be stored, and at most \(maximumWaiting) may. Try again, or append less at a "
          + "time.")
    }
    waitingRecords += request.records.count
    return arrived.add(request)
  }

  /// The requests to prepare next: of at most `maximum` records together unless one alone has more. Empty when the work
  /// is done.
  mutating func nextToPrepare(_ maximum: Int) -> [Request] { arrived.next(maximum, \.records.count) }

  /// Takes requests back that were prepared.
  ///
  /// - Returns: Whether the caller has to start the committing; otherwise somebody is at it.
  mutating func add(_ requests: [PreparedRequest]) -> Bool {
    var isToStart = false
    for request in requests where prepared.add(request) { isToStart = true }
    return isToStart
  }

  /// The requests to commit next, as ``nextToPrepare(_:)``.
  mutating func nextToCommit(_ maximum: Int) -> [PreparedRequest] {
    let batch = prepared.next(maximum, \.records.count)
    waitingRecords -= batch.reduce(0) { $0 + $1.records.count }
    return batch
  }

  mutating func close() { isClosed = true }
}

/// Requests in a line, and whether somebody is at work on them.
private struct Line<Request> {
  private var waiting: [Request] = []
  private var isWorkedOn = false

  /// Whether the caller has to start the work.
  mutating func add(_ request: Request) -> Bool {
    waiting.append(request)
    defer { isWorkedOn = true }
    return !isWorkedOn
  }

  /// Whole requests; when there are none, nobody is at work on them any more.
  mutating func next(_ maximum: Int, _ recordCount: (Request) -> Int) -> [Request] {
    var records = 0
    var count = 0
    while count < waiting.count, count == 0 || records + recordCount(waiting[count]) <= maximum {
      records += recordCount(waiting[count])
      count += 1
    }
    let batch = Array(waiting.prefix(count))
    waiting.removeFirst(count)
    if batch.isEmpty { isWorkedOn = false }
    return batch
  }
}

/// When an append is acknowledged.
public enum AcknowledgementMode: String, Sendable, Hashable, CaseIterable {
  /// When the entry survives the loss of power. A checkpoint that includes it follows within the trail's interval.
  case durable
  /// When a signed checkpoint that includes the entry is published as well: from then on nobody can deny it.
  case checkpointed
  /// When as many witnesses as the policy demands cosigned such a checkpoint as well.
  case witnessed
}
