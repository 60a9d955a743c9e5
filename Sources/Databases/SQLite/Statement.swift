// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// A prepared statement. Values are copied only once between SQLite and the caller.
@safe
package final class Statement {
  private let pointer: OpaquePointer
  private unowned let database: Database
  /// The indexes of the parameters that were bound by name: SQLite compares the names at each search.
  private var indexes: [Int32] = []

  init(_ sql: String, of database: Database) throws(SQLiteError) {
    var prepared: OpaquePointer?
    let result = unsafe sqlite3_prepare_v2(try database.requireHandle(), sql, -1, &prepared, nil)
    guard result == SQLITE_OK, let prepared = unsafe prepared else { throw database.error(result) }
    unsafe pointer = prepared
    self.database = database
  }

  deinit { unsafe sqlite3_finalize(pointer) }

  /// Indicates whether the statement has returned a row and has not been completed or reset.
  var isBusy: Bool { unsafe sqlite3_stmt_busy(pointer) != 0 }

  /// Ends a use and releases the bound values.
  package func reset() {
    unsafe sqlite3_reset(pointer)
    unsafe sqlite3_clear_bindings(pointer)
  }

  /// Moves to the next row; `false` if there are no more rows.
  package func step() throws(SQLiteError) -> Bool {
    switch stepResult() {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let result: throw database.error(result)
    }
  }

  func stepResult() -> Int32 { unsafe sqlite3_step(pointer) }

  // MARK: - Binding

  /// The index of the parameter `$1`, `$2` and so on; if the statement does not name it, 0, which cannot be bound.
  package func index(ofParameter number: Int) -> Int32 {
    while indexes.count < number {
      indexes.append(unsafe sqlite3_bind_parameter_index(pointer, "$\(indexes.count + 1)"))
    }
    return indexes[number - 1]
  }

  /// Binds integers to the first parameters.
  package func bind(_ first: Int64, _ second: Int64? = nil) {
    unsafe sqlite3_bind_int64(pointer, 1, first)
    if let second { unsafe sqlite3_bind_int64(pointer, 2, second) }
  }

  package func bind(_ number: Int64, at index: Int32) throws(SQLiteError) {
    try database.require(unsafe sqlite3_bind_int64(pointer, index, number))
  }

  /// Binds a copy of bytes.
  package func bind(_ bytes: [UInt8], at index: Int32) throws(SQLiteError) {
    try database.require(
      unsafe bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress, !bytes.isEmpty else {
          return unsafe sqlite3_bind_zeroblob(pointer, index, 0)
        }
        return unsafe CSQLite_bind_copy(pointer, index, start, UInt64(buffer.count))
      })
  }

  /// Binds a copy of a text, or NULL.
  package func bind(_ text: String?, at index: Int32) throws(SQLiteError) {
    guard var text else { return try database.require(unsafe sqlite3_bind_null(pointer, index)) }
    try database.require(
      text.withUTF8 { buffer in
        unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
          unsafe CSQLite_bind_text(pointer, index, characters.baseAddress, UInt64(characters.count))
        }
      })
  }

  /// Runs the statement to its end with a range of bytes as the second parameter, without copying them.
  package func step(binding bytes: [UInt8], _ range: Range<Int>) throws(SQLiteError) {
    let result = unsafe bytes.withUnsafeBytes { buffer -> Int32 in
      let part = unsafe UnsafeRawBufferPointer(rebasing: buffer[range])
      let bound =
        if let start = part.baseAddress, !range.isEmpty {
          unsafe sqlite3_bind_blob64(pointer, 2, start, UInt64(range.count), nil)
        } else {
          unsafe sqlite3_bind_zeroblob(pointer, 2, 0)
        }
      return bound == SQLITE_OK ? stepResult() : bound
    }
    try database.require(result, SQLITE_DONE)
  }

  // MARK: - Columns of the row

  package enum ValueType: Sendable { case null, integer, text, blob }

  package var columnCount: Int32 { unsafe sqlite3_column_count(pointer) }

  /// The type of a column's value. Floating-point numbers count as text.
  package func type(_ column: Int32) -> ValueType {
    switch unsafe sqlite3_column_type(pointer, column) {
    case SQLITE_NULL: .null
    case SQLITE_INTEGER: .integer
    case SQLITE_BLOB: .blob
    default: .text
    }
  }

  package func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(pointer, column) }

  /// The text in a column; empty for NULL.
  package func text(_ column: Int32) -> String {
    guard let text = unsafe sqlite3_column_text(pointer, column) else { return "" }
    // The text may contain U+0000.
    let count = unsafe Int(sqlite3_column_bytes(pointer, column))
    return unsafe String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// The blob in a column; `nil` for NULL.
  package func blob(_ column: Int32) -> [UInt8]? {
    guard let count = blobByteCount(column) else { return nil }
    guard let bytes = unsafe sqlite3_column_blob(pointer, column) else { return [] }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// The length of the blob in a column; `nil` for NULL.
  package func blobByteCount(_ column: Int32) -> Int? {
    guard unsafe sqlite3_column_type(pointer, column) == SQLITE_BLOB else { return nil }
    return Int(unsafe sqlite3_column_bytes(pointer, column))
  }

  /// Appends a range of bytes of the blob in a column. The blob must contain the range.
  package func appendBlob(_ column: Int32, _ range: Range<Int>, to bytes: inout [UInt8]) throws(SQLiteError) {
    guard !range.isEmpty else { return }
    guard let start = unsafe sqlite3_column_blob(pointer, column) else { throw database.error(SQLITE_IOERR) }
    unsafe bytes.append(
      contentsOf: UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count))
  }
}

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

  package func bytes(_ range: Range<Int>) throws(SQLiteError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    try database.require(
      unsafe sqlite3_blob_read(handle, &bytes, Int32(range.count), Int32(range.lowerBound)))
    return bytes
  }

  package func write(_ bytes: [UInt8], at offset: Int) throws(SQLiteError) {
    guard !bytes.isEmpty else { return }
    try database.require(unsafe sqlite3_blob_write(handle, bytes, Int32(bytes.count), Int32(offset)))
  }
}

extension Database {
  /// Opens the value in a column of the row with the key `row`. SQLite reports a missing row, NULL and any error of the
  /// table with the same code. `exists` returns `true` if there is such a row and its value is a blob. Returns the open
  /// blob; `nil` if there is no such value. Throws ``SQLiteError``, and any error from `exists`.
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
