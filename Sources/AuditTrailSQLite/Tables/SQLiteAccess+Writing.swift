// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import GRDBSQLite
  internal import SQLiteFiles

  extension SQLiteAccess: StorageWriter {
    func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws {
      guard !TableStatements[table].isSegmented else { return try putSegments(table, key, value) }
      try withStatement(TableStatements[table].put) { statement in
        statement.bind(key)
        let code = statement.step(binding: value)
        guard code == SQLITE_DONE else { throw failure(code, at: place(table, key)) }
      }
    }

    func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
      guard !TableStatements[table].isSegmented else {
        return try overwriteSegments(table, key, at: offset, with: bytes)
      }
      try withBlob(table, key, writing: true) { blob in
        guard let blob else { throw nothingToOverwrite(table, key) }
        try requireRoom(for: bytes, at: offset, of: blob.count, table, key)
        let code = blob.write(bytes, at: offset)
        guard code == SQLITE_OK else { throw failure(code, at: place(table, key)) }
      }
    }

    func nothingToOverwrite(_ table: StorageTable, _ key: Int64) -> StorageError {
      StorageError(.corrupt, at: place(table, key), "There is no value to overwrite.")
    }

    /// Refuses to overwrite beyond the end of a value of `count` bytes.
    func requireRoom(
      for bytes: [UInt8], at offset: Int, of count: Int, _ table: StorageTable, _ key: Int64
    ) throws {
      guard offset >= 0, offset <= count, bytes.count <= count - offset else {
        throw StorageError(
          .corrupt, at: place(table, key),
          "The value has \(count) bytes and ends before what is to be overwritten.")
      }
    }

    func remove(_ table: StorageTable, in keys: ClosedRange<Int64>, erasing: Bool) throws {
      let statements = TableStatements[table]
      guard let keys = statements.isSegmented ? Segments.rows(of: keys) : keys else { return }
      guard erasing else { return try run(statements.remove, table, keys) }
      try setSecureDelete("ON")
      defer { try? setSecureDelete("FAST") }
      if try integer(statements.hasOthers, table, keys) == 0 {
        // Zeroes every page of the table, free space and leftovers of erased rows included.
        try withStatement(statements.clear) { statement in
          let code = statement.step()
          guard code == SQLITE_DONE else { throw failure(code, at: place(table, keys.lowerBound)) }
        }
      } else {
        try run(statements.erase, table, keys)
        // Rows of merged index runs are many, and hold no more than fingerprints: their space is needed again.
        if table == .pages || table == .runs || table == .personal { try run(statements.remove, table, keys) }
      }
    }

    /// What is zeroed: all that becomes free (`ON`), or only what lies in pages that are written anyway (`FAST`).
    private func setSecureDelete(_ setting: String) throws {
      do {
        try database.execute(sql: "PRAGMA secure_delete = \(setting)")
      } catch {
        throw SQLiteFault.mapped(error, at: path)
      }
    }
  }
#endif
