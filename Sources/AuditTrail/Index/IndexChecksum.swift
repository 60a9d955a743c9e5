// SPDX-License-Identifier: Apache-2.0

/// The checksum that rows of the index begin with.
///
/// It is against damage, not against forgery: that is for ``IndexAuditor``, which goes by the entries. Each step
/// can be undone, so a change within one word always changes the sum; others escape with a probability of 2^-64.
/// The row's place is part of it, so that a row that stands in another's place is noticed.
enum IndexChecksum {
  static let byteCount = 8

  /// The checksum of all of `row` but its first 8 bytes, at the row's place.
  static func of(_ row: Span<UInt8>, at place: IndexPlace) -> UInt64 {
    var lanes: (UInt64, UInt64, UInt64, UInt64) = (
      UInt64(bitPattern: place.key) ^ 0x243f_6a88_85a3_08d3,
      UInt64(place.table.rawValue) ^ 0x1319_8a2e_0370_7344,
      UInt64(row.count) ^ 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89
    )
    var offset = byteCount
    unsafe row.withUnsafeBytes { bytes in
      while bytes.count &- offset >= 32 {
        // 32 bytes from `offset` were just seen to be there.
        absorb(&lanes.0, unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian)
        absorb(&lanes.1, unsafe bytes.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self).bigEndian)
        absorb(&lanes.2, unsafe bytes.loadUnaligned(fromByteOffset: offset &+ 16, as: UInt64.self).bigEndian)
        absorb(&lanes.3, unsafe bytes.loadUnaligned(fromByteOffset: offset &+ 24, as: UInt64.self).bigEndian)
        offset &+= 32
      }
    }
    while offset < row.count {
      var word: UInt64 = 0
      for position in offset..<min(offset + 8, row.count) { word = word << 8 | UInt64(row[position]) }
      absorb(&lanes.0, word)
      offset += 8
    }
    var sum = lanes.0
    absorb(&sum, lanes.1)
    absorb(&sum, lanes.2)
    absorb(&sum, lanes.3)
    absorb(&sum, 0)
    return sum
  }

  /// Puts the checksum into the first 8 bytes of `row`.
  static func seal(_ row: inout [UInt8], at place: IndexPlace) {
    let sum = of(row.span, at: place)
    for offset in 0..<byteCount { row[offset] = UInt8(truncatingIfNeeded: sum >> UInt64(56 - offset * 8)) }
  }

  /// - Throws: ``StorageError/Code/corrupt`` where the row is not what was sealed at this place.
  static func check(_ row: [UInt8], at place: IndexPlace) throws(StorageError) {
    guard row.count >= byteCount, row.span.bigEndianWord(at: 0) == of(row.span, at: place) else {
      throw place.corrupt("The checksum of \(row.count) bytes does not match.")
    }
  }

  @inline(__always)
  private static func absorb(_ lane: inout UInt64, _ word: UInt64) {
    lane = (lane ^ word) &* 0x9e37_79b9_7f4a_7c15
    lane ^= lane &>> 29
  }
}

/// Where a row of the index stands.
struct IndexPlace: Sendable, Hashable {
  let table: StorageTable
  let key: Int64

  /// The catalogue: key 0 of the runs' table.
  static let catalogue = IndexPlace(table: .runs, key: 0)

  func corrupt(_ message: String) -> StorageError { StorageError(.corrupt, at: name, message) }

  private var name: String {
    let (run, part) = (key >> IndexRun.partBits, key & (1 << IndexRun.partBits - 1))
    return switch table {
    case .pages: "index run \(run), page \(part)"
    case .runs where key == 0: "index catalogue"
    case .runs where part >= IndexRun.filterRowBase:
      "index run \(run), filter row \(part - IndexRun.filterRowBase)"
    default: "index run \(run), fence row \(part)"
    }
  }
}

extension Span<UInt8> {
  /// The 8 bytes at `offset`, which must be there, as a big-endian number.
  @inline(__always)
  func bigEndianWord(at offset: Int) -> UInt64 {
    let bytes = unsafe self.bytes
    return UInt64(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The 4 bytes at `offset`, which must be there, as a big-endian number.
  @inline(__always)
  func bigEndianHalfWord(at offset: Int) -> UInt32 {
    let bytes = unsafe self.bytes
    return UInt32(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
}

extension [UInt8] {
  mutating func append(bigEndian word: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: word >> shift))
    }
  }

  mutating func append(bigEndian words: [UInt64]) {
    reserveCapacity(count + 8 * words.count)
    for word in words {
      unsafe Swift.withUnsafeBytes(of: word.bigEndian) { unsafe append(contentsOf: $0) }
    }
  }
}
