// SPDX-License-Identifier: Apache-2.0

internal import CMalloc
internal import Dispatch
internal import Synchronization

/// Appends on their way, in three stages that work at the same time, each on a queue of its own: records are prepared,
/// committed, and synchronized. What is prepared meanwhile is committed together, and what is committed meanwhile synced
/// together.
final class AppendPipeline: Sendable {
  private let appends: Mutex<AppendQueue>
  private let preparing = DispatchQueue(label: "receiptkit.audit-log.preparing")
  private let committing = DispatchQueue(label: "receiptkit.audit-log.writer")
  private let synchronizing = DispatchQueue(label: "receiptkit.audit-log.synchronizing")

  init(_ queue: AppendQueue) { appends = Mutex(queue) }

  /// Sends records on their way, and waits until they are as safe as `mode` says, witnesses apart.
  ///
  /// - Returns: For each record where it stands.
  func append(
    _ records: [AuditRecord], byteCount: Int, _ mode: AcknowledgementMode, to log: AuditLog
  ) async throws(AuditError) -> [AuditAcknowledgement] {
    let result = await withCheckedContinuation { continuation in
      let request = AppendQueue.ArrivedRequest(
        elements: records, byteCount: byteCount, mode: mode, continuation: continuation)
      do throws(AuditError) {
        let isToStart = try appends.withLock { appends throws(AuditError) in try appends.add(request) }
        if isToStart { preparing.async { self.prepare(log) } }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    return try result.get()
  }

  /// Does something where no commit is under way.
  func betweenCommits(after delay: DispatchTimeInterval, _ work: @escaping @Sendable () -> Void) {
    committing.asyncAfter(deadline: .now() + delay, execute: work)
  }

  /// Takes nothing more, and returns when all queued entries are complete.
  func close(_ log: AuditLog) {
    appends.withLock { $0.close() }
    preparing.sync { prepare(log) }
    committing.sync { commit(log) }
    synchronizing.sync { synchronize(log) }
  }

  // MARK: - Stages

  /// Prepares what arrived, until nothing is left.
  private func prepare(_ log: AuditLog) {
    while true {
      let requests = appends.withLock { $0.nextToPrepare() }
      guard !requests.isEmpty else { return }
      // Records are large to copy, and a batch mostly comes in one request.
      let records = requests.count == 1 ? requests[0].elements : requests.flatMap(\.elements)
      var prepared = log.prepared(records)[...]
      let finished = requests.map { $0.taking(&prepared) }
      if appends.withLock({ $0.add(finished) }) { committing.async { self.commit(log) } }
    }
  }

  /// Commits what is prepared, until nothing is left that need not wait for a sync.
  private func commit(_ log: AuditLog) {
    while true {
      let batch = appends.withLock { $0.nextToCommit() }
      guard !batch.isEmpty else { return }
      commit(batch, log)
    }
  }

  private func commit(_ batch: [AppendQueue.PreparedRequest], _ log: AuditLog) {
    do throws(AuditError) {
      var acknowledgements = try log.enter(batch.flatMap(\.elements))[...]
      let entered = batch.map { $0.taking(&acknowledgements) }
      if appends.withLock({ $0.add(entered) }) { synchronizing.async { self.synchronize(log) } }
    } catch {
      // One record that cannot be entered is no reason to refuse those of others.
      if error.code == .invalidRecord, batch.count > 1 {
        for request in batch { commit([request], log) }
      } else {
        for request in batch { request.continuation.resume(returning: .failure(error)) }
      }
    }
  }

  /// Syncs and acknowledges what is entered, until nothing is left.
  private func synchronize(_ log: AuditLog) {
    while true {
      let requests = appends.withLock { $0.nextToSynchronize() }
      guard !requests.isEmpty else { return }
      let outcome = Result { () throws(AuditError) in
        try log.synchronize(upTo: requests.lazy.flatMap(\.elements).map(\.index).max() ?? 0)
      }
      if appends.withLock({ $0.endSynchronizing() }) { committing.async { self.commit(log) } }
      for request in requests where request.mode == .durable {
        request.continuation.resume(returning: outcome.map { request.elements })
      }
      let others = requests.filter { $0.mode != .durable }
      guard !others.isEmpty else { continue }
      let checkpoint = outcome.flatMap { _ in
        Result { () throws(AuditError) in _ = try log.publishCheckpoint() }
      }
      for request in others {
        request.continuation.resume(returning: checkpoint.map { request.elements })
      }
    }
  }
}

/// The work of the stages.
extension AuditLog {
  fileprivate func prepared(_ records: [AuditRecord]) -> [PreparedRecord] {
    let runs = RunsLookup(states.written, once: configuration.once, storage: storage, context)
    return PreparedRecord.prepare(records, context.keys.fingerprints, lookingUpIn: runs)
  }

  fileprivate func enter(_ records: [PreparedRecord]) throws(AuditError) -> [AuditAcknowledgement] {
    let flushInterval = options.flushInterval
    let acknowledgements = try change { writer throws(AuditError) in
      try writer.append(records, flushInterval: flushInterval)
    }
    scheduleCheckpoint()
    mergeIndexIfFlushed()
    return acknowledgements
  }

  /// Returns when the entries up to `index` are durable, and readers see them.
  fileprivate func synchronize(upTo index: UInt64) throws(AuditError) {
    // Repeats of entries that readers see wait for nothing.
    guard index >= states.published.head.size else { return }
    try synchronizeAll()
  }
}

/// Memory that was freed, but that the allocator still holds.
package enum FreedMemory {
  /// Returns it to the system, where the allocator supports that. Worthwhile after work that took much memory for a
  /// moment, which otherwise stays fragmented.
  static func release() { CMalloc_giveBack() }

  /// Has all threads take from the same places what others freed, instead of each from its own: for a process that does
  /// nothing but append, to be called before it begins. It is the process's choice and not the trail's, since it may
  /// slow down others that allocate much at the same time. The same as `MALLOC_ARENA_MAX=2` in the environment.
  package static func shareAmongThreads() { CMalloc_shareArenas() }
}
