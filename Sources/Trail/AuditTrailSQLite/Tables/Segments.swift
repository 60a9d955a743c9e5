// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

/// The form of long values that are read in parts: cut into segments, each a row of its own.
///
/// SQLite keeps a long row in a chain of pages, where a part is only reached by reading all the pages before it, one
/// after the other. Segments lie in the pages of the table itself, four to a page, and are found by their keys.
///
/// All segments of a value but the last are full; an empty value has one, which is empty.
enum Segments {
  /// The bytes of a full segment: four, with what SQLite adds to each, fill a page of 16,384.
  static let byteCount = 4064
  /// A row's key has the value's key above, and the number of the segment below.
  private static let numberBits = 17
  static let maximumCount = 1 << numberBits
  /// The keys that values may have.
  static let keys = Int64.min >> Int64(numberBits)...Int64.max >> Int64(numberBits)

  /// The key of the row of a segment. Every key of a row belongs to some value.
  static func row(_ key: Int64, _ number: Int) -> Int64 { key << Int64(numberBits) | Int64(number) }

  static func key(ofRow row: Int64) -> Int64 { row >> Int64(numberBits) }

  static func number(ofRow row: Int64) -> Int { Int(row & Int64(maximumCount - 1)) }

  /// The keys of the rows of the values at `keys`; `nil` if no value can have such a key.
  static func rows(of keys: ClosedRange<Int64>) -> ClosedRange<Int64>? {
    guard keys.overlaps(Self.keys) else { return nil }
    let keys = keys.clamped(to: Self.keys)
    return row(keys.lowerBound, 0)...row(keys.upperBound, maximumCount - 1)
  }

  /// The numbers of the segments that `bytes` of a value lie in.
  static func numbers(of bytes: Range<Int>) -> Range<Int> {
    let bytes = bytes.clamped(to: 0..<byteCount * maximumCount)
    return bytes.isEmpty ? 0..<0 : bytes.lowerBound / byteCount..<(bytes.upperBound - 1) / byteCount + 1
  }

  /// The position of `bytes` of a value within one of its segments.
  static func part(_ bytes: Range<Int>, of number: Int) -> Range<Int> {
    let start = number * byteCount
    let part = bytes.clamped(to: start..<start + byteCount)
    return part.lowerBound - start..<part.upperBound - start
  }
}

extension SQLiteAccess {
  /// The bytes of a value in segments as far as it has them; `nil` without one.
  func segmentedValue(_ table: StorageTable, _ key: Int64, bytes: Range<Int>) throws -> [UInt8]? {
    guard Segments.keys.contains(key) else { return nil }
    let numbers = Segments.numbers(of: bytes)
    guard !numbers.isEmpty else { return try lastSegment(table, key) == nil ? nil : [] }
    return try withStatement(TableStatements[table].range, table, key) { statement in
      statement.bind(Segments.row(key, numbers.lowerBound), Segments.row(key, numbers.upperBound - 1))
      var value = SegmentedValue(table: table, key: key, from: numbers.lowerBound)
      while try statement.step() { try value.append(statement, bytes, in: self) }
      // Beyond its end a value has no bytes.
      if value.isEmpty, try lastSegment(table, key) == nil { return nil }
      return value.bytes
    }
  }

  /// Reads each value in segments whose key is in `keys`, in order, until `body` returns `false`.
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
        var current = value ?? SegmentedValue(table: table, key: key, from: 0)
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
    // Those of a longer value that was there.
    guard count < Segments.maximumCount else { return }
    let others = Segments.row(key, count)...Segments.row(key, Segments.maximumCount - 1)
    try run(TableStatements[table].remove, table, others)
  }

  func overwriteSegments(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
    guard let count = try segmentedByteCount(table, key) else { throw nothingToOverwrite(table, key) }
    try requireRoom(for: bytes, at: offset, of: count, table, key)
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

  /// The key of the row of the last segment; `nil` if there is no such value.
  private func lastSegment(_ table: StorageTable, _ key: Int64) throws -> Int64? {
    try Segments.rows(of: key...key).flatMap { try integer(TableStatements[table].lastKey, table, $0) }
  }

  fileprivate func incomplete(_ table: StorageTable, _ key: Int64, _ number: Int) -> StorageError {
    StorageError(
      .corrupt, at: place(table, key), "The segment \(number) of the value is missing or damaged.")
  }
}

/// A value as its segments are read, one after the other.
private struct SegmentedValue {
  let table: StorageTable
  let key: Int64
  private(set) var bytes: [UInt8] = []
  /// The number of the first segment that is read.
  private let first: Int
  /// The number of the segment that has to follow.
  private var next: Int
  private var isEnded = false

  init(table: StorageTable, key: Int64, from first: Int) {
    self.table = table
    self.key = key
    self.first = first
    next = first
  }

  /// Indicates whether there was no segment.
  var isEmpty: Bool { next == first }

  /// Appends what of the segment in the statement's row belongs to `range` of the value.
  mutating func append(_ statement: Statement, _ range: Range<Int>, in access: SQLiteAccess) throws {
    // Erased values are absent.
    guard let count = statement.blobByteCount(1) else { return }
    let number = Segments.number(ofRow: statement.integer(0))
    guard number == next, !isEnded, count <= Segments.byteCount, count > 0 || number == 0 else {
      throw access.incomplete(table, key, next)
    }
    if isEmpty { bytes.reserveCapacity(min(range.count, Segments.byteCount * 64)) }
    let part = Segments.part(range, of: number).clamped(to: 0..<count)
    try statement.appendBlob(1, part, to: &bytes)
    next += 1
    isEnded = count < Segments.byteCount
  }
}
