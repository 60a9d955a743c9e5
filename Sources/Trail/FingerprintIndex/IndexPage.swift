// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// A page of an index run with its records in ascending order.
///
/// It has up to 492 records of 8 bytes each, or 328 of 12 bytes each for a kind that has checks.
///
/// | Bytes | |
/// |---|---|
/// | 6 | the base: the first record's fingerprint |
/// | 2 | the number of records |
/// | 4 x 32 | the SHA-256 of each block of 984 bytes that follows; zeros for missing blocks |
/// | 8 each | the record: fingerprint − base, then the entry's index − the run's `from` in the run's `indexBits` |
/// | 4 each | the check, after each record of a kind that has checks |
/// | rest | zeros, if records were removed |
///
/// The page's fence contains the digest of the header. A lookup verifies the header and usually one block: it hashes
/// 1,120 of 4,072 bytes.
struct IndexPage: Sendable {
  static let blockByteCount = 984
  /// Four rows of 4,072 bytes almost fill an SQLite page of 16,384 bytes, so a lookup reads one SQLite page.
  static let blockLimit = 4
  static let headerByteCount = 8 + SHA256Digest.byteCount * blockLimit

  /// The length of a record of this kind, in bytes. A block holds a whole number of records.
  static func recordByteCount(_ kind: IndexKind) -> Int { kind.hasCheck ? 12 : 8 }

  static func recordLimit(_ kind: IndexKind) -> Int { blockLimit * blockByteCount / recordByteCount(kind) }

  let count: Int
  let byteCount: Int
  private let bytes: [UInt8]
  private let base: UInt64
  private let from: UInt64
  private let indexBits: UInt64
  private let hasCheck: Bool
  private let place: IndexPlace
  /// A bit for each block that was verified.
  private var verified: UInt8 = 0

  /// Reads a page and verifies its header.
  init(_ page: Int, of run: IndexRun, _ digest: SHA256Digest, in reader: any IndexReader) throws {
    let place = run.page(page)
    let row = try place.row(in: reader)
    let contentByteCount = row.count - Self.headerByteCount
    guard contentByteCount > 0, contentByteCount <= Self.blockLimit * Self.blockByteCount,
      SHA256Digest(of: row.span.extracting(0..<Self.headerByteCount)) == digest
    else { throw place.corrupt(Self.another) }
    let header: UInt64 = row.span.bigEndian(at: 0)
    let count = Int(header & 0xFFFF)
    guard count > 0, count <= contentByteCount / Self.recordByteCount(run.kind) else {
      throw place.corrupt(Self.another)
    }
    self.place = place
    self.count = count
    bytes = row
    byteCount = row.count
    base = header >> 16
    from = run.from
    indexBits = run.indexBits
    hasCheck = run.kind.hasCheck
  }

  private static let another = "The page is not the one that was written. Restore the trail from a backup."

  /// Encodes a page with these records, and returns its row and the digest of its header. There must be at least one
  /// record and at most ``recordLimit(_:)``. The records must be in order and span less than ``span(of:)``.
  static func encode(
    _ records: ArraySlice<IndexRecord>, of run: IndexRun, byteCount: Int = 0
  ) -> (row: [UInt8], digest: SHA256Digest) {
    let base = records.first?.fingerprint ?? 0
    let indexBits = run.indexBits
    var content: [UInt8] = []
    content.reserveCapacity(blockLimit * blockByteCount)
    for record in records {
      content.append(bigEndian: (record.fingerprint &- base) << indexBits | (record.index &- run.from))
      if run.kind.hasCheck { content.append(bigEndian: record.check) }
    }
    let rest = byteCount - headerByteCount - content.count
    if rest > 0 { content += [UInt8](repeating: 0, count: rest) }
    var row: [UInt8] = []
    row.reserveCapacity(headerByteCount + content.count)
    row.append(bigEndian: base << 16 | UInt64(records.count))
    for block in 0..<blockLimit {
      let start = min(block * blockByteCount, content.count)
      let range = start..<min(start + blockByteCount, content.count)
      row += (range.isEmpty ? .zero : SHA256Digest(of: content.span.extracting(range))).bytes
    }
    let digest = SHA256Digest(of: row.span)
    return (row + content, digest)
  }

  /// The exclusive upper bound of the difference between a fingerprint in a page of this run and the base.
  static func span(of run: IndexRun) -> UInt64 { 1 << (64 - run.indexBits) }

  /// The record at `slot`, which must be below `count`. Its block is verified first.
  mutating func record(_ slot: Int) throws(IndexError) -> IndexRecord {
    try verify(block: slot * (hasCheck ? 12 : 8) / Self.blockByteCount)
    return unverified(slot)
  }

  /// All records, with every byte verified.
  mutating func records() throws(IndexError) -> [IndexRecord] {
    try verifyAll()
    return (0..<count).map { unverified($0) }
  }

  mutating func verifyAll() throws(IndexError) {
    for block in 0...(bytes.count - Self.headerByteCount - 1) / Self.blockByteCount {
      try verify(block: block)
    }
  }

  /// The number of records below `sought`.
  mutating func lowerBound(_ sought: IndexRecord) throws(IndexError) -> Int {
    var (low, high) = expectedSlots(of: sought)
    while low < high {
      let middle = (low + high) / 2
      if unverified(middle) < sought { low = middle + 1 } else { high = middle }
    }
    // The records are in order, so the neighbours of the position prove it correct, however it was found.
    if low > 0, try record(low - 1) >= sought { throw place.corrupt(Self.another) }
    if low < count, try record(low) < sought { throw place.corrupt(Self.another) }
    return low
  }

  /// The expected maximum distance of a record from the slot that is interpolated from its fingerprint. The 492
  /// fingerprints are uniformly distributed, so this is about three standard deviations at most.
  private static let expectedDeviation = 32

  /// A small range of adjacent slots that contains the lower bound, or all slots if it is not found near its expected
  /// place.
  private func expectedSlots(of sought: IndexRecord) -> (low: Int, high: Int) {
    let span = unverified(count - 1).fingerprint &- base
    guard count > 4 * Self.expectedDeviation, sought.fingerprint > base, sought.fingerprint &- base < span
    else {
      return (0, count)
    }
    let share = Double(sought.fingerprint &- base) / Double(span)
    let slot = Int(share * Double(count - 1))
    var low = max(0, slot - Self.expectedDeviation)
    var high = min(count, slot + Self.expectedDeviation)
    if low > 0, unverified(low - 1) >= sought { low = 0 }
    if high < count, unverified(high) < sought { high = count }
    return (low, high)
  }

  private mutating func verify(block: Int) throws(IndexError) {
    guard verified & 1 << UInt8(block) == 0 else { return }
    guard isAuthentic(block: block) else { throw place.corrupt(Self.another) }
    verified |= 1 << UInt8(block)
  }

  private func isAuthentic(block: Int) -> Bool {
    let start = Self.headerByteCount + block * Self.blockByteCount
    let content = bytes.span.extracting(start..<min(start + Self.blockByteCount, byteCount))
    return SHA256Digest(of: content) == SHA256Digest(in: bytes.span, at: 8 + SHA256Digest.byteCount * block)
  }

  @inline(__always)
  private func unverified(_ slot: Int) -> IndexRecord {
    let offset = Self.headerByteCount + (hasCheck ? 12 : 8) * slot
    let word: UInt64 = bytes.span.bigEndian(at: offset)
    return IndexRecord(
      fingerprint: base &+ word &>> indexBits, index: from &+ word & (1 << indexBits &- 1),
      check: hasCheck ? bytes.span.bigEndian(at: offset + 8) : 0)
  }
}
