// SPDX-License-Identifier: Apache-2.0

/// Checks that the index is what its writers made, and hands out its records in order, for whoever compares them
/// with the entries.
package struct IndexAuditor {
  private let reader: any StorageReader
  private let catalogue: IndexCatalogue

  /// Reads the catalogue.
  ///
  /// - Throws: ``StorageError``, with ``StorageError/Code/corrupt`` where it is damaged.
  package init(reading reader: any StorageReader) throws {
    self.reader = reader
    catalogue = try IndexCatalogue.read(in: reader)
  }

  /// The entries below it have their records in runs.
  package var indexedSize: UInt64 { catalogue.indexedSize }

  /// How many records of a kind the catalogue promises.
  package func recordCount(_ kind: IndexKind) -> UInt64 {
    catalogue.runs(of: kind).reduce(0) { $0 &+ $1.records }
  }

  /// What an audit of a kind found.
  package struct Report: Sendable, Hashable {
    /// The sum of all records that could be read.
    package var sum = IndexSum()
    /// How many there were.
    package var records: UInt64 = 0
    /// The first ``IndexAuditor/damageLimit`` faults.
    package var damage: [IndexDamage] = []
  }

  /// How many faults a report lists.
  package static let damageLimit = 1_000

  /// Reads all runs of a kind, merged, checking every page: its checksum, that all records are in order, within
  /// the bounds of their run and page, and that the filter admits them. A damaged page is passed over.
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - points: Where the sum is evaluated.
  ///   - record: Takes each record, by fingerprint, then by index.
  /// - Returns: What was found.
  /// - Throws: ``StorageError`` where the storage fails, and whatever `record` throws.
  package func audit(
    _ kind: IndexKind, at points: IndexSum.Points, record: (IndexRecord) throws -> Void = { _ in }
  ) throws -> Report {
    var report = Report()
    var found: [IndexDamage] = []
    func add(_ damage: IndexDamage) {
      if found.count < Self.damageLimit { found.append(damage) }
    }
    var cursors: [RunCursor] = []
    for run in catalogue.runs(of: kind) {
      do {
        cursors.append(RunCursor(try ResidentRun(run, in: reader)))
      } catch let error as StorageError where error.code == .corrupt {
        add(IndexDamage(run: run.number, page: nil, record: nil, description: error.description))
      }
    }
    var merge = try RunMerge(cursors, in: reader) { add($0) }
    while let next = try merge.next(in: reader) {
      report.records += 1
      report.sum.add(next, of: kind, at: points)
      try record(next)
    }
    if found.isEmpty, report.records != recordCount(kind) {
      add(
        IndexDamage(
          run: 0, page: nil, record: nil,
          description: "The runs of kind \(kind) have \(report.records) records, not \(recordCount(kind))."))
    }
    report.damage = found
    return report
  }

  /// Rows that belong to no run and no page of one.
  ///
  /// - Throws: ``StorageError``.
  package func strayRows() throws -> [IndexDamage] {
    var expected: [(table: StorageTable, keys: ClosedRange<Int64>)] = [(.runs, 0...0)]
    for number in catalogue.garbage.map(\.number) + catalogue.merges.map(\.output.number) {
      expected += [(.pages, IndexRun.keys(number)), (.runs, IndexRun.keys(number))]
    }
    for run in catalogue.runs {
      let fences = (run.pages + indexRowParts - 1) / indexRowParts
      let blocks = (run.filterBlocks + indexRowParts - 1) / indexRowParts
      if run.pages > 0 { expected.append((.pages, run.page(0).key...run.page(run.pages - 1).key)) }
      if fences > 0 { expected.append((.runs, run.fenceRow(0).key...run.fenceRow(fences - 1).key)) }
      if blocks > 0 { expected.append((.runs, run.filterRow(0).key...run.filterRow(blocks - 1).key)) }
    }
    var stray: [IndexDamage] = []
    for table in [StorageTable.runs, .pages] {
      var next: Int64? = .min
      let ranges = expected.filter { $0.table == table }.map(\.keys).sorted { $0.lowerBound < $1.lowerBound }
      for keys in ranges {
        if let start = next, start < keys.lowerBound {
          stray += try strayRow(table, in: start...keys.lowerBound - 1)
        }
        next = keys.upperBound == .max ? nil : keys.upperBound + 1
      }
      if let start = next { stray += try strayRow(table, in: start...Int64.max) }
    }
    return stray
  }

  private func strayRow(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> [IndexDamage] {
    guard let key = try reader.lastKey(table, in: keys) else { return [] }
    return [
      IndexDamage(
        run: UInt64(max(0, key >> IndexRun.partBits)), page: nil, record: nil,
        description: "The row \(key) of the table \(table) belongs to no run.")
    ]
  }
}
