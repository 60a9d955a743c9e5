// SPDX-License-Identifier: Apache-2.0

/// A page of an index run: up to 504 records in ascending order, of 8 bytes each; or 336 of 12, for a kind that has
/// checks.
///
/// | Bytes | |
/// |---|---|
/// | 8 | the checksum, see ``IndexChecksum`` |
/// | 6 | the base: the first record's fingerprint |
/// | 2 | the number of records |
/// | 8 each | the record: fingerprint − base, then the entry's index − the run's `from` in the run's `indexBits` |
/// | 4 each | for a kind that has checks, behind each record: the check |
/// | rest | zeros, where records were removed |
struct IndexPage: Sendable {
  static let headerByteCount = 16
  /// Four rows of 4,048 bytes fill a page of SQLite, of 16,384, with almost no rest: a lookup reads one page.
  static let recordLimit = 504

  /// The most records of a page of this kind.
  static func recordLimit(_ kind: IndexKind) -> Int { recordLimit * 8 / recordByteCount(kind) }

  /// The bytes of a record of this kind.
  static func recordByteCount(_ kind: IndexKind) -> Int { kind.hasCheck ? 12 : 8 }

  let bytes: [UInt8]
  private let layout: IndexPageLayout

  /// The first record's fingerprint.
  var base: UInt64 { layout.base }

  /// The number of records.
  var count: Int { layout.count }

  /// - Throws: ``StorageError/Code/corrupt`` where the row is not such a page.
  init(_ bytes: [UInt8], of run: IndexRun, page: Int) throws(StorageError) {
    try IndexChecksum.check(bytes, at: run.page(page))
    layout = try IndexPageLayout(bytes.span, of: run, page: page)
    self.bytes = bytes
  }

  /// - Throws: ``StorageError``, ``StorageError/Code/corrupt`` where there is no such page.
  static func read(_ page: Int, of run: IndexRun, in reader: any StorageReader) throws -> IndexPage {
    let place = run.page(page)
    guard let bytes = try reader.value(place.table, place.key) else {
      throw place.corrupt("The page is missing.")
    }
    return try IndexPage(bytes, of: run, page: page)
  }

  /// The row of a page with these records, which must be in order from `base` on and span less than ``span(of:)``.
  static func encode(
    _ records: ArraySlice<IndexRecord>, of run: IndexRun, page: Int, base: UInt64, byteCount: Int? = nil
  ) -> [UInt8] {
    let indexBits = UInt64(run.indexBits)
    var row: [UInt8] = []
    row.reserveCapacity(byteCount ?? headerByteCount + recordByteCount(run.kind) * records.count + 4)
    row.append(bigEndian: 0)
    row.append(bigEndian: base << 16 | UInt64(records.count))
    if run.kind.hasCheck {
      for record in records {
        row.append(bigEndian: (record.fingerprint - base) << indexBits | (record.index - run.from))
        row.append(bigEndian: record.check)
      }
      if row.count % 8 != 0 { row.append(bigEndian: UInt32(0)) }
    } else {
      row.append(bigEndian: records.map { ($0.fingerprint - base) << indexBits | ($0.index - run.from) })
    }
    if let byteCount, byteCount > row.count { row += [UInt8](repeating: 0, count: byteCount - row.count) }
    IndexChecksum.seal(&row, at: run.page(page))
    return row
  }

  /// How far above the base fingerprints in a page of this run may lie.
  static func span(of run: IndexRun) -> UInt64 { 1 << UInt64(64 - run.indexBits) }

  /// The record at `slot`, which must be below `count`.
  @inline(__always)
  subscript(slot: Int) -> IndexRecord { layout.record(slot, in: bytes.span) }

  /// All records.
  var records: [IndexRecord] { (0..<count).map { self[$0] } }
}

/// How the bytes of an ``IndexPage`` are read, wherever they lie.
struct IndexPageLayout {
  /// The first record's fingerprint.
  let base: UInt64
  /// The number of records.
  let count: Int
  private let from: UInt64
  private let indexBits: UInt64
  private let indexMask: UInt64
  private let hasCheck: Bool

  /// - Parameters:
  ///   - bytes: A row whose checksum was found right.
  ///   - run: The run of the page.
  ///   - page: Which of its pages it is.
  /// - Throws: ``StorageError/Code/corrupt`` where the row is not such a page.
  init(_ bytes: Span<UInt8>, of run: IndexRun, page: Int) throws(StorageError) {
    guard bytes.count >= IndexPage.headerByteCount, bytes.count % 8 == 0,
      bytes.count <= IndexPage.headerByteCount + 8 * IndexPage.recordLimit
    else { throw run.page(page).corrupt("A page cannot have \(bytes.count) bytes.") }
    let header = bytes.bigEndianWord(at: 8)
    base = header >> 16
    count = Int(header & 0xFFFF)
    from = run.from
    indexBits = UInt64(run.indexBits)
    indexMask = 1 << indexBits - 1
    hasCheck = run.kind.hasCheck
    guard count <= (bytes.count - IndexPage.headerByteCount) / IndexPage.recordByteCount(run.kind) else {
      throw run.page(page).corrupt("A page of \(bytes.count) bytes cannot hold \(count) records.")
    }
  }

  /// The record at `slot`, which must be below `count`.
  @inline(__always)
  func record(_ slot: Int, in bytes: Span<UInt8>) -> IndexRecord {
    let offset = IndexPage.headerByteCount + (hasCheck ? 12 : 8) * slot
    let word = bytes.bigEndianWord(at: offset)
    return IndexRecord(
      fingerprint: base &+ word &>> indexBits, index: from &+ word & indexMask,
      check: hasCheck ? bytes.bigEndianHalfWord(at: offset + 8) : 0)
  }

  /// The number of records below `sought`.
  func lowerBound(_ sought: IndexRecord, in bytes: Span<UInt8>) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if record(middle, in: bytes) < sought { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
