// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

/// Looks records up in the runs of the index, which never change, while others write: most of the time of an append is
/// reading what is already there.
struct RunsLookup: Sendable {
  /// What the runs know of a record: the entries that were in memory then, and those that have been entered since, are
  /// still to be asked.
  struct Answer {
    /// Of the index.
    let version: UInt64
    let earlier: EarlierEntries
  }

  private let runs: IndexSnapshot
  private let edge: TreeFrontier
  private let context: TrailContext
  private let once: TrailConfiguration.OnceWindow
  private let storage: any TrailStorage

  /// - Parameters:
  ///   - state: Whose runs are asked; what its index has in memory is not.
  ///   - once: For how long a record is entered only once.
  ///   - storage: Where the runs are.
  ///   - context: What all states of the trail have in common.
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

  /// What the runs know of the records with these numbers; `nil` if they are to be looked up later instead, as where
  /// runs were merged and removed in between, or cannot be read: then the append says so.
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
