// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// A sorted run of index records of one kind, as the catalogue describes it.
///
/// Its pages have the keys `number << 24 | page`. In ``IndexTable/runs``, its filter has the keys `number << 24 |
/// row`, with 1,024 blocks a row; its fences start at row 0x800000. The pages and fences of a personal kind are in
/// ``IndexTable/personal``, those of other kinds in ``IndexTable/pages`` and ``IndexTable/runs``.
struct IndexRun: Sendable, Hashable {
  /// The run's number, which is never reused.
  let number: UInt64
  /// The kind of its records.
  let kind: IndexKind
  /// The number of merges that its records have been through.
  let level: UInt8
  /// The first entry that it covers.
  let from: UInt64
  /// The entry after the last that it covers.
  let to: UInt64
  /// The number of 64-byte blocks in its filter; 0 without a filter.
  let filterBlocks: Int
  /// The number of records.
  var records: UInt64 = 0
  /// The number of pages.
  var pages = 0
  /// The number of fence rows.
  var fenceRows = 0
  /// The digest of the fence rows.
  var fenceDigest = SHA256Digest.zero
  /// The digest of the filter rows.
  var filterDigest = SHA256Digest.zero

  static let partBits: Int64 = 24
  /// The maximum number of pages, or of rows of one type.
  static let partLimit = 1 << 23
  /// The maximum size of the log.
  static let sizeLimit: UInt64 = 1 << 48
  /// Run numbers below this limit leave room for the part in a key.
  static let numberLimit: UInt64 = 1 << 39
  /// The number of blocks in a filter row.
  static let blocksPerRow = 1_024

  /// The number of bits in a record's word that hold the index relative to `from`.
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

  /// The number of the run to which a key in any table belongs.
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

/// The table and key of a row of the index.
struct IndexPlace: Sendable, Hashable {
  let table: IndexTable
  let key: Int64

  init(_ table: IndexTable, _ run: UInt64, _ part: Int) {
    self.table = table
    key = Int64(run) << IndexRun.partBits | Int64(part)
  }

  static let catalogue = IndexPlace(.runs, 0, 0)

  func corrupt(_ message: String) -> IndexError { IndexError(.corrupt, at: name, message) }

  /// Reads the row.
  ///
  /// - Throws: ``IndexError/Code/corrupt`` if the row is missing; any error from the storage.
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
