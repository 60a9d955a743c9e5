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

  /// How many records of a kind the runs have.
  func recordCount(_ kind: IndexKind) -> UInt64 { runs(of: kind).reduce(0) { $0 + $1.records } }

  mutating func add(_ run: IndexRun) {
    let place =
      runs.firstIndex { ($0.kind.rawValue, $0.from) > (run.kind.rawValue, run.from) } ?? runs.endIndex
    runs.insert(run, at: place)
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
  /// Who works on it.
  var owner: IndexMergeOwner
  /// When they last did, in seconds since 1970.
  var time: UInt64
  var progress: IndexRunProgress

  /// The run that is made, as far as it is written.
  var output: IndexRun { progress.run }
}

/// How far the rows of a run that is being written have come.
struct IndexRunProgress: Sendable, Hashable {
  /// Its digests cover the fence rows, and the filter rows before ``filterRow``.
  var run: IndexRun
  /// The last record written; `nil` where there is none yet.
  var last: IndexRecord?
  /// The filter row that the next record may fall in; those before it are complete.
  var filterRow = 0
  /// Of that row as it was last written; ``RowDigest/none`` where it was not.
  var filterPart = RowDigest.none
}

/// Who works on a merge: a random number.
struct IndexMergeOwner: Sendable, Hashable {
  let high: UInt64
  let low: UInt64
}
