// SPDX-License-Identifier: Apache-2.0

/// The index of a trail, as its writer holds it: which entries may be about a fingerprint.
///
/// Records of new entries go to a table in memory; ``flush(upTo:in:)`` makes sorted runs of them, which
/// ``IndexMerger`` merges. Records in memory need not be durable: at opening, the writer inserts again those of the
/// entries from ``indexedSize`` on. Answers are candidates, to be confirmed by reading the entries.
///
/// The index is authentic against those who can write the storage: all that is read is verified against the root, which
/// the trail signs. A row that was altered, replaced by an older one, added or removed gives ``IndexError/Code/corrupt``,
/// and never another answer. Whatever changes the root (``flush(upTo:in:)``, ``remove(_:_:in:)``, a step of the merger)
/// does so inside a write transaction of the caller, who stores the new ``root`` in the same.
///
/// One thread at a time uses an index. Copies share the table in memory, except after a removal; after a write transaction that failed,
/// put back the copy made before it and call ``rollback(to:)``.
package struct IndexEngine: Sendable {
  private var runs: ResidentRuns
  private var memtable: Memtable
  /// The records to remove from tables that readers share when the transaction is committed.
  private var removals: [(table: Memtable, kind: IndexKind, records: [IndexRecord])] = []

  /// Reads and verifies the catalogue, fences and filters.
  ///
  /// - Parameters:
  ///   - root: The authentic root of the state that `reader` reads; ``RowDigest/none`` for an index without runs.
  ///   - reader: The rows.
  /// - Throws: ``IndexError``, with ``IndexError/Code/corrupt`` where the rows are not those of the root; what the
  ///   storage throws.
  package init(root: IndexRoot, in reader: any IndexReader) throws {
    runs = try ResidentRuns(root, in: reader)
    memtable = Memtable(base: runs.catalogue.indexedSize)
  }

  /// The digest that the trail must vouch for.
  package var root: IndexRoot { runs.root }

  /// The entries below it have their records in runs.
  package var indexedSize: UInt64 { runs.catalogue.indexedSize }

  /// Grows with every flush and with every merge that is complete.
  package var version: UInt64 { runs.catalogue.version }

  /// The number of runs of all kinds.
  package var runCount: Int { runs.catalogue.runs.count }

  /// Takes over what other processes and merges changed.
  ///
  /// To be called at the beginning of every transaction. Where ``indexedSize`` grew, records in memory of entries
  /// below it are dropped; the writer still inserts those of the entries that it has not seen.
  ///
  /// - Parameters:
  ///   - root: The authentic root of the state that `reader` reads.
  ///   - reader: The rows.
  /// - Returns: Whether the root was another.
  /// - Throws: ``IndexError``; what the storage throws.
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

  /// Takes a record of a new entry. The indices of a kind must not descend; entries below ``indexedSize`` are
  /// not taken again.
  package mutating func insert(
    _ kind: IndexKind, _ fingerprint: UInt64, _ index: UInt64, check: UInt32 = 0
  ) {
    withMemory { $0.insert(kind, fingerprint, index, check: check) }
  }

  /// Inserts many records, or asks for many of those in memory: of entries from ``indexedSize`` on.
  package func withMemory<Result: Sendable>(_ body: (inout MemtableRecords) -> Result) -> Result {
    memtable.withRecords(body)
  }

  /// Has the snapshots that share this engine's table lose what was removed, once the transaction is committed: what the
  /// records lead to is not there any more.
  ///
  /// - Returns: What was removed, for snapshots of an engine before this one: ``IndexSnapshot/remove(_:_:)``.
  package mutating func didCommit() -> [(kind: IndexKind, records: [IndexRecord])] {
    defer { removals = [] }
    return removals.map { removal in
      removal.table.remove(removal.kind, removal.records)
      return (removal.kind, removal.records)
    }
  }

  /// Takes back the records in memory of entries from `size` on.
  package mutating func rollback(to size: UInt64) { memtable.rollback(to: size) }

  /// The newest entry below `before` that may be about the fingerprint.
  ///
  /// - Throws: ``IndexError/Code/corrupt``; what the storage throws.
  package func newest(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any IndexReader
  ) throws -> UInt64? {
    try snapshot(size: .max).newest(kind, fingerprint, check: check, before: before, in: reader)
  }

  /// All entries below `before` that may be about the fingerprint, newest first.
  package func candidates(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any IndexReader
  ) -> IndexCandidates {
    snapshot(size: .max).candidates(kind, fingerprint, check: check, before: before, in: reader)
  }

  /// The index as of `size` entries, for readers on other threads.
  package func snapshot(size: UInt64) -> IndexSnapshot {
    IndexSnapshot(size: size, runs: runs, memtable: memtable)
  }

  /// Writes the records in memory of entries below `size` as one run a kind, and changes ``root``.
  ///
  /// What is stored must be what the engine knows: ``reloadIfChanged(to:in:)`` comes first.
  ///
  /// - Throws: ``IndexError``; what the storage throws. The index is then to be put back to what it was before the
  ///   transaction.
  package mutating func flush(upTo size: UInt64, in writer: any IndexWriter) throws {
    guard size > indexedSize else { return }
    var catalogue = runs.catalogue
    try catalogue.addRuns(of: memtable, upTo: size, in: writer)
    try reloadIfChanged(to: catalogue.write(in: writer), in: writer)
  }

  /// Removes records of a personal kind (``IndexKind/isPersonal``), so that not even their fingerprints are left: from
  /// memory, and from the pages of runs and of what merges have made of those so far. Changes ``root`` where there were
  /// any in runs. Other processes take their copies out of memory with ``MemtableRecords/remove(_:of:)``.
  ///
  /// Each page and each row of fences is written once, however many of their records go. Runs that were merged before
  /// and await their removal keep the records until ``IndexMerger`` has nothing left to do.
  ///
  /// What is stored must be what the engine knows: ``reloadIfChanged(to:in:)`` comes first.
  ///
  /// - Returns: How many of the records there were.
  /// - Throws: ``IndexError``, with ``IndexError/Code/unsupported`` for another kind, whose pages readers keep as they
  ///   were; what the storage throws. The index is then to be put back to what it was before the transaction.
  @discardableResult
  package mutating func remove(
    _ kind: IndexKind, _ records: [IndexRecord], in writer: any IndexWriter
  ) throws -> Int {
    guard kind.isPersonal else {
      throw IndexError(.unsupported, "Records of the kind \(kind) are not removed.")
    }
    let removal = RunRemoval(of: records)
    var catalogue = runs.catalogue
    for number in catalogue.runs.indices where catalogue.runs[number].kind == kind {
      guard let resident = runs[kind].runs.first(where: { $0.run == catalogue.runs[number] }) else {
        continue
      }
      catalogue.runs[number] = try removal.run(resident, in: writer)
    }
    let (rest, inMemory) = memtable.without(kind, records)
    let removed = inMemory + Int(runs.catalogue.recordCount(kind) - catalogue.recordCount(kind))
    for number in catalogue.merges.indices where catalogue.merges[number].output.kind == kind {
      try removal.run(&catalogue.merges[number].progress, in: writer)
    }
    if catalogue != runs.catalogue { try reloadIfChanged(to: catalogue.write(in: writer), in: writer) }
    // Snapshots that were made before share the table: they keep the records unless the transaction is committed.
    if inMemory > 0 { removals.append((memtable, kind, records)) }
    memtable = rest
    return removed
  }
}
