// SPDX-License-Identifier: Apache-2.0

import FingerprintIndex
import Synchronization
import Testing

/// The tables of an index in memory, with the root that a trail would sign. Writes can be made to fail.
final class MemoryIndex: IndexStorage, Sendable {
  typealias Rows = [IndexTable: [Int64: [UInt8]]]

  struct Fault: Error {}

  struct State: Sendable {
    var rows: Rows = [:]
    var root = IndexRoot.zero
  }

  private let state: Mutex<State>
  private let writing = Mutex<Void>(())
  private let remaining = Mutex(Int.max)
  private let reads = Mutex(0)

  init(_ state: State = State()) { self.state = Mutex(state) }

  /// The stored rows and the root. An attacker with write access to the storage sets the rows, but not the root.
  var current: State {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  func copy() -> MemoryIndex { MemoryIndex(current) }

  /// Lets so many operations of writes succeed, then fails all; the commit counts as one.
  func fail(after count: Int) { remaining.withLock { $0 = count } }

  /// The number of pages that were read.
  var pageReads: Int { reads.withLock { $0 } }

  fileprivate func countRead(_ table: IndexTable) { if table != .runs { reads.withLock { $0 += 1 } } }

  fileprivate func spend() throws {
    try remaining.withLock {
      guard $0 > 0 else { throw Fault() }
      $0 -= 1
    }
  }

  func read<Result>(_ body: (any IndexReader, IndexRoot) throws -> Result) throws -> Result {
    let current = current
    return try body(MemoryRows(current.rows, of: self), current.root)
  }

  func read<Result>(_ body: (any IndexReader) throws -> Result) throws -> Result {
    try read { reader, _ in try body(reader) }
  }

  func write<Result>(_ body: (any IndexWriter, inout IndexRoot) throws -> Result) throws -> Result {
    var result: Result?
    try writing.withLock { _ in
      var root = current.root
      let rows = MemoryRows(current.rows, of: self)
      result = try body(rows, &root)
      try spend()
      current = State(rows: rows.rows, root: root)
    }
    return try #require(result)
  }

  /// Opens the index.
  func open() throws -> IndexEngine { try read { try IndexEngine(root: $1, in: $0) } }

  /// Changes the index in one transaction, as a trail does.
  func change<Result>(
    _ index: inout IndexEngine, _ body: (inout IndexEngine, any IndexWriter) throws -> Result
  ) throws -> Result {
    let before = index
    do {
      return try write { writer, root in
        try index.reloadIfChanged(to: root, in: writer)
        let result = try body(&index, writer)
        root = index.root
        return result
      }
    } catch {
      index = before
      throw error
    }
  }

  /// Flushes the index as far as `size`.
  func flush(_ index: inout IndexEngine, upTo size: UInt64) throws {
    try change(&index) { try $0.flush(upTo: size, in: $1) }
  }

  func reload(_ index: inout IndexEngine) throws -> Bool {
    try read { try index.reloadIfChanged(to: $1, in: $0) }
  }
}

private final class MemoryRows: IndexWriter {
  private(set) var rows: MemoryIndex.Rows
  private let storage: MemoryIndex

  init(_ rows: MemoryIndex.Rows, of storage: MemoryIndex) {
    self.rows = rows
    self.storage = storage
  }

  func value(_ table: IndexTable, _ key: Int64) throws -> [UInt8]? {
    storage.countRead(table)
    return rows[table]?[key]
  }

  func prefetch(_ table: IndexTable, _ keys: () -> [Int64]) throws {}

  func lastKey(_ table: IndexTable, in keys: ClosedRange<Int64>) throws -> Int64? {
    rows[table]?.keys.filter { keys.contains($0) }.max()
  }

  func put(_ table: IndexTable, _ key: Int64, _ value: [UInt8]) throws {
    try storage.spend()
    rows[table, default: [:]][key] = value
  }

  func remove(_ table: IndexTable, in keys: ClosedRange<Int64>) throws {
    try storage.spend()
    for key in (rows[table] ?? [:]).keys where keys.contains(key) { rows[table]?[key] = nil }
  }
}
