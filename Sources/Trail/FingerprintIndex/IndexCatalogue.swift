// SPDX-License-Identifier: Apache-2.0

/// Which runs there are: one row, so that every change of the index takes effect at once. Its digest is the root.
struct IndexCatalogue: Sendable, Hashable {
  /// Grows whenever the set of runs changes.
  var version: UInt64 = 0
  /// The entries whose records are in runs.
  var indexedSize: UInt64 = 0
  /// The number of the next run.
  var nextRun: UInt64 = 1
  /// By kind, then by the entries that they cover.
  var runs: [IndexRun] = []
  /// Merges under way.
  var merges: [IndexMerge] = []
  /// Runs that nothing needs any more and whose rows are still to be removed.
  var garbage: [IndexGarbage] = []

  /// The runs of a kind, oldest entries first.
  func runs(of kind: IndexKind) -> ArraySlice<IndexRun> {
    let first = runs.firstIndex { $0.kind.rawValue >= kind.rawValue } ?? runs.endIndex
    let end = runs[first...].firstIndex { $0.kind != kind } ?? runs.endIndex
    return runs[first..<end]
  }

  /// The number of records of a kind the runs have.
  func recordCount(_ kind: IndexKind) -> UInt64 { runs(of: kind).reduce(0) { $0 + $1.records } }

  mutating func add(_ run: IndexRun) {
    let place =
      runs.firstIndex { ($0.kind.rawValue, $0.from) > (run.kind.rawValue, run.from) } ?? runs.endIndex
    runs.insert(run, at: place)
  }

  /// Writes the records of the entries from ``indexedSize`` to `size` as one run a kind.
  ///
  /// - Throws: ``IndexError``; what the storage throws.
  mutating func addRuns(of memtable: Memtable, upTo size: UInt64, in writer: any IndexWriter) throws {
    guard size <= IndexRun.sizeLimit else {
      throw IndexError(.outOfRoom, "The index cannot cover \(size) entries.")
    }
    let from = indexedSize
    version += 1
    indexedSize = size
    for kind in IndexKind.allCases {
      var records = memtable.records(kind, in: from..<size).sortedByFingerprint()[...]
      guard !records.isEmpty else { continue }
      let blocks = kind.hasFilter ? BlockedFilter.blockCount(records: UInt64(records.count)) : 0
      let run = IndexRun(
        number: try takeNumber(), kind: kind, level: 0, from: from, to: size, filterBlocks: blocks)
      var builder = IndexRunBuilder(from: IndexRunProgress(run: run))
      try builder.addPages(of: &records)
      try builder.write(in: writer, ending: true)
      add(builder.progress.run)
    }
  }

  /// The keys between those of the catalogue, of its runs, and of merges and removals under way: no row is there.
  ///
  /// - Parameter isStored: Whether the catalogue itself has a row.
  /// - Returns: The ranges, table by table.
  func unusedKeys(isStored: Bool) -> [(table: IndexTable, keys: ClosedRange<Int64>)] {
    var used: [IndexTable: [ClosedRange<Int64>]] = isStored ? [.runs: [0...0]] : [:]
    for number in garbage.map(\.number) + merges.map(\.output.number) {
      for table in IndexTable.allCases { used[table, default: []].append(IndexRun.keys(number)) }
    }
    for (table, keys) in runs.flatMap(\.rows) { used[table, default: []].append(keys) }
    var unused: [(IndexTable, ClosedRange<Int64>)] = []
    for table in IndexTable.allCases {
      var next = Int64.min
      for keys in (used[table] ?? []).sorted(by: { $0.lowerBound < $1.lowerBound }) {
        if next < keys.lowerBound { unused.append((table, next...keys.lowerBound - 1)) }
        next = keys.upperBound + 1
      }
      unused.append((table, next...Int64.max))
    }
    return unused
  }

  /// The rows to remove once nothing uses them any more.
  var withoutUse: [IndexGarbage] {
    (runs + merges.map(\.output)).map { IndexGarbage(number: $0.number, kind: $0.kind) } + garbage
  }

  /// A number for another run.
  ///
  /// - Throws: ``IndexError/Code/outOfRoom``.
  mutating func takeNumber() throws(IndexError) -> UInt64 {
    guard nextRun < IndexRun.numberLimit else {
      throw IndexError(.outOfRoom, "There are no more run numbers. Move the trail into a new storage.")
    }
    defer { nextRun += 1 }
    return nextRun
  }
}

/// A run whose rows are still to be removed.
struct IndexGarbage: Sendable, Hashable {
  let number: UInt64
  let kind: IndexKind
}

/// A merge under way. All that is known of it is here, so that any process can go on with it.
struct IndexMerge: Sendable, Hashable {
  /// The numbers of the runs that it replaces, oldest entries first.
  let inputs: [UInt64]
  /// The worker that holds it.
  var owner: IndexMergeOwner
  /// The time of its last work, in seconds since 1970.
  var time: UInt64
  var progress: IndexRunProgress

  /// The run that is made, as far as it is written.
  var output: IndexRun { progress.run }
}

/// The progress of a run that is being written.
struct IndexRunProgress: Sendable, Hashable {
  /// Its digests cover the fence rows, and the filter rows before ``filterRow``.
  var run: IndexRun
  /// The last record written; `nil` without one yet.
  var last: IndexRecord?
  /// The filter row that the next record may fall in; those before it are complete.
  var filterRow = 0
  /// Of that row as it was last written; ``RowDigest/none`` where it was not.
  var filterPart = RowDigest.none
}

/// The identifier of a merge's worker: a random number.
struct IndexMergeOwner: Sendable, Hashable {
  let high: UInt64
  let low: UInt64
}
