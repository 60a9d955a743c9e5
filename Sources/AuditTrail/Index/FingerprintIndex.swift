// SPDX-License-Identifier: Apache-2.0

/// The index of a trail, as its writer holds it: which entries may be about a fingerprint.
///
/// Records of new entries go to a table in memory; ``flush(upTo:in:)`` makes sorted runs of them, which
/// ``IndexMerger`` merges. Records in memory need not be durable: at opening, the writer inserts again those of the
/// entries from ``indexedSize`` on. Answers are candidates, to be confirmed by reading the entries.
///
/// One thread at a time uses an index. Copies share the table in memory; after a write transaction that failed,
/// put back the copy made before it and call ``rollback(to:)``.
package struct FingerprintIndex: Sendable {
  private var runs: ResidentRuns
  private var memtable: Memtable

  /// Reads the catalogue, fences and filters.
  ///
  /// - Throws: ``StorageError``, with ``StorageError/Code/corrupt`` where they are damaged.
  package init(reading reader: any StorageReader) throws {
    runs = try ResidentRuns(try IndexCatalogue.read(in: reader), in: reader)
    memtable = Memtable(base: runs.indexedSize)
  }

  /// The entries below it have their records in runs.
  package var indexedSize: UInt64 { runs.indexedSize }

  /// Grows with every flush and merge.
  package var catalogueVersion: UInt64 { runs.version }

  /// How many runs there are, over all kinds.
  package var runCount: Int { runs.byKind.reduce(0) { $0 + $1.runs.count } }

  /// How many records are in memory, over all kinds.
  package var memoryRecordCount: Int { memtable.counts.reduce(0, +) }

  /// Takes over what other processes and merges changed; whether there was anything.
  ///
  /// To be called at the beginning of every transaction. Where ``indexedSize`` grew, records in memory of entries
  /// below it are dropped; the writer still inserts those of the entries that it has not seen.
  ///
  /// - Throws: ``StorageError``.
  @discardableResult
  package mutating func reloadIfChanged(in reader: any StorageReader) throws -> Bool {
    guard try IndexCatalogue.version(in: reader) != runs.version else { return false }
    let catalogue = try IndexCatalogue.read(in: reader)
    guard catalogue.indexedSize >= runs.indexedSize else {
      throw IndexPlace.catalogue.corrupt("The index covers less than before; the storage was rolled back.")
    }
    adopt(try ResidentRuns(catalogue, knowing: runs, in: reader))
    return true
  }

  private mutating func adopt(_ changed: ResidentRuns) {
    if changed.indexedSize > runs.indexedSize {
      let rest = Memtable(base: changed.indexedSize, expecting: memtable.counts)
      for kind in IndexKind.allCases {
        let records = memtable.records(kind, in: changed.indexedSize..<UInt64.max)
        rest.withRecords {
          for record in records { $0.insert(kind, record.fingerprint, record.index, check: record.check) }
        }
      }
      memtable = rest
    }
    runs = changed
  }

  /// Takes a record of a new entry. The indices of a kind must not descend; entries below ``indexedSize`` are
  /// not taken again.
  package mutating func insert(
    _ kind: IndexKind, _ fingerprint: UInt64, _ index: UInt64, check: UInt32 = 0
  ) {
    withMemory { $0.insert(kind, fingerprint, index, check: check) }
  }

  /// Inserts many records, or asks for many of those in memory: of entries from ``indexedSize`` on.
  func withMemory<Result: Sendable>(_ body: (inout MemtableRecords) -> Result) -> Result {
    memtable.withRecords(body)
  }

  func removeFromMemory(_ kind: IndexKind, _ record: IndexRecord) -> Bool { memtable.remove(kind, record) }

  /// Takes back the records in memory of entries from `size` on.
  package mutating func rollback(to size: UInt64) { memtable.rollback(to: size) }

  /// The newest entry below `before` that may be about the fingerprint.
  ///
  /// - Throws: ``StorageError``.
  package func newest(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any StorageReader
  ) throws -> UInt64? {
    try snapshot(size: .max).newest(kind, fingerprint, check: check, before: before, in: reader)
  }

  /// All entries below `before` that may be about the fingerprint, newest first.
  package func candidates(
    _ kind: IndexKind, _ fingerprint: UInt64, check: UInt32 = 0, before: UInt64 = .max,
    in reader: any StorageReader
  ) -> IndexCandidates {
    snapshot(size: .max).candidates(kind, fingerprint, check: check, before: before, in: reader)
  }

  /// The index as of `size` entries, for readers on other threads.
  package func snapshot(size: UInt64) -> IndexSnapshot {
    IndexSnapshot(size: size, runs: runs, memtable: memtable)
  }

  /// Writes the records in memory of entries below `size` as one run a kind.
  ///
  /// - Throws: ``StorageError``. The index is then to be put back to what it was before the transaction.
  package mutating func flush(upTo size: UInt64, in writer: any StorageWriter) throws {
    try reloadIfChanged(in: writer)
    guard size > indexedSize else { return }
    guard size <= IndexRun.sizeLimit else {
      throw StorageError(.unsupported, at: "index", "A log cannot have \(size) entries.")
    }
    var catalogue = try IndexCatalogue.read(in: writer)
    let from = catalogue.indexedSize
    catalogue.version += 1
    catalogue.indexedSize = size
    for kind in IndexKind.allCases {
      let records = memtable.records(kind, in: from..<size).sortedByFingerprint()
      guard !records.isEmpty else { continue }
      guard catalogue.nextRun < IndexRun.numberLimit else {
        throw IndexPlace.catalogue.corrupt("There are no more run numbers.")
      }
      var run = IndexRun(
        number: catalogue.nextRun, kind: kind, level: 0, from: from, to: size, records: UInt64(records.count),
        pages: 0, filterBlocks: kind.hasFilter ? BlockedFilter.blockCount(records: UInt64(records.count)) : 0)
      catalogue.nextRun += 1
      var builder = IndexRunBuilder(run)
      var rest = records[...]
      while !rest.isEmpty {
        let length = builder.pageLength(of: rest)
        builder.addPage(rest.prefix(length))
        rest = rest.dropFirst(length)
      }
      try builder.write(in: writer, ending: true)
      run.pages = builder.progress.pages
      catalogue.add(run)
    }
    try catalogue.write(in: writer)
    adopt(try ResidentRuns(catalogue, knowing: runs, in: writer))
  }
}
