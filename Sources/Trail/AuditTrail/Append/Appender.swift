// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import ReceiptCodec
internal import Synchronization

/// Appends records in three concurrent stages, each on a queue of its own; what waits for a stage shares its next run.
final class Appender: Sendable {
  private let writer: TrailWriter
  private let publisher: Publisher
  private let index: IndexMaintenance
  private let rounds: WitnessRounds?
  private let waiting: Mutex<AppendQueue>
  private let preparing = DispatchQueue(label: "receiptkit.audit-log.preparing")
  private let committing = DispatchQueue(label: "receiptkit.audit-log.writer")
  private let synchronizing = DispatchQueue(label: "receiptkit.audit-log.synchronizing")

  init(
    _ writer: TrailWriter, _ publisher: Publisher, _ index: IndexMaintenance, _ rounds: WitnessRounds?,
    _ options: AuditLog.Options
  ) {
    self.writer = writer
    self.publisher = publisher
    self.index = index
    self.rounds = rounds
    waiting = Mutex(
      AppendQueue(
        maximumWaiting: options.maximumWaiting, maximumWaitingByteCount: options.maximumWaitingByteCount,
        maximumBatch: options.maximumBatch))
  }

  /// Does what ``AuditLog/append(_:acknowledgement:)->[AuditAcknowledgement]`` says.
  func append(
    _ records: [AuditRecord], _ mode: AcknowledgementMode
  ) async throws(AuditError) -> [AuditAcknowledgement] {
    guard !records.isEmpty else { return [] }
    for record in records
    where [.erasure, .anchor, .key].contains(record.facts.kind) || record.facts.erased != nil {
      throw AuditError(
        .invalidRecord, at: "kind",
        "What was erased, which entry is the newest and which key took over is stated by the trail itself: erase, anchor "
          + "or rotate the key instead."
      )
    }
    // Check before queueing: in a transaction, one invalid record would fail all the others.
    var byteCount = 0
    for record in records { byteCount += try record.requireStorable() }
    try publisher.requirePublishing()
    let rounds = try rounds.admit(mode)
    let result = await withCheckedContinuation { continuation in
      let request = AppendQueue.Request(
        records: records, byteCount: byteCount, mode: mode, continuation: continuation)
      do throws(AuditError) {
        let isToStart = try waiting.withLock { waiting throws(AuditError) in try waiting.accept(request) }
        if isToStart { preparing.async { self.prepare() } }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    let acknowledgements = try result.get()
    try await rounds?.makeQuorum()
    return acknowledgements
  }

  /// Refuses further records, and returns when all that wait are acknowledged.
  func close() {
    waiting.withLock { $0.close() }
    preparing.sync { prepare() }
    committing.sync { commit() }
    synchronizing.sync { synchronize() }
  }

  private func prepare() {
    while var batch = waiting.withLock({ $0.next(.preparing) }) {
      var prepared = writer.prepare(batch.flatMap(\.records))[...]
      for place in batch.indices {
        batch[place].prepared = Array(prepared.prefix(batch[place].count))
        batch[place].records = []
        prepared = prepared.dropFirst(batch[place].count)
      }
      if waiting.withLock({ [batch] in $0.add(batch, to: .committing) }) {
        committing.async { self.commit() }
      }
    }
  }

  /// Commits prepared requests until the queue is empty or the rest must wait for a sync.
  private func commit() {
    var apart: [[AppendQueue.Request]] = []
    while var batch = apart.popLast() ?? waiting.withLock({ $0.next(.committing) }) {
      do throws(AuditError) {
        var acknowledgements = try writer.append(batch.flatMap(\.prepared))[...]
        publisher.schedule()
        index.mergeIfFlushed()
        for place in batch.indices {
          batch[place].acknowledgements = Array(acknowledgements.prefix(batch[place].count))
          batch[place].prepared = []
          acknowledgements = acknowledgements.dropFirst(batch[place].count)
        }
        if waiting.withLock({ [batch] in $0.add(batch, to: .synchronizing) }) {
          synchronizing.async { self.synchronize() }
        }
      } catch {
        // A record that cannot be entered must not fail the records of other requests.
        if error.code == .invalidRecord, batch.count > 1 {
          apart = batch.reversed().map { [$0] }
        } else {
          for request in batch { request.continuation.resume(returning: .failure(error)) }
        }
      }
    }
  }

  private func synchronize() {
    while let requests = waiting.withLock({ $0.next(.synchronizing) }) {
      let newest = requests.lazy.flatMap(\.acknowledgements).map(\.index).max() ?? 0
      let outcome = Result { () throws(AuditError) in try writer.synchronize(upTo: newest) }
      if waiting.withLock({ $0.endSynchronizing() }) { committing.async { self.commit() } }
      for request in requests where request.mode == .durable {
        request.continuation.resume(returning: outcome.map { request.acknowledgements })
      }
      let others = requests.filter { $0.mode != .durable }
      guard !others.isEmpty else { continue }
      let checkpoint = outcome.flatMap { _ in
        Result { () throws(AuditError) in _ = try publisher.publish() }
      }
      for request in others {
        request.continuation.resume(returning: checkpoint.map { request.acknowledgements })
      }
    }
  }
}
