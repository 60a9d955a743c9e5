// SPDX-License-Identifier: Apache-2.0

/// Looks records up in the runs of the index, which never change, while others write: most of the time of an append is
/// reading what is already there.
struct RunsLookup: Sendable {
  /// What the runs know of a record: the entries that were in memory then, and those that have been entered since, are
  /// still to be asked.
  struct Answer {
    /// Of the index.
    let version: UInt64
    let earlier: EarlierEntries
  }

  /// The runs alone.
  let index: IndexSnapshot
  let once: TrailConfiguration.OnceWindow
  let storage: any TrailStorage

  /// What the runs know of records; `nil` where they are to be looked up later instead, as where runs were merged in
  /// between, or cannot be read: then the append says so.
  func answers(
    _ records: [AuditRecord], _ fingerprints: [EntryFingerprints]
  ) -> [Answer]? {
    return try? storage.read { reader in
      guard try IndexCatalogue.version(in: reader) == index.version else { return nil }
      let entries = StoredEntries(reader: reader)
      let search = EarlierEntriesSearch(index: index, once: once, reader: reader) { number in
        guard let entry = try entries.entry(at: number) else { throw StoredEntries.missing(number) }
        return entry
      }
      try search.prefetch(fingerprints)
      return try zip(records, fingerprints).map { record, fingerprints in
        Answer(
          version: index.version, earlier: try search.find(record.facts, fingerprints))
      }
    }
  }
}
