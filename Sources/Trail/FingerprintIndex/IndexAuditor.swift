// SPDX-License-Identifier: Apache-2.0

/// Verifies that the index is the one that its writers made.
///
/// It returns the records in order, so that callers can compare them with the entries.
package struct IndexAuditor {
  private let reader: any IndexReader
  private let catalogue: IndexCatalogue
  private let hasCatalogue: Bool

  /// Reads and verifies the catalogue.
  ///
  /// - Parameters:
  ///   - root: The authentic root of the state that `reader` reads.
  ///   - reader: The reader of the rows.
  /// - Throws: ``IndexError``, with ``IndexError/Code/corrupt`` if the catalogue does not match the root; any error
  ///   from the storage.
  package init(root: IndexRoot, in reader: any IndexReader) throws {
    self.reader = reader
    catalogue = try IndexCatalogue(root, in: reader)
    hasCatalogue = root != .zero
  }

  /// The number of entries whose records are in runs.
  package var indexedSize: UInt64 { catalogue.indexedSize }

  /// The result of the audit of a kind.
  package struct Report: Sendable, Hashable {
    /// The sum of all records that could be read.
    package var sum = MultisetHash()
    /// The number of records that could be read.
    package var records: UInt64 = 0
    /// The first ``IndexAuditor/damageLimit`` errors.
    package var damage: [IndexError] = []

    fileprivate mutating func add(_ error: IndexError) {
      if damage.count < IndexAuditor.damageLimit { damage.append(error) }
    }
  }

  /// The maximum number of errors in a report.
  package static let damageLimit = 1_000

  /// Reads all runs of a kind, merged, and verifies every byte.
  ///
  /// It also checks that all records are in order and within the bounds of their run, and that the filter contains
  /// them. A damaged page is skipped. The rows that unfinished merges have written so far are verified too.
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - points: The points at which the sum is evaluated.
  ///   - record: Receives each record, ordered by fingerprint and then by index.
  /// - Returns: The result.
  /// - Throws: Any error from the storage or from `record`; ``IndexError/Code/outOfRoom``.
  package func audit(
    _ kind: IndexKind, at points: MultisetHash.Points, record: (IndexRecord) throws -> Void = { _ in }
  ) throws -> Report {
    var report = Report()
    var damage = Report()
    let written = catalogue.merges.map(\.output).filter { $0.kind == kind }
    try read(written, damage: &damage) { _ in }
    try read(Array(catalogue.runs(of: kind)), damage: &damage) { next in
      report.records += 1
      report.sum.add(next, of: kind, at: points)
      try record(next)
    }
    let expected = catalogue.recordCount(kind)
    if damage.damage.isEmpty, report.records != expected {
      damage.add(
        IndexError(.corrupt, "The runs of kind \(kind) have \(report.records) records, not \(expected)."))
    }
    report.damage = damage.damage
    return report
  }

  private func read(
    _ runs: [IndexRun], damage: inout Report, _ record: (IndexRecord) throws -> Void
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
        found.add(error)
      }
    }
    var merge = try RunMerge(cursors, in: reader) { found.add($0) }
    while let next = try merge.next(in: reader) { try record(next) }
  }

  /// Returns an error for each unused key range that has rows, except rows of a rebuild (``hasUnfinishedRebuild()``).
  ///
  /// - Throws: Any error from the storage.
  package func strayRows() throws -> [IndexError] {
    let rebuilt = IndexRebuild.keys(beside: catalogue)
    return try catalogue.unusedKeys(isStored: hasCatalogue).compactMap { table, keys in
      let keys = keys.clamped(to: Int64.min...rebuilt.lowerBound - 1)
      guard let key = try reader.lastKey(table, in: keys) else { return nil }
      return IndexError(.corrupt, at: "index \(table) \(key)", "The row belongs to no run.")
    }
  }

  /// Indicates whether there are rows of a rebuild that is running or was interrupted. Nothing else reads them.
  ///
  /// - Throws: Any error from the storage.
  package func hasUnfinishedRebuild() throws -> Bool {
    let rebuilt = IndexRebuild.keys(beside: catalogue)
    return try IndexTable.allCases.contains { try reader.lastKey($0, in: rebuilt) != nil }
  }
}
