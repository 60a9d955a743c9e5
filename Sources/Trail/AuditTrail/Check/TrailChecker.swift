// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
package import TransparencyLog

/// Checks a whole trail from the entries up: every entry, every hash, every row, the index and the checkpoints.
///
/// It starts from the entries, the trail's public key and the last published checkpoint, and trusts nothing else that
/// is stored. It blocks, and uses all processors. The trail may be in use meanwhile.
package struct TrailChecker: Sendable {
  private let storage: any TrailStorage
  private let verifier: NoteVerifierKey
  private let checkpoints: any CheckpointStore

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - storage: The storage of the trail.
  ///   - verifier: The trail's public key.
  ///   - checkpoints: The store of the last checkpoint.
  package init(storage: any TrailStorage, verifier: NoteVerifierKey, checkpoints: any CheckpointStore) {
    self.storage = storage
    self.verifier = verifier
    self.checkpoints = checkpoints
  }

  /// Checks everything.
  ///
  /// - Parameters:
  ///   - allowsMissingKeys: `true` for a copy that is meant to hold no keys of erasable parts. Then those parts and the
  ///     index of customers are not checked, since that requires the keys. Otherwise missing keys are a fault.
  ///   - progress: Called periodically with the number of checked entries and the number of all entries.
  /// - Returns: The report. It is clean only if the trail was read in full.
  /// - Throws: ``StorageError`` if the storage cannot be read for a reason that indicates no fault of the trail.
  package func check(
    allowsMissingKeys: Bool = false,
    progress: @Sendable (_ checked: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws -> TrailCheckReport {
    let before = try? storedHead()
    let report = try check(storage, allowsMissingKeys, progress)
    guard !report.isClean, try storedHead() != before else { return report }
    // Concurrent writes look like a fault if some rows were read before them and some after.
    return try storage.read { try check(SingleState($0), allowsMissingKeys, progress) }
  }

  /// The stored head, which every change replaces.
  private func storedHead() throws -> [UInt8]? { try storage.read { try $0.value(.head, 0) } }

  private func check(
    _ storage: any TrailStorage, _ allowsMissingKeys: Bool,
    _ progress: @Sendable (_ checked: UInt64, _ of: UInt64) -> Void
  ) throws -> TrailCheckReport {
    // It reads as much as the rest of the check, and uses only one processor.
    let structure = ConcurrentWork { [storage = self.storage] in try Self.structuralFaults(storage) }
    let rest = Result { try checkTrail(storage, allowsMissingKeys, progress) }
    let faults = try structure.take()
    var report = try rest.get()
    let others = report.faults
    report.faults = []
    report.add(faults + others)
    return report
  }

  private static func structuralFaults(_ storage: any TrailStorage) throws -> [TrailFault] {
    do {
      return try storage.structuralFaults().map { TrailFault(.storage, at: "storage", $0) }
    } catch let error as StorageError where error.code == .corrupt {
      return [TrailFault(.storage, at: error.place, error.message)]
    }
  }

  private func checkTrail(
    _ storage: any TrailStorage, _ allowsMissingKeys: Bool,
    _ progress: @Sendable (_ checked: UInt64, _ of: UInt64) -> Void
  ) throws -> TrailCheckReport {
    var report = TrailCheckReport()
    do {
      // Load this before anything of the trail: entries may be appended meanwhile, and then there are at least as many.
      let last = Result { try checkpoints.load() }
      guard let keys = try checkKeys(storage, &report) else { return report }
      let published = try checkPublished(last, keys, &report)
      let head: TrailHead
      do { head = try storage.read(keys.head) } catch let error as AuditError {
        report.add([TrailFault(.head, at: error.place, error.message)])
        return report
      }
      var run = try CheckRun(storage: storage, head: head, keys: keys)
      try run.checkEntries(progress: progress)
      try run.checkRows()
      try run.checkHead()
      try checkCheckpoints(&run, published: published, keys)
      try run.checkIndex()
      if !run.hasKeys, !allowsMissingKeys { run.faults.append(Self.missingKeys) }
      report.hasKeys = run.hasKeys
      report.hasUnfinishedIndex = run.hasUnfinishedIndex
      report.entryCount = head.size
      report.rootHash = run.root.base64
      report.checkpointSize = published?.checkpoint.size
      report.add(run.faults)
    } catch let error as StorageError where error.code == .corrupt {
      report.add([TrailFault(.storage, at: error.place, error.message)])
    } catch let error as AuditError {
      report.add([TrailFault(.storage, at: error.place, error.message)])
    }
    return report
  }

  private static let missingKeys = TrailFault(.erasureKeys, at: "keys", ErasureKeys.missing.message)

  private func checkKeys(
    _ storage: any TrailStorage, _ report: inout TrailCheckReport
  ) throws -> TrailKeys? {
    do {
      return try storage.read { try TrailKeys(reading: $0, trusting: verifier) }
    } catch let error as AuditError {
      report.add([TrailFault(.configuration, at: "configuration", error.message)])
      return nil
    }
  }

  private func checkPublished(
    _ last: Result<[UInt8]?, any Error>, _ keys: TrailKeys, _ report: inout TrailCheckReport
  ) throws -> VerifiedCheckpoint? {
    do {
      guard let bytes = try last.get() else {
        report.add([TrailFault(.checkpoint, at: "checkpoint", "The place of the last checkpoint is empty.")])
        return nil
      }
      return try keys.chain.verify(SignedCheckpoint(parsing: bytes))
    } catch  where !error.isFailureToCheckNote {
      report.add([
        TrailFault(.checkpoint, at: "checkpoint", "The last checkpoint cannot be trusted: \(error)")
      ])
      return nil
    }
  }

  private func checkCheckpoints(
    _ run: inout CheckRun, published: VerifiedCheckpoint?, _ keys: TrailKeys
  ) throws {
    if let published {
      try run.compare(published, named: "the published checkpoint", origin: keys.origin)
    }
    guard let stored = try run.storage.read({ try $0.value(.notes, TrailNotes.checkpoint) }) else {
      run.faults.append(TrailFault(.checkpoint, at: "notes", "The stored checkpoint is missing."))
      return
    }
    guard stored != published?.signed.encoded else { return }
    do {
      // Another process may have published and stored a newer checkpoint since.
      let published = try checkpoints.load().flatMap { try keys.chain.verify(SignedCheckpoint(parsing: $0)) }
      let verified = try keys.chain.verify(SignedCheckpoint(parsing: stored))
      try run.compare(verified, named: "the stored checkpoint", origin: keys.origin)
      // A crash between publishing and storing leaves an older checkpoint, or the same one with fewer cosignatures.
      if let published, verified.checkpoint.size >= published.checkpoint.size,
        verified.checkpoint != published.checkpoint
          || !verified.signed.note.signatures.allSatisfy(published.signed.note.signatures.contains)
      {
        run.faults.append(
          TrailFault(.checkpoint, at: "notes", "The stored checkpoint is not the published one."))
      }
    } catch let error as StorageError {
      throw error
    } catch  where !error.isFailureToCheckNote {
      run.faults.append(
        TrailFault(.checkpoint, at: "notes", "The stored checkpoint cannot be trusted: \(error)"))
    }
  }
}
