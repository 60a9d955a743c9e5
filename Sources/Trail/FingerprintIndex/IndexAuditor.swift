// SPDX-License-Identifier: Apache-2.0

/// Verifies that the index is the one that its writers made. It returns the records in order, so that callers can
/// compare them with the entries.
package struct IndexAuditor {
  private let reader: any IndexReader
  private let catalogue: IndexCatalogue
  private let hasCatalogue: Bool

  package init(root: IndexRoot, in reader: any IndexReader) throws {
    self.reader = reader
    catalogue = try IndexCatalogue(root, in: reader)
    hasCatalogue = root != .zero
  }

  package var indexedSize: UInt64 { catalogue.indexedSize }

  package static let damageLimit = 1_000

  /// Reads all runs of a kind, merged, and verifies every byte. It also checks that all records are in order and within
  /// the bounds of their run, and that the filter contains them. A damaged page is skipped. The rows that unfinished
  /// merges have written so far are verified too. `record` receives each record, ordered by fingerprint and then by
  /// index.
  package func audit(
    _ kind: IndexKind, at points: MultisetHash.Points, record: (IndexRecord) throws -> Void = { _ in }
  ) throws -> Report {
    var damage: [IndexError] = []
    let written = catalogue.merges.map(\.output).filter { $0.kind == kind }
    try read(written, &damage) { _ in }
    var (sum, count) = (MultisetHash(), 0 as UInt64)
    try read(Array(catalogue.runs(of: kind)), &damage) { next in
      count += 1
      sum.add(next, of: kind, at: points)
      try record(next)
    }
    let expected = catalogue.recordCount(kind)
    if damage.isEmpty, count != expected {
      damage = [IndexError(.corrupt, "The runs of kind \(kind) have \(count) records, not \(expected).")]
    }
    return Report(sum: sum, records: count, damage: Array(damage.prefix(Self.damageLimit)))
  }

  private func read(
    _ runs: [IndexRun], _ damage: inout [IndexError], _ record: (IndexRecord) throws -> Void
  ) throws {
    var found = damage
    defer { damage = found }
    var cursors: [RunCursor] = []
    for run in runs {
      do {
        // The filter of an unfinished run has no digest yet.
        let isComplete = catalogue.runs.contains(run)
        cursors.append(RunCursor(try ResidentRun(run, in: reader, withFilter: isComplete)))
      } catch let error as IndexError where error.code == .corrupt {
        found.append(error)
      }
    }
    var merge = try RunMerge(cursors, in: reader) { if found.count < Self.damageLimit { found.append($0) } }
    while let next = try merge.next(in: reader) { try record(next) }
  }

  /// Returns an error for each unused key range that has rows, except rows of a rebuild (``hasUnfinishedRebuild()``).
  package func strayRows() throws -> [IndexError] {
    let rebuilt = IndexRebuild.keys(beside: catalogue)
    return try catalogue.unusedKeys(isStored: hasCatalogue).compactMap { table, keys in
      let keys = keys.clamped(to: Int64.min...rebuilt.lowerBound - 1)
      guard let key = try reader.lastKey(table, in: keys) else { return nil }
      return IndexError(.corrupt, at: "index \(table) \(key)", "The row belongs to no run.")
    }
  }

  /// Indicates whether there are rows of a rebuild that is running or was interrupted. Nothing else reads them.
  package func hasUnfinishedRebuild() throws -> Bool {
    let rebuilt = IndexRebuild.keys(beside: catalogue)
    return try IndexTable.allCases.contains { try reader.lastKey($0, in: rebuilt) != nil }
  }
}
