// SPDX-License-Identifier: Apache-2.0

/// A sorted run of index records of one kind, as the catalogue describes it.
///
/// Its pages are at `number << 24 | page`. At `number << 24 | row` of ``IndexTable/runs`` is its filter (1,024 blocks a
/// row), and from row 0x800000 are its fences. Pages and fences of a personal kind are in ``IndexTable/personal``, those
/// of the others in ``IndexTable/pages`` and ``IndexTable/runs``.
struct IndexRun: Sendable, Hashable {
  /// Never used again.
  let number: UInt64
  /// The kind of its records.
  let kind: IndexKind
  /// The number of times that its records were merged.
  let level: UInt8
  /// The first entry that it covers.
  let from: UInt64
  /// The entry after the last that it covers.
  let to: UInt64
  /// The number of blocks of 64 bytes its filter has; 0 without one.
  let filterBlocks: Int
  /// The number of records it has.
  var records: UInt64 = 0
  /// The number of pages it has.
  var pages = 0
  /// The number of rows its fences take.
  var fenceRows = 0
  /// Of the fence rows.
  var fenceDigest = RowDigest.none
  /// Of the filter rows.
  var filterDigest = RowDigest.none

  static let partBits: Int64 = 24
  /// The greatest number of pages, or of rows of one sort.
  static let partLimit = 1 << 23
  /// The greatest size of the log.
  static let sizeLimit: UInt64 = 1 << 48
  /// Numbers below it leave room for the part in a key.
  static let numberLimit: UInt64 = 1 << 39
  /// The number of blocks a filter row has.
  static let blocksPerRow = 1_024

  /// The bits of a page's words that hold an index relative to `from`.
  var indexBits: UInt64 { UInt64(max(1, UInt64.bitWidth - (to - from - 1).leadingZeroBitCount)) }

  var filterRows: Int { (filterBlocks + Self.blocksPerRow - 1) / Self.blocksPerRow }

  func page(_ page: Int) -> IndexPlace { IndexPlace(kind.pageTable, number, page) }
  func fenceRow(_ row: Int) -> IndexPlace { IndexPlace(kind.fenceTable, number, Self.partLimit + row) }
  func filterRow(_ row: Int) -> IndexPlace { IndexPlace(.runs, number, row) }

  /// The keys of its rows, table by table.
  var rows: [(table: IndexTable, keys: ClosedRange<Int64>)] {
    [(pages, page), (fenceRows, fenceRow), (filterRows, filterRow)].compactMap { count, place in
      count > 0 ? (place(0).table, place(0).key...place(count - 1).key) : nil
    }
  }

  /// The number of the run that a key, in any table, is of.
  static func number(_ key: Int64) -> UInt64 { UInt64(key) >> UInt64(partBits) }

  /// All keys of a run, in any table.
  static func keys(_ number: UInt64) -> ClosedRange<Int64> {
    IndexPlace(.runs, number, 0).key...IndexPlace(.runs, number, 1 << partBits - 1).key
  }
}

extension IndexKind {
  var pageTable: IndexTable { isPersonal ? .personal : .pages }
  var fenceTable: IndexTable { isPersonal ? .personal : .runs }
}

/// The place of a row of the index.
struct IndexPlace: Sendable, Hashable {
  let table: IndexTable
  let key: Int64

  init(_ table: IndexTable, _ run: UInt64, _ part: Int) {
    self.table = table
    key = Int64(run) << IndexRun.partBits | Int64(part)
  }

  static let catalogue = IndexPlace(.runs, 0, 0)

  func corrupt(_ message: String) -> IndexError { IndexError(.corrupt, at: name, message) }

  /// The row.
  ///
  /// - Throws: ``IndexError/Code/corrupt`` if it is missing; what the storage throws.
  func row(in reader: any IndexReader) throws -> [UInt8] {
    guard let row = try reader.value(table, key) else { throw corrupt("The row is missing.") }
    return row
  }

  private var name: String {
    let (run, part) = (key >> IndexRun.partBits, Int(key & (1 << IndexRun.partBits - 1)))
    return if key == 0 {
      "index catalogue"
    } else if part >= IndexRun.partLimit {
      "index run \(run), fence row \(part - IndexRun.partLimit)"
    } else {
      "index run \(run), \(table == .runs ? "filter row" : "page") \(part)"
    }
  }
}
