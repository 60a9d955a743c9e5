// SPDX-License-Identifier: Apache-2.0

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
