// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import TransparencyLog

extension AuditLog {
  /// Does what ``checkpoint()`` does, and blocks the thread.
  @discardableResult
  package func publishCheckpoint() throws(AuditError) -> VerifiedCheckpoint { try publisher.publish() }

  /// Signs and publishes a checkpoint of all entries, unless it exists already.
  ///
  /// - Throws: ``AuditError``.
  @discardableResult
  public func checkpoint() async throws(AuditError) -> VerifiedCheckpoint {
    try await BlockingWork.run(publisher.publish)
  }

  /// Publishes a checkpoint of all entries, lets the witnesses cosign it, and stores the cosigned checkpoint in its
  /// place.
  ///
  /// Simultaneous calls share a round. A witness that has cosigned this checkpoint before is not asked again.
  ///
  /// - Returns: The checkpoint with the cosignatures, which meet the quorum.
  /// - Throws: ``AuditError``: ``AuditError/Code/notWitnessed``, which names the witnesses that refused and their
  ///   reasons; the cosignatures that were given are kept. ``AuditError/Code/noWitnesses`` if no witnesses are
  ///   configured, and the errors of ``checkpoint()``.
  @discardableResult
  public func collectCosignatures() async throws(AuditError) -> VerifiedCheckpoint {
    try await askWitnesses().cosigned.get()
  }

  /// Does the same as ``collectCosignatures()``, and also returns every refusal, even if the quorum was met.
  package func askWitnesses() async throws(AuditError) -> WitnessRound {
    try await rounds.required().join(asksAll: true)
  }

  /// The largest checkpoint for which this process saw the quorum met; `nil` if there is no such checkpoint yet.
  ///
  /// Under load, newer checkpoints that are not cosigned yet soon replace it as the published one. Make proofs for this
  /// one.
  public var witnessedCheckpoint: VerifiedCheckpoint? { rounds?.newest }

  /// The current health of the trail.
  public var health: AuditLogHealth { publisher.health }

  /// Checks that the storage accepts writes, by durably storing the stored checkpoint again.
  ///
  /// Nothing changes.
  ///
  /// - Throws: The error that an append would throw now: ``AuditError/Code/stopped`` or the error that stopped the
  ///   trail, or the storage's failure, such as a full disk. Without the private key nothing is tried.
  public func probe() async throws(AuditError) { try await BlockingWork.run(publisher.probe) }
}

extension AuditLogHealth {
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
