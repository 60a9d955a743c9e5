// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

extension TrailChecker {
  /// Checks everything. The report is clean only if the trail was read in full. The number of checked entries and that
  /// of all entries are reported periodically. Throws ``StorageError`` if the storage cannot be read for a reason that
  /// indicates no fault of the trail.
  ///
  /// A copy may be meant to hold no keys of erasable parts. Then those parts and the index of customers are not
  /// checked, since that requires the keys. Otherwise missing keys are a fault.
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
    report.faults = faults + report.faults
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
      let keys: TrailKeys
      do { keys = try storage.read { try TrailKeys(reading: $0, trusting: verifier) } } catch let error
        as AuditError
      {
        report.faults.add(.configuration, at: "configuration", error.message)
        return report
      }
      let published = try report.faults.verified(
        last.get(), by: keys.chain, named: "The last checkpoint",
        orMissing: "The place of the last checkpoint is empty.")
      let head: TrailHead
      do { head = try storage.read(keys.head) } catch let error as AuditError {
        report.faults.add(.head, at: error.place, error.message)
        return report
      }
      var run = try CheckRun(storage: storage, head: head, keys: keys)
      try run.checkEntries(progress: progress)
      try run.checkRows()
      try run.checkHead()
      try checkCheckpoints(&run, published: published, keys)
      try run.checkIndex()
      if !run.hasKeys, !allowsMissingKeys {
        run.faults.add(.erasureKeys, at: "keys", ErasureKeys.missing.message)
      }
      report.hasKeys = run.hasKeys
      report.hasUnfinishedIndex = run.hasUnfinishedIndex
      report.entryCount = head.size
      report.rootHash = run.root.base64
      report.checkpointSize = published?.checkpoint.size
      report.faults += run.faults
    } catch let error as StorageError where error.code == .corrupt {
      report.faults.add(.storage, at: error.place, error.message)
    } catch let error as AuditError {
      report.faults.add(.storage, at: error.place, error.message)
    }
    return report
  }

  private func checkCheckpoints(
    _ run: inout CheckRun, published: VerifiedCheckpoint?, _ keys: TrailKeys
  ) throws {
    if let published { try run.compare(published, named: "the published checkpoint") }
    guard let stored = try run.storage.read({ try $0.value(.notes, TrailNotes.checkpoint) }) else {
      return run.faults.add(.checkpoint, at: "notes", "The stored checkpoint is missing.")
    }
    guard stored != published?.signed.encoded else { return }
    do {
      // Another process may have published and stored a newer checkpoint since.
      let published = try checkpoints.load().flatMap { try keys.chain.verify(SignedCheckpoint(parsing: $0)) }
      let verified = try keys.chain.verify(SignedCheckpoint(parsing: stored))
      try run.compare(verified, named: "the stored checkpoint")
      // A crash between publishing and storing leaves an older checkpoint, or the same one with fewer cosignatures.
      if let published, verified.checkpoint.size >= published.checkpoint.size,
        verified.checkpoint != published.checkpoint
          || !verified.signed.note.signatures.allSatisfy(published.signed.note.signatures.contains)
      {
        run.faults.add(.checkpoint, at: "notes", "The stored checkpoint is not the published one.")
      }
    } catch let error as StorageError {
      throw error
    } catch  where !error.isFailureToCheckNote {
      run.faults.add(.checkpoint, at: "notes", "The stored checkpoint cannot be trusted: \(error)")
    }
  }
}

/// A storage that consists of one state, as the reader of a single read sees it. Every read sees this state, and
/// nothing can be written. Use it only on the thread of that read, and only for as long as the read lasts.
struct SingleState: TrailStorage {
  private let reader: any StorageReader

  init(_ reader: any StorageReader) { self.reader = reader }

  func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try body(reader) }

  func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result { throw Self.closed }

  func scrub() throws { throw Self.closed }

  func byteCount() throws -> UInt64 { throw Self.closed }

  func close() throws {}

  private static let closed = StorageError(.closed, at: "storage", "What is only read cannot be changed.")
}

// The protocol requires Sendable; this storage stays on the thread of its read.
extension SingleState: @unchecked Sendable {}
