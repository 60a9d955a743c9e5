// SPDX-License-Identifier: Apache-2.0

/// Checks that the index is what its writers made, and hands out its records in order, for callers that compare them
/// with the entries.
package struct IndexAuditor {
  private let reader: any IndexReader
  private let catalogue: IndexCatalogue
  private let hasCatalogue: Bool

  /// Reads and verifies the catalogue.
  ///
  /// - Parameters:
  ///   - root: The authentic root of the state that `reader` reads.
  ///   - reader: The rows.
  /// - Throws: ``IndexError``, with ``IndexError/Code/corrupt`` where the catalogue is not the one of the root; what the
  ///   storage throws.
  package init(root: IndexRoot, in reader: any IndexReader) throws {
    self.reader = reader
    catalogue = try IndexCatalogue(root, in: reader)
    hasCatalogue = root != .none
  }

  /// The entries below it have their records in runs.
  package var indexedSize: UInt64 { catalogue.indexedSize }

  /// The result of an audit of a kind.
  package struct Report: Sendable, Hashable {
    /// The sum of all records that could be read.
    package var sum = MultisetHash()
    /// Their number.
    package var records: UInt64 = 0
    /// The first ``IndexAuditor/damageLimit`` faults.
    package var damage: [IndexError] = []

    fileprivate mutating func add(_ error: IndexError) {
      if damage.count < IndexAuditor.damageLimit { damage.append(error) }
    }
  }

  /// The number of faults a report lists.
  package static let damageLimit = 1_000

  /// Reads all runs of a kind, merged, and verifies every byte; and checks that all records are in order, within the
  /// bounds of their run, and that the filter admits them. A damaged page is passed over. What merges have written so
  /// far is verified too.
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - points: Where the sum is evaluated.
  ///   - record: Takes each record, by fingerprint, then by index.
  /// - Returns: What was found.
  /// - Throws: What the storage and `record` throw; ``IndexError/Code/outOfRoom``.
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
        // The filter of a run that is being written has no digest yet.
        let isComplete = catalogue.runs.contains(run)
        cursors.append(RunCursor(try ResidentRun(run, in: reader, withFilter: isComplete)))
      } catch let error as IndexError where error.code == .corrupt {
        found.add(error)
      }
    }
    var merge = try RunMerge(cursors, in: reader) { found.add($0) }
    while let next = try merge.next(in: reader) { try record(next) }
  }

  /// Rows that belong to no run and no page of one, but for those of a rebuild (``hasUnfinishedRebuild()``).
  ///
  /// - Throws: What the storage throws.
  package func strayRows() throws -> [IndexError] {
    let rebuilt = IndexRebuild.keys(beside: catalogue)
    return try catalogue.unusedKeys(isStored: hasCatalogue).compactMap { table, keys in
      let keys = keys.clamped(to: Int64.min...rebuilt.lowerBound - 1)
      guard let key = try reader.lastKey(table, in: keys) else { return nil }
      return IndexError(.corrupt, at: "index \(table) \(key)", "The row belongs to no run.")
    }
  }

  /// Indicates whether there are rows of a rebuild that is under way or was cut off. Nothing reads them but it.
  ///
  /// - Throws: What the storage throws.
  package func hasUnfinishedRebuild() throws -> Bool {
    let rebuilt = IndexRebuild.keys(beside: catalogue)
    return try IndexTable.allCases.contains { try reader.lastKey($0, in: rebuilt) != nil }
  }
}
