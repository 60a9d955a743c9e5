// SPDX-License-Identifier: Apache-2.0

/// A snapshot of the rows of an index. Callers verify every row before they trust it.
package protocol IndexReader {
  func value(_ table: IndexTable, _ key: Int64) throws -> [UInt8]?

  /// Announces the values that will be read next. `keys` is called only if the storage makes use of them.
  func prefetch(_ table: IndexTable, _ keys: () -> [Int64]) throws

  /// The greatest key in `keys` that has a value.
  func lastKey(_ table: IndexTable, in keys: ClosedRange<Int64>) throws -> Int64?
}

/// A write transaction on the rows of an index.
package protocol IndexWriter: IndexReader {
  func put(_ table: IndexTable, _ key: Int64, _ value: [UInt8]) throws

  func remove(_ table: IndexTable, in keys: ClosedRange<Int64>) throws
}

/// The transactions of ``IndexMerger``, which runs concurrently with the engine.
package protocol IndexStorage {
  /// Reads one snapshot, with its authentic root.
  func read<Result>(_ body: (any IndexReader, IndexRoot) throws -> Result) throws -> Result

  /// Changes the rows in one transaction, which is rolled back if `body` throws. `body` receives the authentic root. If
  /// it changes the root, the new one is stored in the same transaction. The change need not survive a power failure.
  func write<Result>(_ body: (any IndexWriter, inout IndexRoot) throws -> Result) throws -> Result
}

extension IndexError: Error, CustomStringConvertible {
  package var description: String { "\(code.rawValue) at \(place): \(message)" }
}
