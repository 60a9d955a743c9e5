// SPDX-License-Identifier: Apache-2.0

/// A sorted run of index records of one kind, as the catalogue describes it.
///
/// Its pages are at `number << 24 | page` of the pages' table. At `number << 24 | row` of the runs' table are its
/// fences (each page's first fingerprint, 1,024 a row), and from row 0x800000 its filter (1,024 blocks a row).
package struct IndexRun: Sendable, Hashable {
  /// Never used again.
  package var number: UInt64
  /// What its records are of.
  package var kind: IndexKind
  /// How often its records were merged.
  package var level: UInt8
  /// The first entry that it covers.
  package var from: UInt64
  /// The entry after the last that it covers.
  package var to: UInt64
  /// How many records it has.
  package var records: UInt64
  /// How many pages it has.
  package var pages: Int
  /// How many blocks of 64 bytes its filter has; 0 without one.
  package var filterBlocks: Int

  static let partBits: Int64 = 24
  static let filterRowBase: Int64 = 1 << 23
  /// The greatest number of pages, or of rows of one sort.
  static let partLimit = 1 << 23
  /// The greatest size of the log.
  static let sizeLimit: UInt64 = 1 << 48
  static let recordLimit = UInt64(partLimit) * UInt64(IndexPage.recordLimit)
  /// Numbers below it leave room for the part in a key.
  static let numberLimit: UInt64 = 1 << 39

  /// The bits of a page's words that hold an index relative to `from`.
  var indexBits: Int { max(1, UInt64.bitWidth - (to - from - 1).leadingZeroBitCount) }

  func page(_ page: Int) -> IndexPlace { IndexPlace(table: .pages, key: base | Int64(page)) }
  func fenceRow(_ row: Int) -> IndexPlace { IndexPlace(table: .runs, key: base | Int64(row)) }
  func filterRow(_ row: Int) -> IndexPlace {
    IndexPlace(table: .runs, key: base | Self.filterRowBase | Int64(row))
  }

  /// All keys of this run, in either table.
  static func keys(_ number: UInt64) -> ClosedRange<Int64> {
    let base = Int64(number) << partBits
    return base...base | (1 << partBits - 1)
  }

  private var base: Int64 { Int64(number) << Self.partBits }
}

/// Rows of fences and of filters hold this many fences or blocks.
let indexRowParts = 1_024
