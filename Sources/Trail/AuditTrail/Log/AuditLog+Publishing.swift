// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import TransparencyLog

extension AuditLog {
  /// Signs and publishes a checkpoint of all entries, unless it exists already.
  ///
  /// It blocks the thread; in a task, call ``checkpoint()``.
  ///
  /// - Throws: ``AuditError/Code/readOnly`` without the private key; ``AuditError/Code/forked`` if a published
  ///   checkpoint contradicts the trail, which then stops.
  @discardableResult
  public func publishCheckpoint() throws(AuditError) -> VerifiedCheckpoint { try publisher.publish() }

  /// Signs and publishes a checkpoint of all entries, unless it exists already.
  ///
  /// - Throws: As ``publishCheckpoint()``.
  @discardableResult
  public func checkpoint() async throws(AuditError) -> VerifiedCheckpoint {
    try await BlockingWork.run(publisher.publish)
  }

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
