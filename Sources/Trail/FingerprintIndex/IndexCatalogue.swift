// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// The list of runs, stored in one row so that every change of the index is atomic. Its digest is the root.
struct IndexCatalogue: Sendable, Hashable {
  /// A number that increases whenever the set of runs changes.
  var version: UInt64 = 0
  /// The number of entries whose records are in runs.
  var indexedSize: UInt64 = 0
  /// The number of the next run.
  var nextRun: UInt64 = 1
  /// The runs, ordered by kind and then by the entries that they cover.
  var runs: [IndexRun] = []
  /// The unfinished merges.
  var merges: [IndexMerge] = []
  /// Runs that are no longer used and whose rows are still to be removed.
  var garbage: [IndexGarbage] = []

  /// The runs of a kind, oldest entries first.
  func runs(of kind: IndexKind) -> ArraySlice<IndexRun> {
    let first = runs.firstIndex { $0.kind.rawValue >= kind.rawValue } ?? runs.endIndex
    let end = runs[first...].firstIndex { $0.kind != kind } ?? runs.endIndex
    return runs[first..<end]
  }

  /// The number of records of a kind in the runs.
  func recordCount(_ kind: IndexKind) -> UInt64 { runs(of: kind).reduce(0) { $0 + $1.records } }

  mutating func add(_ run: IndexRun) {
    let place =
      runs.firstIndex { ($0.kind.rawValue, $0.from) > (run.kind.rawValue, run.from) } ?? runs.endIndex
    runs.insert(run, at: place)
  }

  /// Writes the records of the entries from ``indexedSize`` to `size` as one run per kind.
  ///
  /// - Throws: ``IndexError``; any error from the storage.
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

  /// The key ranges that the catalogue, its runs, unfinished merges and pending removals do not use. They must have
  /// no rows.
  ///
  /// - Parameter isStored: A Boolean value that indicates whether the catalogue itself has a row.
  /// - Returns: The ranges, grouped by table.
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

  /// Everything to remove once this catalogue has been replaced.
  var withoutUse: [IndexGarbage] {
    (runs + merges.map(\.output)).map { IndexGarbage(number: $0.number, kind: $0.kind) } + garbage
  }

  /// Takes the number of a new run.
  ///
  /// - Throws: ``IndexError/Code/outOfRoom`` if there are no more run numbers.
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

/// An unfinished merge. It records the complete state, so that any process can continue the merge.
struct IndexMerge: Sendable, Hashable {
  /// The numbers of the runs that it replaces, oldest entries first.
  let inputs: [UInt64]
  /// The worker that claims it.
  var owner: IndexMergeOwner
  /// The time of the owner's last step, in seconds since 1970.
  var time: UInt64
  var progress: IndexRunProgress

  /// The output run, as far as it is written.
  var output: IndexRun { progress.run }
}

/// The progress in writing the rows of a run.
struct IndexRunProgress: Sendable, Hashable {
  /// The run so far. Its digests cover the fence rows, and the filter rows before ``filterRow``.
  var run: IndexRun
  /// The last record written; `nil` before the first.
  var last: IndexRecord?
  /// The filter row in which the next record may fall; earlier rows are complete.
  var filterRow = 0
  /// The digest of that row as it was last written; ``SHA256Digest/zero`` if it was not written.
  var filterPart = SHA256Digest.zero
}

/// The identity of a merge's worker: a random number.
struct IndexMergeOwner: Sendable, Hashable {
  let high: UInt64
  let low: UInt64
}
