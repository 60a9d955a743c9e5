// SPDX-License-Identifier: Apache-2.0

/// The tables of an index.
package enum IndexTable: Sendable, Hashable, CaseIterable {
  /// The catalogue at key 0; the filters and fences of runs at run number << 24 | row.
  case runs
  /// The pages of runs at run number << 24 | page number.
  case pages
  /// The pages and fences of runs of personal kinds, whose records can be removed.
  ///
  /// A row that is replaced or removed must leave no bytes behind.
  case personal
}

/// A snapshot of the rows of an index. Callers verify every row before they trust it.
package protocol IndexReader {
  /// The value at `key`; `nil` if the key has no value.
  func value(_ table: IndexTable, _ key: Int64) throws -> [UInt8]?

  /// Announces the values that will be read next. `keys` is called only if the storage makes use of them.
  func prefetch(_ table: IndexTable, _ keys: () -> [Int64]) throws

  /// The greatest key in `keys` that has a value.
  func lastKey(_ table: IndexTable, in keys: ClosedRange<Int64>) throws -> Int64?
}

/// A write transaction on the rows of an index.
package protocol IndexWriter: IndexReader {
  /// Sets the value at `key`.
  func put(_ table: IndexTable, _ key: Int64, _ value: [UInt8]) throws

  /// Removes the values at `keys`.
  func remove(_ table: IndexTable, in keys: ClosedRange<Int64>) throws
}

/// The transactions of ``IndexMerger``, which runs concurrently with the engine.
package protocol IndexStorage {
  /// Reads one snapshot, with its authentic root.
  func read<Result>(_ body: (any IndexReader, IndexRoot) throws -> Result) throws -> Result

  /// Changes the rows in one transaction, which is rolled back if `body` throws.
  ///
  /// `body` receives the authentic root. If it changes the root, the new one is stored in the same transaction. The
  /// change need not survive a power failure.
  func write<Result>(_ body: (any IndexWriter, inout IndexRoot) throws -> Result) throws -> Result
}

/// The reason why the index failed. Errors from the storage are passed on as they are.
package struct IndexError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error.
  package let code: Code
  /// The row of the index.
  package let place: String
  /// A description of the error and its remedy, on one line.
  package let message: String

  init(_ code: Code, at place: String = "index", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  package var description: String { "\(code.rawValue) at \(place): \(message)" }
}
