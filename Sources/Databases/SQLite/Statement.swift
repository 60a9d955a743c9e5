// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// A prepared statement. Values are copied only once between SQLite and the caller.
@safe
package final class Statement {
  private let pointer: OpaquePointer
  private unowned let database: Database

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

  /// The index of a named parameter, such as `$1`; if the statement does not name it, 0, which cannot be bound.
  package func index(of parameter: String) -> Int32 {
    unsafe sqlite3_bind_parameter_index(pointer, parameter)
  }

  /// Binds integers to the first parameters.
  package func bind(_ first: Int64, _ second: Int64? = nil) {
    unsafe sqlite3_bind_int64(pointer, 1, first)
    if let second { unsafe sqlite3_bind_int64(pointer, 2, second) }
  }

  /// Binds an integer.
  package func bind(_ number: Int64, at index: Int32) throws(SQLiteError) {
    try require(unsafe sqlite3_bind_int64(pointer, index, number))
  }

  /// Binds a copy of bytes.
  package func bind(_ bytes: [UInt8], at index: Int32) throws(SQLiteError) {
    try require(
      unsafe bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress, !bytes.isEmpty else {
          return unsafe sqlite3_bind_zeroblob(pointer, index, 0)
        }
        return unsafe CSQLite_bind_copy(pointer, index, start, UInt64(buffer.count))
      })
  }

  /// Binds a copy of a text, or NULL.
  package func bind(_ text: String?, at index: Int32) throws(SQLiteError) {
    guard var text else { return try require(unsafe sqlite3_bind_null(pointer, index)) }
    try require(
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
    try require(result, SQLITE_DONE)
  }

  private func require(_ result: Int32, _ expected: Int32 = SQLITE_OK) throws(SQLiteError) {
    guard result == expected else { throw database.error(result) }
  }

  // MARK: - Columns of the row

  /// The type of a column's value.
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
