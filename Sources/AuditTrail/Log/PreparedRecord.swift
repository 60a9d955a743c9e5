// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// A record with all that can be said of it before it is its turn: under which fingerprints it will be found, what of
/// it is erasable, and what the entries have to do with it that the runs of the index know. Made by who appends, so
/// that one batch is prepared while another is stored.
final class PreparedRecord: Sendable {
  let facts: EntryFacts
  let fingerprints: EntryFingerprints
  /// Looked at only where the record is entered: a repetition is acknowledged whatever comes with it.
  let erasable: Result<CommittedErasable?, AuditError>
  /// `nil` where it has not been looked up yet.
  let inRuns: RunsAnswer?

  /// What the runs of one version of the index know: the entries that were in memory then, and those that have been
  /// entered since, are still to be asked.
  struct RunsAnswer {
    let version: UInt64
    let earlier: EarlierEntries
  }

  private init(
    _ record: AuditRecord, _ fingerprints: EntryFingerprints, salt: ArraySlice<UInt8>, inRuns: RunsAnswer?
  ) {
    facts = record.facts
    self.fingerprints = fingerprints
    erasable = Result { () throws(AuditError) in try CommittedErasable(record, salt: salt) }
    self.inRuns = inRuns
  }

  /// Prepares records, with all processors where there are many.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - key: What fingerprints are made with.
  ///   - runs: Looks records up; `nil` leaves that for later.
  /// - Returns: The records, in order.
  static func prepare(_ records: [AuditRecord], _ key: IndexKey, lookingUpIn runs: RunsLookup? = nil)
    -> [PreparedRecord]
  {
    AllProcessors.map(records.count) { range in
      let fingerprints = records[range].map { EntryFingerprints($0, key) }
      let answers = runs?.answers(records[range], fingerprints)
      // The generator is slow to start: one draw for many.
      let salts = Random.bytes(ErasablePart.saltByteCount * range.count)
      return range.map { number in
        let start = ErasablePart.saltByteCount * (number - range.lowerBound)
        return PreparedRecord(
          records[number], fingerprints[number - range.lowerBound],
          salt: salts[start..<start + ErasablePart.saltByteCount],
          inRuns: answers?[number - range.lowerBound])
      }
    }
  }
}

/// Looks records up in the runs of the index, which never change, while others write: most of the time of an append is
/// reading what is already there.
struct RunsLookup: Sendable {
  let index: IndexSnapshot
  let once: TrailConfiguration.OnceWindow
  let storage: any TrailStorage

  /// What the runs know of records; `nil` where they are to be looked up later instead, as where runs were merged in
  /// between, or cannot be read: then the append says so.
  func answers(
    _ records: ArraySlice<AuditRecord>, _ fingerprints: [EntryFingerprints]
  ) -> [PreparedRecord.RunsAnswer]? {
    let index = index.withoutMemory
    return try? storage.read { reader in
      guard try IndexCatalogue.version(in: reader) == index.version else { return nil }
      let entries = StoredEntries(reader: reader)
      let search = EarlierEntriesSearch(index: index, once: once, reader: reader) { number in
        guard let entry = try entries.entry(at: number) else { throw StoredEntries.missing(number) }
        return entry
      }
      try search.prefetch(fingerprints)
      return try zip(records, fingerprints).map { record, fingerprints in
        PreparedRecord.RunsAnswer(
          version: index.version, earlier: try search.find(record.facts, fingerprints))
      }
    }
  }
}

/// The bytes of an erasable part, and what its entry says of them.
struct CommittedErasable {
  let bytes: [UInt8]
  let commitment: SHA256Digest

  /// `nil` where nothing of the record is erasable.
  init?(_ record: AuditRecord, salt: ArraySlice<UInt8>) throws(AuditError) {
    guard record.hasErasablePart else { return nil }
    var bytes: [UInt8] = []
    do {
      try ErasablePart.encode(record, salt: salt, into: &bytes)
    } catch {
      throw AuditError(.invalidRecord, at: "erasable part", "\(error)")
    }
    guard bytes.count <= TrailLimits.erasableByteCount else {
      throw AuditError(
        .invalidRecord, at: "erasable part",
        "The receipt and tokens are \(bytes.count) bytes; at most \(TrailLimits.erasableByteCount) are kept.")
    }
    self.bytes = bytes
    commitment = SHA256Digest(of: bytes)
  }
}
