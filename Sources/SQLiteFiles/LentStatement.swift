// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import GRDBSQLite

  /// A prepared statement that is lent for one use. Values go to SQLite and back with a single copy.
  @safe
  package struct LentStatement {
    private let pointer: OpaquePointer

    package init(_ pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

    package func bind(_ first: Int64, _ second: Int64? = nil) {
      unsafe sqlite3_bind_int64(pointer, 1, first)
      if let second { unsafe sqlite3_bind_int64(pointer, 2, second) }
    }

    /// Binds a copy of some bytes; gives what went wrong, or `SQLITE_OK`.
    package func bind(_ bytes: [UInt8], at index: Int32) -> Int32 {
      unsafe bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress, !bytes.isEmpty else {
          return unsafe sqlite3_bind_zeroblob(pointer, index, 0)
        }
        // SQLITE_TRANSIENT, a macro that Swift does not see: SQLite takes a copy.
        let copying = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        return unsafe sqlite3_bind_blob64(pointer, index, start, UInt64(buffer.count), copying)
      }
    }

    /// The next row or the end: `SQLITE_ROW`, `SQLITE_DONE`, or what went wrong.
    package func step() -> Int32 { unsafe sqlite3_step(pointer) }

    /// Runs the statement to its end with `bytes`, which are not copied, as the second value.
    package func step(binding bytes: [UInt8]) -> Int32 { step(binding: bytes, bytes.indices) }

    /// The same with some of the bytes.
    package func step(binding bytes: [UInt8], _ range: Range<Int>) -> Int32 {
      unsafe bytes.withUnsafeBytes { buffer in
        let part = unsafe UnsafeRawBufferPointer(rebasing: buffer[range])
        guard let start = part.baseAddress, !range.isEmpty else {
          unsafe sqlite3_bind_zeroblob(pointer, 2, 0)
          return step()
        }
        let bound = unsafe sqlite3_bind_blob64(pointer, 2, start, UInt64(range.count), nil)
        return bound == SQLITE_OK ? step() : bound
      }
    }

    package func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(pointer, column) }

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

    /// Appends some bytes of the blob in a column, which has as many; `false` where SQLite cannot give them.
    package func appendBlob(_ column: Int32, _ range: Range<Int>, to bytes: inout [UInt8]) -> Bool {
      guard !range.isEmpty else { return true }
      guard let start = unsafe sqlite3_column_blob(pointer, column) else { return false }
      unsafe bytes.append(
        contentsOf: UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count))
      return true
    }

    /// Ends the use; what was lent to SQLite is taken back.
    package func finish() {
      unsafe sqlite3_reset(pointer)
      unsafe sqlite3_clear_bindings(pointer)
    }
  }
#endif
