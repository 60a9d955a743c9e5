// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import Synchronization

/// An audit trail in memory, for tests, and for trails that are exported before the process ends.
///
/// It fulfils the contract of `TrailStorage` except for durability. A write is rolled back if its body throws, and a
/// read sees a snapshot while others write.
public final class MemoryStorage: TrailStorage {
  private let state: Mutex<MemoryTables?>
  private let writing = Mutex<Void>(())

  /// Creates an empty storage.
  public init() { state = Mutex(MemoryTables()) }

  private init(_ tables: MemoryTables?) { state = Mutex(tables) }

  /// A copy with the committed state, which is the state that would remain after a crash now.
  package func copy() -> MemoryStorage { MemoryStorage(state.withLock { $0 }) }

  /// Reads a snapshot.
  ///
  /// - Throws: `StorageError` with `closed`, and the errors of `body`.
  public func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
    try body(MemoryReader(tables: try openTables()))
  }

  /// Changes the storage. If `body` throws, none of its changes are made. Writes are serialised, so do not write
  /// within `body`.
  ///
  /// - Throws: `StorageError` with `closed`, and the errors of `body`.
  public func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    var result: Result?
    try writing.withLock { _ in
      let writer = MemoryWriter(try openTables())
      result = try body(writer)
      let tables = writer.tables
      try state.withLock {
        guard $0 != nil else { throw StorageError.closed }
        $0 = tables
      }
    }
    guard let result else { throw StorageError.closed }
    return result
  }

  /// Does nothing, because there are no logs of earlier changes.
  public func scrub() throws { _ = try openTables() }

  /// The size of all values in bytes, plus 8 bytes for each key.
  public func byteCount() throws -> UInt64 { try openTables().tables.reduce(0) { $0 + $1.byteCount } }

  /// Closes the storage, and discards its contents.
  public func close() throws { state.withLock { $0 = nil } }

  private func openTables() throws -> MemoryTables {
    guard let tables = state.withLock({ $0 }) else { throw StorageError.closed }
    return tables
  }
}

private struct MemoryTables: Sendable {
  var tables = [MemoryTable](repeating: MemoryTable(), count: StorageTable.allCases.count)

  subscript(table: StorageTable) -> MemoryTable {
    get { tables[table.rawValue] }
    _modify { yield &tables[table.rawValue] }
  }
}

/// Reads tables in memory.
private protocol MemoryTablesReader: StorageReader {
  var tables: MemoryTables { get }
}

extension MemoryTablesReader {
  func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? { tables[table].value(key) }

  func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]? {
    tables[table].value(key).map { Array($0[range.clamped(to: $0.indices)]) }
  }

  func forEach(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
  ) throws {
    // Iterates over the present state, because the body may write.
    let present = tables[table]
    try present.forEach(in: keys, body)
  }

  func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64? {
    tables[table].lastKey(in: keys)
  }
}

private struct MemoryReader: MemoryTablesReader {
  let tables: MemoryTables
}

/// The state that a write is changing. The storage's writer lock restricts it to one thread.
private final class MemoryWriter: MemoryTablesReader, StorageWriter {
  private(set) var tables: MemoryTables

  init(_ tables: MemoryTables) { self.tables = tables }

  func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws { tables[table].put(key, value) }

  func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
    guard var value = tables[table].value(key), offset >= 0, offset <= value.count,
      bytes.count <= value.count - offset
    else {
      throw StorageError(
        .corrupt, at: "\(table) \(key)", "There is no value of \(offset) + \(bytes.count) bytes to overwrite."
      )
    }
    value.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    tables[table].put(key, value)
  }

  func remove(_ table: StorageTable, in keys: ClosedRange<Int64>, erasing: Bool) throws {
    tables[table].remove(in: keys)
  }
}

extension StorageError {
  fileprivate static let closed = StorageError(.closed, at: "memory", "The storage was closed.")
}

/// A checkpoint store for tests, and for trails that end with their process.
///
/// Its checkpoint is lost with the process, so it cannot detect a rollback after a restart.
public final class MemoryCheckpointStore: CheckpointStore {
  private let stored: Mutex<[UInt8]?>

  /// Creates a store.
  ///
  /// - Parameter checkpoint: The initial checkpoint.
  public init(_ checkpoint: [UInt8]? = nil) { stored = Mutex(checkpoint) }

  /// The encoded checkpoint; `nil` if none was stored yet.
  public func load() -> [UInt8]? { stored.withLock { $0 } }

  /// Stores `new` if the stored checkpoint is exactly `old`.
  public func replace(_ old: [UInt8]?, with new: [UInt8]) -> Bool {
    stored.withLock {
      guard $0 == old else { return false }
      $0 = new
      return true
    }
  }
}
