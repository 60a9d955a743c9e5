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
    /// It is read without them; to write to it, `ErasureKeyBackup.restore(to:)` puts back those that are returned here.
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
        try connections.withReader { try $0.backup(to: destination) }
        keys = try destination.inDatabase { try Self.takeKeys(from: $0, path: path) }
        // A copy never has what the trail itself could lose still.
        try synchronize()
        try destination.close()
      } catch {
        throw SQLiteFault.mapped(error, at: path)
      }
      try SQLiteFault.mapping { () throws(DatabaseFault) in try copy.take(sibling) }
      return keys
    }

    /// Removes the keys from a copy that is being made; not even its free pages hold them any more.
    private static func takeKeys(from database: Database, path: String) throws -> ErasureKeyBackup? {
      let access = SQLiteAccess(database, path: path)
      guard try access.lastKey(.keys, in: 0...Int64.max) != nil else { return nil }
      let keys = try ErasureKeyBackup(reading: access)
      try database.execute(sql: "PRAGMA secure_delete = ON")
      try database.execute(sql: TableStatements[.keys].clear)
      return keys
    }
  }
#endif
