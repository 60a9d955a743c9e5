// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

extension IndexRun {
  static let partBits: Int64 = 24
  static let partLimit = 1 << 23
  static let sizeLimit: UInt64 = 1 << 48
  /// Run numbers below this limit leave room for the part in a key.
  static let numberLimit: UInt64 = 1 << 39
  static let blocksPerRow = 1_024

  /// The number of bits in a record's word that hold the index relative to `from`.
  var indexBits: UInt64 { UInt64(max(1, UInt64.bitWidth - (to - from - 1).leadingZeroBitCount)) }

  var filterRows: Int { (filterBlocks + Self.blocksPerRow - 1) / Self.blocksPerRow }

  func page(_ page: Int) -> IndexPlace { IndexPlace(kind.pageTable, number, page) }
  func fenceRow(_ row: Int) -> IndexPlace { IndexPlace(kind.fenceTable, number, Self.partLimit + row) }
  func filterRow(_ row: Int) -> IndexPlace { IndexPlace(.runs, number, row) }

  var rows: [(table: IndexTable, keys: ClosedRange<Int64>)] {
    [(pages, page), (fenceRows, fenceRow), (filterRows, filterRow)].compactMap { count, place in
      count > 0 ? (place(0).table, place(0).key...place(count - 1).key) : nil
    }
  }

  /// The number of the run to which a key in any table belongs.
  static func number(_ key: Int64) -> UInt64 { UInt64(key) >> UInt64(partBits) }

  static func keys(_ number: UInt64) -> ClosedRange<Int64> {
    IndexPlace(.runs, number, 0).key...IndexPlace(.runs, number, 1 << partBits - 1).key
  }
}

extension IndexKind {
  var pageTable: IndexTable { isPersonal ? .personal : .pages }
  var fenceTable: IndexTable { isPersonal ? .personal : .runs }
}

struct IndexPlace: Sendable, Hashable {
  let table: IndexTable
  let key: Int64

  init(_ table: IndexTable, _ run: UInt64, _ part: Int) {
    self.table = table
    key = Int64(run) << IndexRun.partBits | Int64(part)
  }

  static let catalogue = IndexPlace(.runs, 0, 0)

  func corrupt(_ message: String) -> IndexError { IndexError(.corrupt, at: name, message) }

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

/// The root that the trail authenticates: the digest of the catalogue's row, or ``SHA256Digest/zero`` without a
/// catalogue. The catalogue contains the digests of the fence rows and of the filter rows of each run. A fence contains
/// the digest of its page's header, and the header those of the page's blocks. Every byte that is read is therefore
/// verified against the root.
package typealias IndexRoot = SHA256Digest

extension SHA256Digest {
  /// The digest of rows that do not exist; no input with this digest is known.
  package static let zero = SHA256Digest(words: (0, 0, 0, 0))

  /// Reads the digest at `offset` of `row`, which must have enough bytes.
  init(in row: Span<UInt8>, at offset: Int) {
    self.init(
      words: (
        row.bigEndian(at: offset), row.bigEndian(at: offset + 8), row.bigEndian(at: offset + 16),
        row.bigEndian(at: offset + 24)
      ))
  }

  /// The bytes, as big-endian numbers.
  var numbers: [UInt64] { [words.0, words.1, words.2, words.3] }

  /// Adds the next row of a sequence: SHA-256 of the current digest and the row.
  mutating func chain(_ row: [UInt8]) {
    self = SHA256Digest(inMemory: withBytes { PrefixedSHA256.hash(prefix: $0, row.span) })
  }
}
