// SPDX-License-Identifier: Apache-2.0

extension AuditLog {
  /// Enters records, all in one transaction, and waits until they are as safe as `mode` says.
  ///
  /// A record that says what an entry says already (the same verdict of the same receipt under the same policy) is
  /// not entered again: the acknowledgement names the first.
  ///
  /// - Returns: For each record where it stands.
  /// - Throws: ``AuditError``. After ``AuditError/Code/storageUnavailable`` and ``AuditError/Code/stopped`` it is
  ///   not known whether the records were entered: append them again, which enters none twice. After
  ///   ``AuditError/Code/notWitnessed`` they were; ``AuditError/Code/noWitnesses`` is thrown before.
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
    // Before the queue: in a transaction it would be one of many records, and end it for all.
    let byteCount = try AuditRecord.requireStorable(records.span)
    try requirePublishing()
    if mode == .witnessed { try admitWitnessed() }
    let acknowledgements = try await appends.append(records, byteCount: byteCount, mode, to: self)
    if mode == .witnessed { try await makeQuorum() }
    return acknowledgements
  }

  /// Enters one record, as ``append(_:acknowledgement:)->[AuditAcknowledgement]`` does many.
  @discardableResult
  public func append(
    _ record: AuditRecord, acknowledgement mode: AcknowledgementMode = .durable
  ) async throws(AuditError) -> AuditAcknowledgement {
    try await append([record], acknowledgement: mode)[0]
  }

  /// Enters groups of records in one step, and waits while too many records wait already.
  ///
  /// - Parameter groups: Each is what is recorded of one verdict, and not empty.
  /// - Returns: For each group where its first record stands.
  /// - Throws: ``AuditError``, as `append` does; ``AuditError/Code/overloaded`` only where the task is cancelled.
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
