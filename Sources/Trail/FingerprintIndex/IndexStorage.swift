// SPDX-License-Identifier: Apache-2.0

/// The tables of an index.
package enum IndexTable: Sendable, Hashable, CaseIterable {
  /// The catalogue at key 0; the filters and fences of runs, by run number << 24 | row.
  case runs
  /// The pages of runs, by run number << 24 | page number.
  case pages
  /// The pages and fences of runs of personal kinds, whose records can be removed. A row that is replaced or removed
  /// must leave no bytes behind.
  case personal
}

/// One state of the rows of an index. Nothing that it gives is trusted before it is verified.
package protocol IndexReader {
  /// The value at `key`; `nil` without one.
  func value(_ table: IndexTable, _ key: Int64) throws -> [UInt8]?

  /// Says which values will be asked for next; `keys` is called only where that helps.
  func prefetch(_ table: IndexTable, _ keys: () -> [Int64]) throws

  /// The greatest key in `keys` that has a value.
  func lastKey(_ table: IndexTable, in keys: ClosedRange<Int64>) throws -> Int64?
}

/// A state of the rows that is being changed.
package protocol IndexWriter: IndexReader {
  /// Sets the value at `key`.
  func put(_ table: IndexTable, _ key: Int64, _ value: [UInt8]) throws

  /// Removes the values at `keys`.
  func remove(_ table: IndexTable, in keys: ClosedRange<Int64>) throws
}

/// The transactions of ``IndexMerger``, which runs beside the engine.
package protocol IndexStorage {
  /// Reads one state, with the authentic root of that state.
  func read<Result>(_ body: (any IndexReader, IndexRoot) throws -> Result) throws -> Result

  /// Changes the rows: all that `body` does, or nothing where it throws. `body` gets the authentic root; where it
  /// changes the root, the new one is stored in the same transaction. The change need not survive a loss of power.
  func write<Result>(_ body: (any IndexWriter, inout IndexRoot) throws -> Result) throws -> Result
}

/// Why the index could not do what it was asked. What the storage throws passes through.
package struct IndexError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault.
  package enum Code: String, Sendable, Hashable {
    /// The stored value is not the one that was written.
    case corrupt
    /// The index does not do that.
    case unsupported
    /// A limit is reached: of memory, of run numbers, of the size of the log.
    case outOfRoom = "out-of-room"
  }

  /// The kind of fault.
  package let code: Code
  /// The place: a row of the index.
  package let place: String
  /// A description of the fault and the remedy, on one line.
  package let message: String

  init(_ code: Code, at place: String = "index", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  package var description: String { "\(code.rawValue) at \(place): \(message)" }
}
