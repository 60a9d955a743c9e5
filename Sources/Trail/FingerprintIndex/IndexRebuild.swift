// SPDX-License-Identifier: Apache-2.0

/// A rebuild of the index that replaces the index in use in one transaction.
///
/// It neither reads nor changes the rows of the index in use, which may be damaged.
///
/// The stored catalogue does not refer to the rebuild before ``replace(_:in:)``. If that is never called, its rows
/// remain under run numbers that the catalogue never assigns. The next rebuild removes them
/// (``removeUnusedRows(of:in:)``), and so does a removal of records that they may contain
/// (``removeUnfinished(beside:in:)``).
package struct IndexRebuild {
  /// The run numbers that are reserved for runs that the index in use makes in the meantime.
  private static let numbersInBetween: UInt64 = 1 << 20

  private var catalogue = IndexCatalogue()
  /// The number of the next run of the index in use at the start; `nil` if its catalogue cannot be read.
  private let nextRun: UInt64?

  package init(beside root: IndexRoot, in reader: any IndexReader) throws {
    nextRun = try Self.catalogue(root, in: reader)?.nextRun
    let numbers = try IndexTable.allCases.map { table in
      try reader.lastKey(table, in: 0...Int64.max).map(IndexRun.number) ?? 0
    }
    catalogue.nextRun = max(numbers.max() ?? 0, nextRun ?? 0) + Self.numbersInBetween
    // Versions must not be reused, and there were never more of them than run numbers.
    catalogue.version = catalogue.nextRun
  }

  private static func catalogue(_ root: IndexRoot, in reader: any IndexReader) throws -> IndexCatalogue? {
    do { return try IndexCatalogue(root, in: reader) } catch let error as IndexError
      where error.code == .corrupt
    {
      return nil
    }
  }

  /// The keys that only rows of unfinished rebuilds have, whether running or interrupted.
  static func keys(beside catalogue: IndexCatalogue) -> ClosedRange<Int64> {
    let first = min(catalogue.nextRun + numbersInBetween / 2, IndexRun.numberLimit - 1)
    return IndexRun.keys(first).lowerBound...Int64.max
  }

  package var indexedSize: UInt64 { catalogue.indexedSize }

  /// Writes the records of the next entries as runs. The rows have the records of all entries below `size` afterwards;
  /// `fill` inserts those from ``indexedSize`` on. The transaction need not be synced. The rebuild cannot be used after
  /// an error.
  package mutating func addEntries(
    upTo size: UInt64, in writer: any IndexWriter, _ fill: @Sendable (inout MemtableRecords) -> Void
  ) throws {
    let memtable = Memtable(base: indexedSize)
    memtable.withRecords(fill)
    try catalogue.addRuns(of: memtable, upTo: size, in: writer)
  }

  /// Indicates whether all rows of the rebuild still exist. ``removeUnfinished(beside:in:)`` removes them, the last of
  /// a run first.
  package func isWhole(in reader: any IndexReader) throws -> Bool {
    try catalogue.runs.flatMap(\.rows).allSatisfy { table, keys in
      try reader.lastKey(table, in: keys) == keys.upperBound
    }
  }

  /// Replaces the index in use. ``IndexMerger`` removes its rows afterwards. In this transaction, ``isWhole(in:)`` must
  /// have returned `true`. Returns the new root, which the caller must store in the same transaction; `nil` if another
  /// rebuild was faster.
  package func replace(_ root: IndexRoot, in writer: any IndexWriter) throws -> IndexRoot? {
    let old = try Self.catalogue(root, in: writer)
    guard nextRun.map({ old?.nextRun ?? 0 < $0 + Self.numbersInBetween }) ?? (old == nil) else { return nil }
    guard indexedSize > 0 else { return IndexRoot.zero }
    var catalogue = catalogue
    catalogue.garbage = old?.withoutUse ?? []
    return try catalogue.write(in: writer)
  }

  /// Removes some of the rows that nothing in the catalogue refers to. The transaction need not be synced. Returns
  /// `true` if there may be more.
  package static func removeUnusedRows(of root: IndexRoot, in writer: any IndexWriter) throws -> Bool {
    let catalogue = try IndexCatalogue(root, in: writer)
    return try removeSome(of: catalogue.unusedKeys(isStored: root != .zero), in: writer)
  }

  /// Removes some of the rows of unfinished rebuilds. A rebuild that is still running must then start again. The
  /// transaction need not be synced. Returns `true` if there may be more.
  package static func removeUnfinished(beside root: IndexRoot, in writer: any IndexWriter) throws -> Bool {
    let keys = keys(beside: try IndexCatalogue(root, in: writer))
    return try removeSome(of: IndexTable.allCases.map { ($0, keys) }, in: writer)
  }

  private static func removeSome(
    of unused: [(table: IndexTable, keys: ClosedRange<Int64>)], in writer: any IndexWriter
  ) throws -> Bool {
    for (table, keys) in unused {
      guard let last = try writer.lastKey(table, in: keys) else { continue }
      let (first, isBeforeAll) = last.subtractingReportingOverflow(Int64(IndexMerger.pagesPerStep))
      try writer.remove(table, in: max(keys.lowerBound, isBeforeAll ? .min : first)...last)
      return true
    }
    return false
  }
}
