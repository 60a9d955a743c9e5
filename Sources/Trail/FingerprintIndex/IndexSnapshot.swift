// SPDX-License-Identifier: Apache-2.0

/// The index at a size of the log, for readers on any thread while the engine continues. Take the snapshot before the
/// storage's `read` begins, and call ``refreshed(to:in:)`` within it, because a merge may have replaced runs in
/// between.
package struct IndexSnapshot: Sendable {
  /// The size of the log. Entries from this index on are not visible.
  package let size: UInt64
  let runs: ResidentRuns
  /// The records in memory; `nil` if only the runs are searched.
  let memtable: Memtable?

  /// Removes records from the table in memory, which other snapshots may share. The removal must have been committed.
  package func remove(_ kind: IndexKind, _ records: [IndexRecord]) { memtable?.remove(kind, records) }

  /// Returns the same snapshot with the runs that `reader` has, or itself if the runs are the same. The filters of new
  /// runs are not loaded: for few lookups, reading an additional page is cheaper.
  package func refreshed(to root: IndexRoot, in reader: any IndexReader) throws -> IndexSnapshot {
    guard root != runs.root else { return self }
    let runs = try ResidentRuns(root, knowing: runs, withFilters: false, in: reader)
    return IndexSnapshot(size: size, runs: runs, memtable: memtable)
  }

  /// A snapshot of the runs alone, which do not change while others write.
  package var withoutMemory: IndexSnapshot { IndexSnapshot(size: size, runs: runs, memtable: nil) }

  package var version: UInt64 { runs.catalogue.version }

  /// Prefetches the first page that the lookup of each fingerprint reads. `sought` returns the fingerprints that will
  /// be looked up. It is called only if the storage supports prefetching.
  package func prefetch(
    in reader: any IndexReader, _ sought: () -> [(kind: IndexKind, fingerprint: UInt64, check: UInt32)]
  ) throws {
    try reader.prefetch(.pages) {
      sought().compactMap { firstPage($0.kind, $0.fingerprint, check: $0.check) }
    }
  }

  /// The key of the first page that the lookup of a fingerprint reads; `nil` if it reads none.
  private func firstPage(_ kind: IndexKind, _ fingerprint: UInt64, check: UInt32) -> Int64? {
    let bits = BlockedFilter.bits(of: fingerprint)
    guard !kind.isPersonal, memtable?.newest(kind, fingerprint, check: check, before: size) == nil,
      let number = runs[kind].first(mayContain: fingerprint, bits)
    else { return nil }
    let run = runs[kind].runs[number]
    let page = run.fences.fingerprints.partitioningIndex { $0 > fingerprint } - 1
    return page < 0 ? nil : run.run.page(page).key
  }

  /// Returns `true` if entries may have the fingerprint. Nothing is read from the storage.
  package func mayContain(_ kind: IndexKind, _ fingerprint: UInt64) -> Bool {
    if memtable?.newest(kind, fingerprint, check: 0, before: size) != nil { return true }
    return runs[kind].first(mayContain: fingerprint, BlockedFilter.bits(of: fingerprint)) != nil
  }

  package func newest(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any IndexReader
  ) throws -> UInt64? {
    let before = min(before, size)
    if let index = memtable?.newest(kind, fingerprint, check: check, before: before) { return index }
    return try runs[kind].newest(fingerprint, check: check, before: before, in: reader)
  }

  package func candidates(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any IndexReader
  ) -> IndexCandidates {
    IndexCandidates(
      snapshot: self, kind: kind, fingerprint: fingerprint, check: check, before: min(before, size),
      reader: reader)
  }
}

/// Candidate entries, newest first, which are read on demand.
package struct IndexCandidates {
  fileprivate let snapshot: IndexSnapshot
  fileprivate let kind: IndexKind
  fileprivate let fingerprint: UInt64
  fileprivate let check: UInt32
  fileprivate var before: UInt64
  fileprivate let reader: any IndexReader
  fileprivate var found: ArraySlice<UInt64> = []

  package mutating func next() throws -> UInt64? {
    if found.isEmpty {
      let inMemory = snapshot.memtable?.withRecords {
        $0.indices(kind, fingerprint, check: check, before: before, limit: 256)
      }
      found = inMemory?[...] ?? []
      if found.isEmpty {
        let runs = snapshot.runs[kind]
        found = try runs.indices(fingerprint, check: check, before: before, limit: 256, in: reader)[...]
      }
    }
    guard let index = found.popFirst() else { return nil }
    before = index
    return index
  }
}
