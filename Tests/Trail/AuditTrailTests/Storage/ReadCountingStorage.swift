// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Synchronization

/// Another storage. It counts the values that each write transaction reads: work that keeps all others from writing.
final class ReadCountingStorage: TrailStorage {
  private let base: any TrailStorage
  private let longest = Mutex(0)

  init(_ base: any TrailStorage) { self.base = base }

  /// The most values that one transaction read since ``reset()``.
  var longestTransaction: Int { longest.withLock { $0 } }

  func reset() { longest.withLock { $0 = 0 } }

  func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try base.read(body) }

  func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    let result = try writeUnsynchronized(body)
    try base.synchronize()
    return result
  }

  func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    try base.writeUnsynchronized { writer in
      let counting = CountingWriter(writer)
      defer { longest.withLock { $0 = max($0, counting.count) } }
      return try body(counting)
    }
  }

  func synchronize() throws { try base.synchronize() }
  func scrub() throws { try base.scrub() }
  func byteCount() throws -> UInt64 { try base.byteCount() }
  func structuralFaults() throws -> [String] { try base.structuralFaults() }
  func close() throws { try base.close() }
}

private final class CountingWriter: StorageWriter {
  private let base: any StorageWriter
  private(set) var count = 0

  init(_ base: any StorageWriter) { self.base = base }

  func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? {
    count += 1
    return try base.value(table, key)
  }

  func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]? {
    count += 1
    return try base.value(table, key, bytes: range)
  }

  func forEach(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
  ) throws {
    try base.forEach(table, in: keys) { key, value in
      count += 1
      return try body(key, value)
    }
  }

  func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64? {
    count += 1
    return try base.lastKey(table, in: keys)
  }

  func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws { try base.put(table, key, value) }

  func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
    try base.overwrite(table, key, at: offset, with: bytes)
  }

  func remove(_ table: StorageTable, in keys: ClosedRange<Int64>, erasing: Bool) throws {
    try base.remove(table, in: keys, erasing: erasing)
  }
}
