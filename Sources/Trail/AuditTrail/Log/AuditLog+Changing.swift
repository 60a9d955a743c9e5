// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptVerification
package import TransparencyLog

extension AuditLog {
  /// Appends records in one transaction, and waits until they are as safe as `mode` requires.
  ///
  /// A record that repeats an entry (the same verdict on the same receipt under the same policy) is not entered again.
  /// Its acknowledgement names the first entry.
  ///
  /// - Returns: One acknowledgement for each record, in order.
  /// - Throws: ``AuditError``. After ``AuditError/Code/storageUnavailable`` and ``AuditError/Code/stopped``, it is
  ///   unknown whether the records were entered: append them again, which enters no record twice. After
  ///   ``AuditError/Code/notWitnessed`` they were entered. ``AuditError/Code/noWitnesses`` is thrown before they are
  ///   entered.
  @discardableResult
  public func append(
    _ records: [AuditRecord], acknowledgement mode: AcknowledgementMode = .durable
  ) async throws(AuditError) -> [AuditAcknowledgement] {
    try await appender.append(records, mode)
  }

  /// Appends one record, as ``append(_:acknowledgement:)->[AuditAcknowledgement]`` appends several.
  @discardableResult
  public func append(
    _ record: AuditRecord, acknowledgement mode: AcknowledgementMode = .durable
  ) async throws(AuditError) -> AuditAcknowledgement {
    try await appender.append([record], mode)[0]
  }

  /// Appends groups of records, those of one verdict each, and returns the acknowledgement of each group's first.
  ///
  /// It waits while too many records are waiting already, and throws ``AuditError/Code/overloaded`` only if the task is
  /// cancelled.
  package func append(groups: [[AuditRecord]]) async throws(AuditError) -> [AuditAcknowledgement] {
    var starts: [Int] = []
    var records: [AuditRecord] = []
    for group in groups {
      starts.append(records.count)
      records += group
    }
    while true {
      do throws(AuditError) {
        let acknowledgements = try await appender.append(records, .durable)
        return starts.map { acknowledgements[$0] }
      } catch {
        guard error.code == .overloaded, !Task.isCancelled else { throw error }
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  /// Decides which purchases are granted and records the verdicts, in one step.
  ///
  /// Of any number of requests for the same grant, in one call, in one process or in many, exactly one is granted.
  ///
  /// The trail is searched in the transaction that records the decision, and each request of a call sees those before
  /// it. A request that is a replay according to the rules is recorded as invalid, `checker-refused` by `replay`.
  ///
  /// - Parameters:
  ///   - requests: The requests, at most 16,384 at a time.
  ///   - mode: The condition that the records meet when this returns.
  /// - Returns: One decision for each request, in order.
  /// - Throws: ``AuditError``: as ``append(_:acknowledgement:)->[AuditAcknowledgement]``. If this throws, grant
  ///   nothing. It is unknown what was recorded, and a request that was recorded as granted is refused as a replay when
  ///   it is made again.
  public func grant(
    _ requests: [GrantRequest], acknowledgement mode: AcknowledgementMode = .durable
  ) async throws(AuditError) -> [GrantDecision] {
    try await grants.decide(requests, mode)
  }

  /// Enters a statement that names the newest entry of an original transaction and counts its entries.
  ///
  /// From then on none of these entries can be omitted unnoticed: the statement leads to the newest, and each entry
  /// leads to the one before it. All of them are read and verified first.
  @discardableResult
  package func anchor(original: String) async throws(AuditError) -> AuditAcknowledgement {
    try publisher.requirePublishing()
    let now = clock().wholeMilliseconds ?? 0
    let anchor = try await BlockingWork.run { [writer] () throws(AuditError) in
      try writer.anchor(original, at: now)
    }
    publisher.schedule()
    return anchor
  }

  /// Erases the erasable parts of entries: the receipts and the customers' tokens.
  ///
  /// The entries themselves, their hashes and every proof stay unchanged. Each erasure and its time are recorded in an
  /// entry, in the same transaction.
  ///
  /// A part is erased by forgetting the key that it is encrypted with. It is then erased for every process, and in
  /// every copy that holds no keys. The index records that name its customer are removed too. An entry that was erased
  /// before is acknowledged as a repeat. If this throws, some of the entries may have been erased: call it again with
  /// all of them.
  ///
  /// - Parameters:
  ///   - indexes: The entries, in any order.
  ///   - progress: Called periodically with the number of entries that are done.
  /// - Returns: The acknowledgement of each entry's erasure.
  /// - Throws: ``AuditError``: ``AuditError/Code/noSuchEntry`` if an entry does not exist, or never had an erasable
  ///   part; ``AuditError/Code/storageUnavailable`` if traces of the keys may be left in the storage's own logs.
  @discardableResult
  public func erase(
    entries indexes: [UInt64], progress: @Sendable (Int) -> Void = { _ in }
  ) async throws(AuditError) -> [AuditAcknowledgement] {
    try await erasure.erase(indexes, progress: progress)
  }

  /// Keeps the text of a policy, once, so that it can be found by the digest with which entries name it:
  /// ``TrailView/policy(_:)``.
  ///
  /// It blocks.
  ///
  /// - Throws: ``AuditError/Code/readOnly`` without the private key; the errors of the storage.
  public func keep(policy: VerificationPolicy) throws(AuditError) {
    try StoredPolicies.keep(policy, in: storage, context.keys)
  }

  /// The keys of the trail: the trusted key, and those that took over from it.
  package var keys: KeyChain { context.keys.chain }

  /// Replaces the trail's key by another one of the trail's name that was not in use before.
  ///
  /// The current key signs an entry that names the new key, which signs everything after it, beginning with a
  /// checkpoint that is published. Anyone who trusts the old key can follow the entry to the new one. Other processes
  /// that write must open the trail again with the new private key. Witnesses must know this key before they cosign.
  @discardableResult
  package func rotateKey(to new: NoteSignerKey) async throws(AuditError) -> KeySuccession {
    guard new.name == context.keys.origin, !keys.keys.contains(new.verifierKey) else {
      throw AuditError(
        .wrongKey, at: "key",
        "The new key is named \(context.keys.origin), as the trail is, and was not in use before.")
    }
    let now = clock().wholeMilliseconds ?? 0
    return try await BlockingWork.run { [writer, publisher] () throws(AuditError) in
      let succession = try writer.rotateKey(to: new, at: now)
      try publisher.publish()
      return succession
    }
  }
}
