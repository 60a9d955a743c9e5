// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A pipeline of appends with three concurrent stages, each on a queue of its own: prepare, commit, synchronize.
///
/// Records that are prepared during a commit are committed together. Records that are committed during a sync are
/// synced together.
final class AppendPipeline: Sendable {
  private let appends: Mutex<AppendQueue>
  private let preparing = DispatchQueue(label: "receiptkit.audit-log.preparing")
  private let committing = DispatchQueue(label: "receiptkit.audit-log.writer")
  private let synchronizing = DispatchQueue(label: "receiptkit.audit-log.synchronizing")

  init(_ queue: AppendQueue) { appends = Mutex(queue) }

  /// Appends records, and waits until they are as safe as `mode` requires, except for witness cosignatures.
  ///
  /// - Returns: One acknowledgement for each record, in order.
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

  /// Refuses further requests, and returns when all queued entries are complete.
  func close(_ log: AuditLog) {
    appends.withLock { $0.close() }
    preparing.sync { prepare(log) }
    committing.sync { commit(log) }
    synchronizing.sync { synchronize(log) }
  }

  // MARK: - Stages

  /// Prepares arrived requests until no request is left.
  private func prepare(_ log: AuditLog) {
    while true {
      let requests = appends.withLock { $0.nextToPrepare() }
      guard !requests.isEmpty else { return }
      // Records are expensive to copy, and a batch usually arrives in one request.
      let records = requests.count == 1 ? requests[0].elements : requests.flatMap(\.elements)
      var prepared = log.prepared(records)[...]
      let finished = requests.map { $0.taking(&prepared) }
      if appends.withLock({ $0.add(finished) }) { committing.async { self.commit(log) } }
    }
  }

  /// Commits prepared requests until the queue is empty or the rest must wait for a sync.
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
      // A record that cannot be entered must not fail the records of other requests.
      if error.code == .invalidRecord, batch.count > 1 {
        for request in batch { commit([request], log) }
      } else {
        for request in batch { request.continuation.resume(returning: .failure(error)) }
      }
    }
  }

  /// Syncs and acknowledges entered requests until no request is left.
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
        Result { () throws(AuditError) in _ = try log.publisher.publish() }
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
    let runs = RunsLookup(writer.states.written, once: configuration.once, storage: storage, context)
    return PreparedRecord.prepare(records, context.keys.fingerprints, lookingUpIn: runs)
  }

  fileprivate func enter(_ records: [PreparedRecord]) throws(AuditError) -> [AuditAcknowledgement] {
    let acknowledgements = try writer.append(records)
    publisher.schedule()
    index.mergeIfFlushed()
    return acknowledgements
  }

  /// Waits until the entries up to `index` are durable and readers see them.
  fileprivate func synchronize(upTo index: UInt64) throws(AuditError) {
    // Entries that readers see are durable, so a batch that only repeats such entries has nothing to wait for.
    guard index >= writer.states.published.head.size else { return }
    try writer.synchronize()
  }
}
