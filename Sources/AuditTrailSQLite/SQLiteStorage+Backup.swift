// SPDX-License-Identifier: Apache-2.0

#if SQLite
  public import AuditTrail
  internal import GRDB
  internal import SQLiteFiles

  extension SQLiteStorage {
    /// Copies the trail as it is now to another file, while it is read and written.
    ///
    /// The copy appears under its name when it is complete and on disk. It holds everything that was written before
    /// the call. Meanwhile the log of the trail grows, since the copy reads one state.
    ///
    /// The copy holds no keys of erasable parts: what is erased in the trail later cannot be read from the copy either.
    /// They are never written into it, so that not even what a killed process leaves behind has them. It is read without
    /// them; to write to it, `ErasureKeyBackup.restore(to:)` puts back those that are returned here.
    ///
    /// - Parameter path: A file that does not exist, in a directory that does.
    /// - Returns: The keys that the copy was made without; `nil` where the trail itself holds none.
    /// - Throws: `StorageError` with `notATrail` where the path is taken, and as reading and creating do.
    @discardableResult
    public func backUp(to path: String) throws -> ErasureKeyBackup? {
      let copy = try SQLiteFault.mapping { () throws(DatabaseFault) in try DatabaseFile(path) }
      guard DatabaseFile.status(copy.databasePath) == nil else {
        throw SQLiteFault.error(DatabaseFile.taken(path))
      }
      let sibling = try SQLiteFault.mapping { () throws(DatabaseFault) in try copy.makeSibling() }
      defer { sibling.remove() }
      let destination = try SQLiteConnection.writer(sibling, tuning: connections.tuning, patience: patience)
      let keys: ErasureKeyBackup?
      do {
        // Nobody sees the copy before it is complete: it needs no journal.
        try destination.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = OFF") }
        keys = try read { reader in
          try destination.inDatabase { try Self.copyTables(of: reader, into: $0, path: path) }
          return try reader.lastKey(.keys, in: 0...Int64.max).map { _ in try ErasureKeyBackup(reading: reader)
          }
        }
        try destination.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        // A copy never has what the trail itself could lose still.
        try synchronize()
        try destination.close()
      } catch {
        throw SQLiteFault.mapped(error, at: path)
      }
      try SQLiteFault.mapping { () throws(DatabaseFault) in try copy.take(sibling) }
      return keys
    }

    /// Copies row by row: copying pages would copy those of the keys, and what was erased from free space.
    private static func copyTables(
      of reader: any StorageReader, into database: Database, path: String
    ) throws {
      try database.inTransaction(.immediate) {
        try createTables(database)
        let access = SQLiteAccess(database, path: path)
        for table in StorageTable.allCases where table != .keys {
          try reader.forEach(table, in: .min ... .max) { key, value in
            try access.put(table, key, value)
            return true
          }
        }
        return .commit
      }
    }
  }
#endif
