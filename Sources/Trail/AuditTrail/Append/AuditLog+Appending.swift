// SPDX-License-Identifier: Apache-2.0

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
    let byteCount = try AuditRecord.requireStorable(records.span)
    try publisher.requirePublishing()
    let rounds = try rounds.admit(mode)
    let acknowledgements = try await appends.append(records, byteCount: byteCount, mode, to: self)
    try await rounds?.makeQuorum()
    return acknowledgements
  }

  /// Appends one record, as ``append(_:acknowledgement:)->[AuditAcknowledgement]`` appends several.
  @discardableResult
  public func append(
    _ record: AuditRecord, acknowledgement mode: AcknowledgementMode = .durable
  ) async throws(AuditError) -> AuditAcknowledgement {
    try await append([record], acknowledgement: mode)[0]
  }

  /// Appends groups of records in one transaction, and waits while too many records are waiting already.
  ///
  /// - Parameter groups: The records of one verdict each; no group is empty.
  /// - Returns: The acknowledgement of each group's first record.
  /// - Throws: ``AuditError``, as `append` does; ``AuditError/Code/overloaded`` only if the task is cancelled.
  package func append(groups: [[AuditRecord]]) async throws(AuditError) -> [AuditAcknowledgement] {
    var records: [AuditRecord] = []
    var places: [Int] = []
    for group in groups {
      places.append(records.count)
      records += group
    }
    while true {
      do throws(AuditError) {
        let acknowledgements = try await append(records)
        return places.map { acknowledgements[$0] }
      } catch {
        guard error.code == .overloaded, !Task.isCancelled else { throw error }
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
  }
}
