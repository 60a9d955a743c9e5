// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Synchronization

/// A storage that fails at the chosen operation of its writes.
final class FaultyStorage: TrailStorage {
  let memory: MemoryStorage
  private let remaining = Mutex(Int.max)

  init(_ memory: MemoryStorage) { self.memory = memory }

  /// Lets so many operations of writes succeed, then fails all; the commit counts as one.
  func fail(after count: Int) { remaining.withLock { $0 = count } }

  func spend() throws {
    try remaining.withLock {
      guard $0 > 0 else { throw StorageError(.inputOutput, at: "test", "as asked") }
      $0 -= 1
    }
  }

  func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try memory.read(body) }

  func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    try memory.write {
      let result = try body(FaultyWriter(writer: $0, storage: self))
      try spend()
      return result
    }
  }

  func scrub() throws { try memory.scrub() }
  func byteCount() throws -> UInt64 { try memory.byteCount() }
  func close() throws { try memory.close() }
}

private struct FaultyWriter: StorageWriter {
  let writer: any StorageWriter
  let storage: FaultyStorage

  func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? { try writer.value(table, key) }

  func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]? {
    try writer.value(table, key, bytes: range)
  }

  func forEach(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
  ) throws {
    try writer.forEach(table, in: keys, body)
  }

  func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64? {
    try writer.lastKey(table, in: keys)
  }

  func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws {
    try storage.spend()
    try writer.put(table, key, value)
  }

  func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
    try storage.spend()
    try writer.overwrite(table, key, at: offset, with: bytes)
  }

  func remove(_ table: StorageTable, in keys: ClosedRange<Int64>, erasing: Bool) throws {
    try storage.spend()
    try writer.remove(table, in: keys, erasing: erasing)
  }
}
