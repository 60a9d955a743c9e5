// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import SQLiteFiles

  extension SQLiteStorage {
    /// Copies the trail as it is now to another file, while it is read and written.
    ///
    /// The copy appears under its name when it is complete and on disk. It holds everything that was written before
    /// the call. Meanwhile the log of the trail grows, since the copy reads one state.
    ///
    /// - Parameter path: A file that does not exist, in a directory that does.
    /// - Throws: `StorageError` with `notATrail` where the path is taken, and as reading and creating do.
    public func backUp(to path: String) throws {
      let copy = try SQLiteFault.mapping { () throws(DatabaseFault) in try DatabaseFile(path) }
      guard DatabaseFile.status(copy.databasePath) == nil else {
        throw SQLiteFault.error(DatabaseFile.taken(path))
      }
      let sibling = try SQLiteFault.mapping { () throws(DatabaseFault) in try copy.makeSibling() }
      defer { sibling.remove() }
      let destination = try SQLiteConnection.writer(sibling, tuning: connections.tuning, patience: patience)
      do {
        // Nobody sees the copy before it is complete: it needs no journal.
        try destination.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = OFF") }
        try connections.withReader { try $0.backup(to: destination) }
        // A copy never has what the trail itself could lose still.
        try synchronize()
        try destination.close()
      } catch {
        throw SQLiteFault.mapped(error, at: path)
      }
      try SQLiteFault.mapping { () throws(DatabaseFault) in try copy.take(sibling) }
    }
  }
#endif
