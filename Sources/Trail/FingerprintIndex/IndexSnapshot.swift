// SPDX-License-Identifier: Apache-2.0

/// The index as of a size of the log, for readers on any thread while the engine goes on.
///
/// Take the snapshot first and begin the storage's `read` after it, and ask ``refreshed(to:in:)`` there: a merge in
/// between may have replaced runs.
package struct IndexSnapshot: Sendable {
  /// Entries from here on are not seen.
  package let size: UInt64
  let runs: ResidentRuns
  /// `nil` if the runs alone are asked.
  let memtable: Memtable?

  /// Takes records out of the table in memory, which other snapshots may share: they were removed, and that is committed.
  package func remove(_ kind: IndexKind, _ records: [IndexRecord]) { memtable?.remove(kind, records) }

  /// The same snapshot with the runs that `reader` has; itself where they are the same.
  ///
  /// The filters of runs that it does not know are not read: for some lookups a page more is cheaper.
  ///
  /// - Parameters:
  ///   - root: The authentic root of the state that `reader` reads.
  ///   - reader: The rows.
  /// - Returns: The snapshot.
  /// - Throws: ``IndexError``; what the storage throws.
  package func refreshed(to root: IndexRoot, in reader: any IndexReader) throws -> IndexSnapshot {
    guard root != runs.root else { return self }
    let runs = try ResidentRuns(root, knowing: runs, withFilters: false, in: reader)
    return IndexSnapshot(size: size, runs: runs, memtable: memtable)
  }

  /// The runs alone, which stay as they are while others write.
  package var withoutMemory: IndexSnapshot { IndexSnapshot(size: size, runs: runs, memtable: nil) }

  /// Grows with every flush and with every merge that is complete.
  package var version: UInt64 { runs.catalogue.version }

  /// Has the storage read at once the pages that looking fingerprints up reads first.
  ///
  /// - Parameters:
  ///   - reader: The rows.
  ///   - sought: What will be looked up; called only where that helps.
  /// - Throws: What the storage throws.
  package func prefetch(
    in reader: any IndexReader, _ sought: () -> [(kind: IndexKind, fingerprint: UInt64, check: UInt32)]
  ) throws {
    try reader.prefetch(.pages) {
      sought().compactMap { firstPage($0.kind, $0.fingerprint, check: $0.check) }
    }
  }

  /// The key of the page that looking a fingerprint up reads first, where it reads any.
  private func firstPage(_ kind: IndexKind, _ fingerprint: UInt64, check: UInt32) -> Int64? {
    guard !kind.isPersonal, memtable?.newest(kind, fingerprint, check: check, before: size) == nil else {
      return nil
    }
    let runs = runs[kind]
    guard let number = runs.first(mayContain: fingerprint, BlockedFilter.bits(of: fingerprint)) else {
      return nil
    }
    let run = runs.runs[number]
    let page = run.fences.fingerprints.partitioningIndex { $0 > fingerprint } - 1
    return page < 0 ? nil : run.run.page(page).key
  }

  /// Indicates whether there may be entries about the fingerprint; nothing is read to tell.
  package func mayContain(_ kind: IndexKind, _ fingerprint: UInt64) -> Bool {
    if memtable?.newest(kind, fingerprint, check: 0, before: size) != nil { return true }
    return runs[kind].first(mayContain: fingerprint, BlockedFilter.bits(of: fingerprint)) != nil
  }

  /// The newest entry below `before` that may be about the fingerprint.
  ///
  /// - Throws: ``IndexError``; what the storage throws.
  package func newest(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any IndexReader
  ) throws -> UInt64? {
    let before = min(before, size)
    if let index = memtable?.newest(kind, fingerprint, check: check, before: before) { return index }
    return try runs[kind].newest(fingerprint, check: check, before: before, in: reader)
  }

  /// All entries below `before` that may be about the fingerprint, newest first.
  package func candidates(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any IndexReader
  ) -> IndexCandidates {
    IndexCandidates(
      snapshot: self, kind: kind, fingerprint: fingerprint, check: check, before: min(before, size),
      reader: reader)
  }
}

/// Candidates, newest first, read as they are asked for.
package struct IndexCandidates {
  fileprivate let snapshot: IndexSnapshot
  fileprivate let kind: IndexKind
  fileprivate let fingerprint: UInt64
  fileprivate let check: UInt32
  fileprivate var before: UInt64
  fileprivate let reader: any IndexReader
  private var found: ArraySlice<UInt64> = []

  fileprivate init(
    snapshot: IndexSnapshot, kind: IndexKind, fingerprint: UInt64, check: UInt32, before: UInt64,
    reader: any IndexReader
  ) {
    self.snapshot = snapshot
    self.kind = kind
    self.fingerprint = fingerprint
    self.check = check
    self.before = before
    self.reader = reader
  }

  /// The next older entry; `nil` after the last.
  ///
  /// - Throws: ``IndexError``; what the storage throws.
  package mutating func next() throws -> UInt64? {
    if found.isEmpty {
      var more: [UInt64] = []
      snapshot.memtable?.collect(kind, fingerprint, check: check, before: before, limit: 256, into: &more)
      if more.isEmpty {
        try snapshot.runs[kind].collect(
          fingerprint, check: check, before: before, limit: 256, in: reader, into: &more)
      }
      found = more[...]
    }
    guard let index = found.popFirst() else { return nil }
    before = index
    return index
  }
}
