// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// An open blob, whose parts can be read and written in place.
@safe
package final class Blob {
  package let count: Int
  private let handle: OpaquePointer
  private unowned let database: Database

  fileprivate init(_ handle: OpaquePointer, of database: Database) {
    unsafe self.handle = unsafe handle
    self.database = database
    count = Int(unsafe sqlite3_blob_bytes(handle))
  }

  deinit { unsafe sqlite3_blob_close(handle) }

  /// Reads a range of bytes of the value.
  package func bytes(_ range: Range<Int>) throws(SQLiteError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    let result = unsafe sqlite3_blob_read(handle, &bytes, Int32(range.count), Int32(range.lowerBound))
    guard result == SQLITE_OK else { throw database.error(result) }
    return bytes
  }

  /// Overwrites a part of the value.
  package func write(_ bytes: [UInt8], at offset: Int) throws(SQLiteError) {
    guard !bytes.isEmpty else { return }
    let result = unsafe sqlite3_blob_write(handle, bytes, Int32(bytes.count), Int32(offset))
    guard result == SQLITE_OK else { throw database.error(result) }
  }
}

extension Database {
  /// Opens the value in a column of the row with the key `row`.
  ///
  /// - Parameters:
  ///   - table: The name of the table.
  ///   - column: The name of the column.
  ///   - row: The key of the row.
  ///   - writing: A Boolean value that indicates whether the blob is opened for writing.
  ///   - exists: Returns `true` if there is such a row and its value is a blob. SQLite reports a missing row, NULL
  ///     and any error of the table with the same code.
  /// - Returns: The open blob; `nil` if there is no such value.
  /// - Throws: ``SQLiteError``, and any error from `exists`.
  package func blob(
    _ table: String, _ column: String, row: Int64, writing: Bool, exists: () throws -> Bool
  ) throws -> Blob? {
    var handle: OpaquePointer?
    let result = unsafe sqlite3_blob_open(
      try requireHandle(), "main", table, column, row, writing ? 1 : 0, &handle)
    if result == SQLITE_OK, let handle = unsafe handle { return unsafe Blob(handle, of: self) }
    unsafe sqlite3_blob_close(handle)
    let error = error(result)
    if result & 0xFF == SQLITE_ERROR, try !exists() { return nil }
    throw error
  }
}
