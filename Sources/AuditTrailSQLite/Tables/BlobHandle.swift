// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import GRDBSQLite

  /// An open blob: part of a value can be read or written where it lies.
  @safe
  struct BlobHandle {
    private let handle: OpaquePointer
    let count: Int

    init(_ handle: OpaquePointer) {
      unsafe self.handle = unsafe handle
      count = Int(unsafe sqlite3_blob_bytes(handle))
    }

    /// The bytes of a range within the value.
    func bytes(_ range: Range<Int>, orThrow failure: (Int32) -> StorageError) throws -> [UInt8] {
      try unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
        guard let start = buffer.baseAddress, !range.isEmpty else { return }
        let code = unsafe sqlite3_blob_read(handle, start, Int32(range.count), Int32(range.lowerBound))
        guard code == SQLITE_OK else { throw failure(code) }
        count = range.count
      }
    }

    /// Writes within the value.
    func write(_ bytes: [UInt8], at offset: Int) -> Int32 {
      guard !bytes.isEmpty else { return SQLITE_OK }
      return unsafe bytes.withUnsafeBytes { buffer in
        unsafe sqlite3_blob_write(handle, buffer.baseAddress, Int32(buffer.count), Int32(offset))
      }
    }
  }

  extension SQLiteAccess {
    /// Lends the value of the row `key`; `nil` where there is none.
    func withBlob<Result>(
      _ table: StorageTable, _ key: Int64, writing: Bool, _ body: (BlobHandle?) throws -> Result
    ) throws -> Result {
      try requireUse()
      var handle: OpaquePointer?
      let code = unsafe sqlite3_blob_open(
        database.sqliteConnection, "main", TableStatements[table].name, "value", key, writing ? 1 : 0, &handle
      )
      defer { unsafe sqlite3_blob_close(handle) }
      guard code == SQLITE_OK, let open = unsafe handle else {
        // The same code tells of a missing row, of NULL and of anything wrong with the table: look at the row.
        if code & 0xFF == SQLITE_ERROR, try integer(TableStatements[table].lastKey, table, key...key) == nil {
          return try body(nil)
        }
        throw failure(code, at: place(table, key))
      }
      return try body(unsafe BlobHandle(open))
    }
  }
#endif
