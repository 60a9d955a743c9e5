// SPDX-License-Identifier: Apache-2.0

/// Which runs there are: one row, so that every change of the index takes effect at once.
struct IndexCatalogue: Sendable, Hashable {
  /// Grows whenever the set of runs changes.
  var version: UInt64 = 0
  /// The entries whose records are in runs.
  var indexedSize: UInt64 = 0
  /// The number of the next run.
  var nextRun: UInt64 = 1
  /// How many records were removed from pages: what was read of them before is out of date.
  var removals: UInt64 = 0
  /// By kind, then by the entries that they cover.
  var runs: [IndexRun] = []
  /// Merges under way.
  var merges: [IndexMerge] = []
  /// Runs that nothing needs any more and whose rows are still to be removed.
  var garbage: [IndexGarbage] = []

  /// The catalogue, empty where there is none yet.
  ///
  /// - Throws: ``StorageError``.
  static func read(in reader: any StorageReader) throws -> IndexCatalogue {
    guard try reader.value(.runs, 0, bytes: 0..<1) != nil else { return IndexCatalogue() }
    return try IndexCatalogue(try IndexRows.words(at: .catalogue, in: reader))
  }

  /// The version alone, without reading all of the row.
  static func version(in reader: any StorageReader) throws -> UInt64 {
    guard let start = try reader.value(.runs, 0, bytes: 0..<24) else { return 0 }
    guard start.count == 24, start.span.bigEndianWord(at: 8) == magic else {
      throw IndexPlace.catalogue.corrupt("This is not the catalogue of an index of this format.")
    }
    return start.span.bigEndianWord(at: 16)
  }

  func write(in writer: any StorageWriter) throws {
    try IndexRows.put(words, at: .catalogue, in: writer)
  }

  /// The runs of a kind, oldest entries first.
  func runs(of kind: IndexKind) -> ArraySlice<IndexRun> {
    let first = runs.firstIndex { $0.kind.rawValue >= kind.rawValue } ?? runs.endIndex
    let end = runs[first...].firstIndex { $0.kind != kind } ?? runs.endIndex
    return runs[first..<end]
  }

  mutating func add(_ run: IndexRun) {
    let place =
      runs.firstIndex { ($0.kind.rawValue, $0.from) > (run.kind.rawValue, run.from) } ?? runs.endIndex
    runs.insert(run, at: place)
  }
}

/// A run whose rows are still to be removed.
struct IndexGarbage: Sendable, Hashable {
  let number: UInt64
  let kind: IndexKind
}

/// A merge under way. All that is known of it is here, so that any process can go on with it.
struct IndexMerge: Sendable, Hashable {
  /// The run that comes of it; its `pages` and `records` are final only at the end.
  var output: IndexRun
  /// The numbers of the runs that it replaces, oldest entries first.
  var inputs: [UInt64]
  /// Who works on it.
  var owner: IndexMergeOwner
  /// When they last did, in seconds since 1970.
  var time: UInt64
  var progress = IndexRunProgress()
}

/// Who works on a merge: a random number.
struct IndexMergeOwner: Sendable, Hashable {
  let high: UInt64
  let low: UInt64
}
