// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization
public import TransparencyLog

extension AuditLog {
  /// Signs and publishes a checkpoint of all entries, unless it exists already.
  ///
  /// It blocks the thread; in a task, call ``checkpoint()``.
  ///
  /// - Throws: ``AuditError/Code/readOnly`` without the private key; ``AuditError/Code/forked`` if a published
  ///   checkpoint contradicts the trail, which then stops.
  @discardableResult
  package func publishCheckpoint() throws(AuditError) -> VerifiedCheckpoint {
    do throws(AuditError) {
      let checkpoint = try change { writer throws(AuditError) in try writer.publishCheckpoint() }
      notePublishing(nil)
      return checkpoint
    } catch {
      if error.code != .readOnly { notePublishing(error) }
      throw error
    }
  }

  /// Signs and publishes a checkpoint of all entries, unless it exists already.
  ///
  /// - Throws: ``AuditError``.
  @discardableResult
  public func checkpoint() async throws(AuditError) -> VerifiedCheckpoint {
    try await blocking { log throws(AuditError) in try log.publishCheckpoint() }
  }

  /// Schedules the publishing of a checkpoint within the interval.
  ///
  /// If publishing fails, it is retried until it succeeds or the trail is closed.
  func scheduleCheckpoint() {
    publishing.withLock { $0.noteEntries(at: .now) }
    let isScheduled = isCheckpointDue.withLock { isDue in
      defer { isDue = true }
      return isDue
    }
    guard !isScheduled else { return }
    appends.betweenCommits(after: options.checkpointInterval.dispatchInterval) { [weak self] in
      guard let self else { return }
      isCheckpointDue.withLock { $0 = false }
      do throws(AuditError) {
        try publishCheckpoint()
      } catch {
        // The next append throws the error that stopped the trail.
        let isOver = error.code == .closed || writer.withLock { $0.stopped != nil }
        if !isOver, !isClosing.load(ordering: .sequentiallyConsistent) { scheduleCheckpoint() }
      }
    }
  }
}

extension Duration {
  /// The interval for Dispatch, which counts nanoseconds in 64 bits.
  ///
  /// It is clamped to between zero and a hundred years.
  fileprivate var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = min(max(self, .zero), .seconds(100 * 366 * 86_400)).components
    return .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
  }
}
