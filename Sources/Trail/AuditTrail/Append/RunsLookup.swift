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
  private let storage: any TrailStorage

  /// Searches the runs of the writer's current state; the index records in memory are not searched.
  init(_ writer: TrailWriter) {
    let state = writer.states.written
    runs = state.index.withoutMemory
    edge = state.frontier
    context = writer.context
    storage = writer.storage
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
        index: runs, once: context.keys.configuration.once, reader: IndexRows(base: state),
        entries: StoredEntries(StoredTiles(reader: state, edge: edge, cache: context.nodes)))
      try search.prefetch(numbers.lazy.map { fingerprints[$0] })
      return try numbers.map { number in
        Answer(
          version: runs.version, earlier: try search.find(fingerprints[number], records[number].facts))
      }
    }
  }
}
