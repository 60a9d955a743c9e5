// SPDX-License-Identifier: Apache-2.0

/// Appends that wait to be committed together.
struct AppendQueue {
  /// One call of append.
  struct Request {
    let records: [AuditRecord]
    let mode: AcknowledgementMode
    let continuation: CheckedContinuation<Result<[AuditAcknowledgement], AuditError>, Never>
  }

  private var waiting: [Request] = []
  private var waitingRecords = 0
  private let maximumWaiting: Int
  /// Whether somebody is at work on the queue.
  private(set) var isDraining = false
  private var isClosed = false

  init(maximumWaiting: Int) {
    self.maximumWaiting = maximumWaiting
  }

  /// What is to be done about a request.
  enum Admission {
    /// It waits; somebody is at work.
    case waits
    /// It waits, and the caller has to start the work.
    case startsWork
    /// It cannot wait.
    case refused(AuditError)
  }

  mutating func add(_ request: Request) -> Admission {
    guard !isClosed else { return .refused(AuditError(.closed, "The trail is closed.")) }
    guard waitingRecords + request.records.count <= maximumWaiting || waiting.isEmpty else {
      return .refused(
        AuditError(
          .overloaded,
          "\(waitingRecords) records wait to be stored, and at most \(maximumWaiting) may. Try again, or append less at "
            + "a time."))
    }
    waiting.append(request)
    waitingRecords += request.records.count
    defer { isDraining = true }
    return isDraining ? .waits : .startsWork
  }

  /// The next batch: whole requests, of at most `maximum` records together unless one alone has more. Empty when
  /// the work is done.
  mutating func next(_ maximum: Int) -> [Request] {
    var records = 0
    var count = 0
    while count < waiting.count, count == 0 || records + waiting[count].records.count <= maximum {
      records += waiting[count].records.count
      count += 1
    }
    let batch = Array(waiting.prefix(count))
    waiting.removeFirst(count)
    waitingRecords -= records
    if batch.isEmpty { isDraining = false }
    return batch
  }

  mutating func close() { isClosed = true }
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
