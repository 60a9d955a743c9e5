// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

/// Looks records up in the runs of the index, which never change, while others write.
///
/// Most of the time of an append is spent reading existing records.
struct RunsLookup: Sendable {
  /// The related entries of a record that the runs contain.
  ///
  /// The entries that were in memory at that time, and those entered since, are still to be searched.
  struct Answer {
    /// The version of the index.
    let version: UInt64
    let earlier: EarlierEntries
  }

  private let runs: IndexSnapshot
  private let edge: TreeFrontier
  private let context: TrailContext
  private let once: TrailConfiguration.OnceWindow
  private let storage: any TrailStorage

  /// - Parameters:
  ///   - state: The state whose runs are searched; the index records in memory are not.
  ///   - once: The period in which a record is entered only once.
  ///   - storage: The storage of the runs.
  ///   - context: The values that all states of the trail share.
  init(
    _ state: PublishedTrail, once: TrailConfiguration.OnceWindow, storage: any TrailStorage,
    _ context: TrailContext
  ) {
    runs = state.index.withoutMemory
    edge = state.frontier
    self.context = context
    self.once = once
    self.storage = storage
  }

  /// Looks up the records with these numbers in the runs.
  ///
  /// Returns `nil` if they must be looked up later instead: for example, because runs were merged and removed
  /// meanwhile, or cannot be read. In the latter case the append throws the error.
  func answers(
    _ numbers: ArraySlice<Int>, of records: [AuditRecord], _ fingerprints: [EntryFingerprints]
  ) -> [Answer]? {
    try? storage.read { state in
      let search = EarlierEntriesSearch(
        index: runs, once: once, reader: IndexRows(base: state),
        entries: StoredEntries(StoredTiles(reader: state, edge: edge, cache: context.nodes)))
      try search.prefetch(numbers.lazy.map { fingerprints[$0] })
      return try numbers.map { number in
        Answer(
          version: runs.version, earlier: try search.find(fingerprints[number], records[number].facts))
      }
    }
  }
}
