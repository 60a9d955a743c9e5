// SPDX-License-Identifier: Apache-2.0

/// The index of a trail as its writer uses it: it finds the entries that may have a fingerprint.
///
/// Records of new entries go to a table in memory. ``flush(upTo:in:)`` writes them as sorted runs, which
/// ``IndexMerger`` merges. Records in memory need not be durable: when a trail is opened, the writer inserts the
/// records of the entries from ``indexedSize`` on again. Results are candidates, to be confirmed by reading the
/// entries.
///
/// The index is protected against anyone who can write to the storage: everything that is read is verified against
/// the root, which the trail signs. If a row was altered, replaced by an older one, added or removed, the result is
/// ``IndexError/Code/corrupt`` and never a wrong answer. Every change of the root (``flush(upTo:in:)``,
/// ``remove(_:_:in:)``, a step of the merger) happens in a write transaction of the caller, who stores the new
/// ``root`` in the same transaction.
///
/// An index must be used by one thread at a time. Copies share the table in memory, except after a removal. After a
/// failed write transaction, drop the index, and open it again.
package struct IndexEngine: Sendable {
  private(set) var runs: ResidentRuns
  private var memtable: Memtable
  /// Records to remove from tables that readers share, once the transaction is committed.
  private var removals: [(table: Memtable, kind: IndexKind, records: [IndexRecord])] = []

  /// Reads and verifies the catalogue, fences and filters. The root must be the authentic one of the state that
  /// `reader` reads; ``SHA256Digest/zero`` for an index without runs.
  package init(root: IndexRoot, in reader: any IndexReader) throws {
    runs = try ResidentRuns(root, in: reader)
    memtable = Memtable(base: runs.catalogue.indexedSize)
  }

  package var root: IndexRoot { runs.root }

  /// The number of entries whose records are in runs.
  package var indexedSize: UInt64 { runs.catalogue.indexedSize }

  /// A number that increases with every flush and every completed merge.
  package var version: UInt64 { runs.catalogue.version }

  /// Loads the changes that other processes and merges made. Call it at the beginning of every transaction. If
  /// ``indexedSize`` has grown, records in memory of entries below it are dropped. The writer must still insert the
  /// records of the entries that it has not seen.
  @discardableResult
  package mutating func reloadIfChanged(to root: IndexRoot, in reader: any IndexReader) throws -> Bool {
    guard root != runs.root else { return false }
    let known = indexedSize
    runs = try ResidentRuns(root, knowing: runs, in: reader)
    guard indexedSize > known else { return true }
    let rest = Memtable(base: indexedSize, expecting: memtable.counts)
    for kind in IndexKind.allCases {
      let records = memtable.records(kind, in: indexedSize..<UInt64.max)
      rest.withRecords {
        for record in records { $0.insert(kind, record.fingerprint, record.index, check: record.check) }
      }
    }
    memtable = rest
    return true
  }

  /// Calls `body` with the records in memory, to insert or look up many at once, for entries from ``indexedSize`` on.
  package func withMemory<Result: Sendable>(_ body: (inout MemtableRecords) -> Result) -> Result {
    memtable.withRecords(body)
  }

  /// Removes the removed records from the tables that snapshots share with this engine. Call it after the commit. The
  /// entries that the records lead to have been removed. Returns the removed records, for snapshots of an earlier
  /// engine: pass them to ``IndexSnapshot/remove(_:_:)``.
  package mutating func didCommit() -> [(kind: IndexKind, records: [IndexRecord])] {
    defer { removals = [] }
    return removals.map { removal in
      removal.table.remove(removal.kind, removal.records)
      return (removal.kind, removal.records)
    }
  }

  package func snapshot(size: UInt64) -> IndexSnapshot {
    IndexSnapshot(size: size, runs: runs, memtable: memtable)
  }

  /// Writes the records in memory of entries below `size` as one run per kind, and changes ``root``. Call
  /// ``reloadIfChanged(to:in:)`` first, so that the engine knows the stored state. If it throws, the caller must drop
  /// the index.
  package mutating func flush(upTo size: UInt64, in writer: any IndexWriter) throws {
    guard size > indexedSize else { return }
    var catalogue = runs.catalogue
    try catalogue.addRuns(of: memtable, upTo: size, in: writer)
    try reloadIfChanged(to: catalogue.write(in: writer), in: writer)
  }

  /// Removes records of a personal kind (``IndexKind/isPersonal``), so that not even their fingerprints are left.
  ///
  /// They are removed from memory, from the pages of runs, and from the rows that unfinished merges have written so
  /// far. ``root`` changes if any of them were in runs. Other processes remove their copies in memory with
  /// ``MemtableRecords/remove(_:of:)``.
  ///
  /// Each page and each fence row is written at most once, however many of its records are removed. Runs that have
  /// been merged and await their removal keep the records until ``IndexMerger`` has nothing left to do.
  ///
  /// Call ``reloadIfChanged(to:in:)`` first, so that the engine knows the stored state.
  ///
  /// It returns the number of these records that existed. It throws ``IndexError/Code/unsupported`` for other kinds,
  /// because readers cache their pages. If it throws, the caller must drop the index.
  @discardableResult
  package mutating func remove(
    _ kind: IndexKind, _ records: [IndexRecord], in writer: any IndexWriter
  ) throws -> Int {
    guard kind.isPersonal else {
      throw IndexError(.unsupported, "Records of the kind \(kind) are not removed.")
    }
    let sorted = records.sorted()
    var catalogue = runs.catalogue
    for number in catalogue.runs.indices where catalogue.runs[number].kind == kind {
      guard let resident = runs[kind].runs.first(where: { $0.run == catalogue.runs[number] }) else {
        continue
      }
      catalogue.runs[number] = try resident.removing(sorted, in: writer)
    }
    let (rest, inMemory) = memtable.without(kind, records)
    let removed = inMemory + Int(runs.catalogue.recordCount(kind) - catalogue.recordCount(kind))
    for number in catalogue.merges.indices where catalogue.merges[number].output.kind == kind {
      try catalogue.merges[number].progress.remove(sorted, in: writer)
    }
    if catalogue != runs.catalogue { try reloadIfChanged(to: catalogue.write(in: writer), in: writer) }
    // Older snapshots share the table. They keep the records unless the transaction is committed.
    if inMemory > 0 { removals.append((memtable, kind, records)) }
    memtable = rest
    return removed
  }
}
