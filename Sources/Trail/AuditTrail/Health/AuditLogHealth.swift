// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The health of an opened trail: ``AuditLog/health``.
public struct AuditLogHealth: Sendable, Hashable {
  /// Why nothing more is written, until the trail is opened again; `nil` while it is written to.
  public let stopped: AuditError?
  /// Why the last attempt to publish a checkpoint failed; `nil` if it succeeded. Publishing is tried again.
  public let publishingFault: AuditError?
  /// The number of attempts to publish have failed one after the other.
  public let failedAttempts: Int
  /// The entries that no published checkpoint covers yet: they are durable, but a copy of the trail from before them
  /// would not show.
  public let uncheckpointedCount: UInt64
  /// The time for which there have been such entries; zero without any.
  public let uncheckpointedAge: Duration

  /// Indicates whether entries are stored and covered by checkpoints as they should be.
  public var isHealthy: Bool { stopped == nil && publishingFault == nil }
}

/// Something about an opened trail that no caller is told of.
public enum AuditLogEvent: Sendable, Hashable {
  /// A checkpoint could not be published, for the number of attempts in a row. It is tried again.
  case publishingFailed(AuditError, attempts: Int)
  /// Checkpoints are published again, after so many attempts that failed.
  case publishingRecovered(failedAttempts: Int)
}

/// The state of publishing.
struct PublishingRecord: Sendable {
  private(set) var fault: AuditError?
  private(set) var failedAttempts = 0
  /// Since when there have been entries that no published checkpoint covers.
  private var since: ContinuousClock.Instant?

  /// Notes that entries were entered.
  mutating func noteEntries(at now: ContinuousClock.Instant) { since = since ?? now }

  /// Notes an attempt to publish.
  ///
  /// - Parameters:
  ///   - fault: Why it failed.
  ///   - isComplete: Whether all entries are covered now.
  ///   - now: The time.
  mutating func noteAttempt(_ fault: AuditError?, isComplete: Bool, at now: ContinuousClock.Instant) {
    self.fault = fault
    failedAttempts = fault == nil ? 0 : failedAttempts + 1
    if fault == nil { since = isComplete ? nil : now }
  }

  /// For how long there have been such entries.
  func age(at now: ContinuousClock.Instant) -> Duration { since.map { now - $0 } ?? .zero }
}

extension AuditLog {
  /// Stores durably what is stored already, to find out whether the storage takes writes. Nothing changes.
  ///
  /// - Throws: Why an append would be refused now: ``AuditError/Code/stopped`` or what stopped the trail, or the storage's
  ///   failure, such as a full disk. Without the private key nothing is tried.
  public func probe() async throws(AuditError) {
    try await blocking { log throws(AuditError) in
      let (stopped, canWrite) = log.writer.withLock { ($0.stopped, $0.canWrite) }
      if let stopped { throw stopped }
      guard canWrite else { return }
      do {
        try log.storage.write { writer in
          guard let checkpoint = try writer.value(.notes, TrailNotes.checkpoint) else { return }
          try writer.put(.notes, TrailNotes.checkpoint, checkpoint)
        }
      } catch {
        throw AuditError(error)
      }
    }
  }

  /// The health of the trail.
  public var health: AuditLogHealth {
    let (stopped, covered) = writer.withLock { ($0.stopped, $0.checkpointSize) }
    let record = publishing.withLock { $0 }
    let size = states.written.head.size
    return AuditLogHealth(
      stopped: stopped, publishingFault: record.fault, failedAttempts: record.failedAttempts,
      uncheckpointedCount: size > covered ? size - covered : 0, uncheckpointedAge: record.age(at: .now))
  }

  /// Refuses to store more where publishing has failed for longer than the operator allows.
  func requirePublishing() throws(AuditError) {
    guard let limit = options.maximumUncheckpointedAge else { return }
    let record = publishing.withLock { $0 }
    guard let fault = record.fault, record.age(at: .now) > limit else { return }
    throw AuditError(
      .checkpointOverdue, at: "checkpoint",
      "Checkpoints could not be published for longer than \(limit): \(fault) Nothing was stored; mend the place of the "
        + "last checkpoint.")
  }

  /// Notes how an attempt to publish ended, and reports it where that is news.
  func notePublishing(_ fault: AuditError?) {
    let isComplete = fault == nil && writer.withLock { $0.checkpointSize } >= states.written.head.size
    let before = publishing.withLock { record in
      defer { record.noteAttempt(fault, isComplete: isComplete, at: .now) }
      return record
    }
    if let fault {
      options.eventHandler?(.publishingFailed(fault, attempts: before.failedAttempts + 1))
    } else if before.fault != nil {
      options.eventHandler?(.publishingRecovered(failedAttempts: before.failedAttempts))
    }
  }
}
