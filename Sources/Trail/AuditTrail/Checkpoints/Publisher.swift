// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization
internal import TransparencyLog

/// Publishes the checkpoints of an opened trail, when asked to and within an interval after each change.
final class Publisher: Sendable {
  private struct State {
    var isScheduled = false
    var isClosed = false
    var fault: AuditError?
    var failedAttempts = 0
    /// The time since which there have been entries that no published checkpoint covers.
    var since: ContinuousClock.Instant?

    /// The time for which there have been such entries.
    var age: Duration { since.map { .now - $0 } ?? .zero }
  }

  private let writer: TrailWriter
  private let interval: Duration
  private let maximumAge: Duration?
  private let eventHandler: (@Sendable (AuditLogEvent) -> Void)?
  private let queue = DispatchQueue(label: "receiptkit.audit-log.publisher")
  private let state = Mutex(State())

  init(_ writer: TrailWriter, _ options: AuditLog.Options) {
    self.writer = writer
    interval = options.checkpointInterval
    maximumAge = options.maximumUncheckpointedAge
    eventHandler = options.eventHandler
    // These entries are of a process that ended before it published them.
    if writer.context.keys.canSign, writer.status.checkpointSize < writer.states.written.head.size {
      schedule()
    }
  }

  /// Signs and publishes a checkpoint of all entries, unless it exists already; blocks the thread.
  @discardableResult
  func publish() throws(AuditError) -> VerifiedCheckpoint {
    do throws(AuditError) {
      let checkpoint = try writer.publishCheckpoint()
      note(nil)
      return checkpoint
    } catch {
      if error.code != .readOnly { note(error) }
      throw error
    }
  }

  /// Publishes a checkpoint within the interval, after a change, and retries until it succeeds or the trail is closed.
  func schedule() {
    let isScheduled = state.withLock { state in
      state.since = state.since ?? .now
      defer { state.isScheduled = true }
      return state.isScheduled
    }
    guard !isScheduled else { return }
    queue.asyncAfter(deadline: .now() + interval.dispatchInterval) { [weak self] in
      guard let self else { return }
      state.withLock { $0.isScheduled = false }
      do throws(AuditError) {
        try publish()
      } catch {
        // The next append throws the error that stopped the trail.
        let isOver = error.code == .closed || writer.status.stopped != nil
        if !isOver, !state.withLock({ $0.isClosed }) { schedule() }
      }
    }
  }

  /// Stops retrying, and waits for a scheduled checkpoint that is being published.
  func close() {
    state.withLock { $0.isClosed = true }
    queue.sync {}
  }

  /// Refuses to store more if publishing has failed for longer than the operator allows.
  func requirePublishing() throws(AuditError) {
    guard let maximumAge else { return }
    let state = state.withLock { $0 }
    guard let fault = state.fault, state.age > maximumAge else { return }
    throw AuditError(
      .checkpointOverdue, at: "checkpoint",
      "Checkpoints could not be published for longer than \(maximumAge): \(fault) Nothing was stored; mend the place of "
        + "the last checkpoint.")
  }

  var health: AuditLogHealth {
    let (stopped, covered) = writer.status
    let state = state.withLock { $0 }
    let size = writer.states.written.head.size
    return AuditLogHealth(
      stopped: stopped, publishingFault: state.fault, failedAttempts: state.failedAttempts,
      uncheckpointedCount: size > covered ? size - covered : 0, uncheckpointedAge: state.age)
  }

  /// Checks that the storage accepts writes, by durably storing the stored checkpoint again.
  func probe() throws(AuditError) {
    if let stopped = writer.status.stopped { throw stopped }
    guard writer.context.keys.canSign else { return }
    do {
      try writer.storage.write { writer in
        guard let checkpoint = try writer.value(.notes, TrailNotes.checkpoint) else { return }
        try writer.put(.notes, TrailNotes.checkpoint, checkpoint)
      }
    } catch {
      throw AuditError(error)
    }
  }

  /// Notes the outcome of an attempt to publish, and reports failures and recoveries.
  private func note(_ fault: AuditError?) {
    let isComplete = fault == nil && writer.status.checkpointSize >= writer.states.written.head.size
    let before = state.withLock { state in
      let before = state
      state.fault = fault
      state.failedAttempts = fault == nil ? 0 : state.failedAttempts + 1
      if fault == nil { state.since = isComplete ? nil : .now }
      return before
    }
    if let fault {
      eventHandler?(.publishingFailed(fault, attempts: before.failedAttempts + 1))
    } else if before.fault != nil {
      eventHandler?(.publishingRecovered(failedAttempts: before.failedAttempts))
    }
  }
}

extension Duration {
  /// The interval for Dispatch, clamped to between zero and a hundred years, since it counts nanoseconds in 64 bits.
  fileprivate var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = min(max(self, .zero), .seconds(100 * 366 * 86_400)).components
    return .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
  }
}
