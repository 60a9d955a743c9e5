// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

/// The segments of values in a table with long values that are read in parts. Each segment is a row of its own. SQLite
/// keeps a long row in a chain of pages. To reach a part of it, SQLite must read all pages before it, one after the
/// other. Segments are in the pages of the table itself, four to a page, and are found by their keys. All segments of a
/// value except the last are full. An empty value has one empty segment.
enum Segments {
  /// The length of a full segment in bytes. Four segments with SQLite's overhead fill a page of 16,384 bytes.
  static let byteCount = 4064
  /// The number of low bits of a row's key that hold the segment number. The value's key is above them.
  private static let numberBits = 17
  static let maximumCount = 1 << numberBits
  static let keys = Int64.min >> Int64(numberBits)...Int64.max >> Int64(numberBits)

  /// The key of a segment's row. Every row key belongs to some value.
  static func row(_ key: Int64, _ number: Int) -> Int64 { key << Int64(numberBits) | Int64(number) }

  static func key(ofRow row: Int64) -> Int64 { row >> Int64(numberBits) }

  static func number(ofRow row: Int64) -> Int { Int(row & Int64(maximumCount - 1)) }

  /// The row keys of the values at `keys`; `nil` if no value can have any of these keys.
  static func rows(of keys: ClosedRange<Int64>) -> ClosedRange<Int64>? {
    guard keys.overlaps(Self.keys) else { return nil }
    let keys = keys.clamped(to: Self.keys)
    return row(keys.lowerBound, 0)...row(keys.upperBound, maximumCount - 1)
  }

  /// The numbers of the segments that contain `bytes` of a value.
  static func numbers(of bytes: Range<Int>) -> Range<Int> {
    let bytes = bytes.clamped(to: 0..<byteCount * maximumCount)
    return bytes.isEmpty ? 0..<0 : bytes.lowerBound / byteCount..<(bytes.upperBound - 1) / byteCount + 1
  }

  /// The range of `bytes` of a value within one of its segments.
  static func part(_ bytes: Range<Int>, of number: Int) -> Range<Int> {
    let start = number * byteCount
    let part = bytes.clamped(to: start..<start + byteCount)
    return part.lowerBound - start..<part.upperBound - start
  }
}

extension SQLiteAccess {
  /// The bytes of a segmented value, as far as it has them; `nil` if there is no such value.
  func segmentedValue(_ table: StorageTable, _ key: Int64, bytes: Range<Int>) throws -> [UInt8]? {
    guard Segments.keys.contains(key) else { return nil }
    let numbers = Segments.numbers(of: bytes)
    guard !numbers.isEmpty else { return try lastSegment(table, key) == nil ? nil : [] }
    return try withStatement(TableStatements[table].range, table, key) { statement in
      statement.bind(Segments.row(key, numbers.lowerBound), Segments.row(key, numbers.upperBound - 1))
      var value = SegmentedValue(table: table, key: key, first: numbers.lowerBound)
      while try statement.step() { try value.append(statement, bytes, in: self) }
      // A value has no bytes beyond its end, so the result may be empty although the value exists.
      if value.isEmpty, try lastSegment(table, key) == nil { return nil }
      return value.bytes
    }
  }

  /// Calls `body` with each segmented value whose key is in `keys`, in order, until it returns `false`.
  func forEachSegmented(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
  ) throws {
    guard let rows = Segments.rows(of: keys) else { return }
    try withStatement(TableStatements[table].range, table, keys.lowerBound) { statement in
      statement.bind(rows.lowerBound, rows.upperBound)
      var value: SegmentedValue?
      while try statement.step() {
        let key = Segments.key(ofRow: statement.integer(0))
        if let finished = value, finished.key != key {
          if !finished.isEmpty, try !body(finished.key, finished.bytes) { return }
          value = nil
        }
        var current = value ?? SegmentedValue(table: table, key: key, first: 0)
        value = nil
        try current.append(statement, 0..<Int.max, in: self)
        value = current
      }
      if let value, !value.isEmpty { _ = try body(value.key, value.bytes) }
    }
  }

  func putSegments(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws {
    let count = max(1, Segments.numbers(of: 0..<value.count).count)
    guard Segments.keys.contains(key), value.count <= Segments.byteCount * Segments.maximumCount else {
      throw StorageError(.unsupported, at: place(table, key), "There is no room for such a key or value.")
    }
    try withStatement(TableStatements[table].put, table, key) { statement in
      for number in 0..<count {
        let start = number * Segments.byteCount
        statement.bind(Segments.row(key, number))
        try statement.step(binding: value, start..<min(value.count, start + Segments.byteCount))
        statement.reset()
      }
    }
    // Removes the remaining segments of a longer value that was replaced.
    guard count < Segments.maximumCount else { return }
    let others = Segments.row(key, count)...Segments.row(key, Segments.maximumCount - 1)
    try run(TableStatements[table].remove, table, others)
  }

  func overwriteSegments(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
    try requireRoom(for: bytes, at: offset, of: segmentedByteCount(table, key), table, key)
    let range = offset..<offset + bytes.count
    for number in Segments.numbers(of: range) {
      let part = Segments.part(range, of: number)
      let start = number * Segments.byteCount + part.lowerBound - offset
      try at(table, key) {
        guard let blob = try blob(table, Segments.row(key, number), writing: true),
          part.upperBound <= blob.count
        else { throw incomplete(table, key, number) }
        try blob.write(Array(bytes[start..<start + part.count]), at: part.lowerBound)
      }
    }
  }

  private func segmentedByteCount(_ table: StorageTable, _ key: Int64) throws -> Int? {
    guard let last = try lastSegment(table, key) else { return nil }
    let count = try at(table, key) { try blob(table, last, writing: false)?.count }
    return count.map { Segments.number(ofRow: last) * Segments.byteCount + $0 }
  }

  /// The row key of the last segment; `nil` if there is no such value.
  private func lastSegment(_ table: StorageTable, _ key: Int64) throws -> Int64? {
    try Segments.rows(of: key...key).flatMap { try integer(TableStatements[table].lastKey, table, $0) }
  }

  fileprivate func incomplete(_ table: StorageTable, _ key: Int64, _ number: Int) -> StorageError {
    StorageError(
      .corrupt, at: place(table, key), "The segment \(number) of the value is missing or damaged.")
  }
}

/// A value that is assembled from its segments, read one after the other.
private struct SegmentedValue {
  let table: StorageTable
  let key: Int64
  /// The number of the first segment to read.
  let first: Int
  fileprivate var bytes: [UInt8] = []
  fileprivate var count = 0
  fileprivate var isEnded = false

  var isEmpty: Bool { count == 0 }

  /// Appends the part of the segment in the statement's row that belongs to `range` of the value.
  mutating func append(_ statement: Statement, _ range: Range<Int>, in access: SQLiteAccess) throws {
    // Erased segments are skipped.
    guard let byteCount = statement.blobByteCount(1) else { return }
    let number = Segments.number(ofRow: statement.integer(0))
    guard number == first + count, !isEnded, byteCount <= Segments.byteCount, byteCount > 0 || number == 0
    else { throw access.incomplete(table, key, first + count) }
    if isEmpty { bytes.reserveCapacity(min(range.count, Segments.byteCount * 64)) }
    let part = Segments.part(range, of: number).clamped(to: 0..<byteCount)
    try statement.appendBlob(1, part, to: &bytes)
    count += 1
    isEnded = byteCount < Segments.byteCount
  }
}
