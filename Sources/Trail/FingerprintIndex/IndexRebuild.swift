// SPDX-License-Identifier: Apache-2.0

/// An index that is rebuilt beside the one that is in use, whose rows it neither reads nor changes, and then takes its
/// place in one transaction. The index in use may be damaged.
///
/// Nothing of it is in the stored catalogue before ``replace(_:in:)``: where that is never called, its rows stay, under
/// numbers of runs that the catalogue never gives out, until the next rebuild removes them
/// (``removeUnusedRows(of:in:)``), or by removing records that they may have (``removeUnfinished(beside:in:)``).
package struct IndexRebuild {
  /// Numbers that are left to the index in use for runs that it makes meanwhile.
  private static let numbersInBetween: UInt64 = 1 << 20

  private var catalogue = IndexCatalogue()
  /// The next run of the index in use at the start; `nil` if its catalogue cannot be read.
  private let nextRun: UInt64?

  /// Begins without records.
  ///
  /// - Parameters:
  ///   - root: The authentic root of the index in use.
  ///   - reader: The rows.
  /// - Throws: What the storage throws.
  package init(beside root: IndexRoot, in reader: any IndexReader) throws {
    nextRun = try Self.catalogue(root, in: reader)?.nextRun
    let numbers = try IndexTable.allCases.map { table in
      try reader.lastKey(table, in: 0...Int64.max).map(IndexRun.number) ?? 0
    }
    catalogue.nextRun = max(numbers.max() ?? 0, nextRun ?? 0) + Self.numbersInBetween
    // Versions are not used twice, and there never were more of them than runs.
    catalogue.version = catalogue.nextRun
  }

  private static func catalogue(_ root: IndexRoot, in reader: any IndexReader) throws -> IndexCatalogue? {
    do { return try IndexCatalogue(root, in: reader) } catch let error as IndexError
      where error.code == .corrupt
    {
      return nil
    }
  }

  /// The keys that only rows of a rebuild have that has not taken its place, under way or cut off.
  static func keys(beside catalogue: IndexCatalogue) -> ClosedRange<Int64> {
    let first = min(catalogue.nextRun + numbersInBetween / 2, IndexRun.numberLimit - 1)
    return IndexRun.keys(first).lowerBound...Int64.max
  }

  /// The entries below it are in.
  package var indexedSize: UInt64 { catalogue.indexedSize }

  /// Writes the records of the next entries as runs.
  ///
  /// - Parameters:
  ///   - size: The entries below it are then in.
  ///   - writer: The transaction, which need not be synced.
  ///   - fill: Inserts the records of the entries from ``indexedSize`` on.
  /// - Throws: ``IndexError``; what the storage throws. The rebuild is then of no more use.
  package mutating func addEntries(
    upTo size: UInt64, in writer: any IndexWriter, _ fill: @Sendable (inout MemtableRecords) -> Void
  ) throws {
    let memtable = Memtable(base: indexedSize)
    memtable.withRecords(fill)
    try catalogue.addRuns(of: memtable, upTo: size, in: writer)
  }

  /// Indicates whether all of its rows are there still: ``removeUnfinished(beside:in:)`` takes them, the last of a run
  /// first.
  ///
  /// - Throws: What the storage throws.
  package func isWhole(in reader: any IndexReader) throws -> Bool {
    try catalogue.runs.flatMap(\.rows).allSatisfy { table, keys in
      try reader.lastKey(table, in: keys) == keys.upperBound
    }
  }

  /// Takes the place of the index in use, whose rows are then left to ``IndexMerger`` to remove.
  ///
  /// - Parameters:
  ///   - root: The authentic root of the index in use now.
  ///   - writer: The transaction, in which this ``isWhole(in:)``.
  /// - Returns: The new root, which the caller stores in the same transaction; `nil` if another rebuild was faster.
  /// - Throws: ``IndexError``; what the storage throws.
  package func replace(_ root: IndexRoot, in writer: any IndexWriter) throws -> IndexRoot? {
    let old = try Self.catalogue(root, in: writer)
    guard nextRun.map({ old?.nextRun ?? 0 < $0 + Self.numbersInBetween }) ?? (old == nil) else { return nil }
    guard indexedSize > 0 else { return IndexRoot.none }
    var catalogue = catalogue
    catalogue.garbage = old?.withoutUse ?? []
    return try catalogue.write(in: writer)
  }

  /// Removes some rows that belong to nothing in the catalogue.
  ///
  /// - Parameters:
  ///   - root: The authentic root.
  ///   - writer: The transaction, which need not be synced.
  /// - Returns: Whether there may be more.
  /// - Throws: ``IndexError``; what the storage throws.
  package static func removeUnusedRows(of root: IndexRoot, in writer: any IndexWriter) throws -> Bool {
    let catalogue = try IndexCatalogue(root, in: writer)
    return try removeSome(of: catalogue.unusedKeys(isStored: root != .none), in: writer)
  }

  /// Removes some rows of rebuilds that are under way, which must then start again, or were cut off.
  ///
  /// - Parameters:
  ///   - root: The authentic root.
  ///   - writer: The transaction, which need not be synced.
  /// - Returns: Whether there may be more.
  /// - Throws: ``IndexError``; what the storage throws.
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
