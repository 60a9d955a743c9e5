// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The health of an opened trail: ``AuditLog/health``.
public struct AuditLogHealth: Sendable, Hashable {
  /// The error that stopped writing until the trail is opened again; `nil` if writing has not stopped.
  public let stopped: AuditError?
  /// The error of the last attempt to publish a checkpoint; `nil` if it succeeded.
  ///
  /// Publishing is retried.
  public let publishingFault: AuditError?
  /// The number of consecutive attempts to publish that failed.
  package let failedAttempts: Int
  /// The number of entries that no published checkpoint covers yet.
  ///
  /// They are durable, but an older copy of the trail without them would not be detected.
  package let uncheckpointedCount: UInt64
  /// The time for which there have been such entries; zero if there are no such entries.
  package let uncheckpointedAge: Duration

  /// `true` if entries are stored and covered by checkpoints as they should be.
  public var isHealthy: Bool { stopped == nil && publishingFault == nil }
}

/// An event of an opened trail that no caller is informed of.
public enum AuditLogEvent: Sendable, Hashable {
  /// A checkpoint could not be published, in this number of consecutive attempts.
  ///
  /// Publishing is retried.
  case publishingFailed(AuditError, attempts: Int)
  /// Checkpoints are published again, after this number of failed attempts.
  case publishingRecovered(failedAttempts: Int)
}

/// The state of publishing checkpoints.
struct PublishingRecord: Sendable {
  private(set) var fault: AuditError?
  private(set) var failedAttempts = 0
  /// The time since which there have been entries that no published checkpoint covers.
  private var since: ContinuousClock.Instant?

  /// Notes that entries were entered.
  mutating func noteEntries(at now: ContinuousClock.Instant) { since = since ?? now }

  /// Notes an attempt to publish.
  ///
  /// - Parameters:
  ///   - fault: The error of the attempt; `nil` if it succeeded.
  ///   - isComplete: `true` if all entries are covered now.
  ///   - now: The time.
  mutating func noteAttempt(_ fault: AuditError?, isComplete: Bool, at now: ContinuousClock.Instant) {
    self.fault = fault
    failedAttempts = fault == nil ? 0 : failedAttempts + 1
    if fault == nil { since = isComplete ? nil : now }
  }

  /// Returns how long there have been entries that no published checkpoint covers.
  func age(at now: ContinuousClock.Instant) -> Duration { since.map { now - $0 } ?? .zero }
}

extension AuditLog {
  /// Checks that the storage accepts writes, by durably storing the stored checkpoint again.
  ///
  /// Nothing changes.
  ///
  /// - Throws: The error that an append would throw now: ``AuditError/Code/stopped`` or the error that stopped the
  ///   trail, or the storage's failure, such as a full disk. Without the private key nothing is tried.
  package func probe() async throws(AuditError) {
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

  /// The current health of the trail.
  public var health: AuditLogHealth {
    let (stopped, covered) = writer.withLock { ($0.stopped, $0.checkpointSize) }
    let record = publishing.withLock { $0 }
    let size = states.written.head.size
    return AuditLogHealth(
      stopped: stopped, publishingFault: record.fault, failedAttempts: record.failedAttempts,
      uncheckpointedCount: size > covered ? size - covered : 0, uncheckpointedAge: record.age(at: .now))
  }

  /// Refuses to store more if publishing has failed for longer than the operator allows.
  func requirePublishing() throws(AuditError) {
    guard let limit = options.maximumUncheckpointedAge else { return }
    let record = publishing.withLock { $0 }
    guard let fault = record.fault, record.age(at: .now) > limit else { return }
    throw AuditError(
      .checkpointOverdue, at: "checkpoint",
      "Checkpoints could not be published for longer than \(limit): \(fault) Nothing was stored; mend the place of the "
        + "last checkpoint.")
  }

  /// Notes the outcome of an attempt to publish, and reports failures and recoveries.
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
