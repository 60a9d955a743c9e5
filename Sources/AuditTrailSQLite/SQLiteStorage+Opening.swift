// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import SQLiteFiles

  extension SQLiteStorage {
    /// How long a write waits for those of other processes where nothing else is said.
    public static let defaultPatience: Duration = .seconds(30)

    /// Creates an empty trail, readable and writable by its owner alone.
    ///
    /// The file appears under its name when it is complete, with its directory synced.
    ///
    /// - Parameters:
    ///   - path: A file that does not exist, in a directory that does.
    ///   - patience: How long a write waits for those of other processes.
    /// - Throws: `StorageError` with `notATrail` where the path is taken, `full`, `inputOutput` or `syncFailed`.
    public convenience init(creatingAt path: String, patience: Duration = SQLiteStorage.defaultPatience)
      throws
    {
      try self.init(creatingAt: path, patience: patience, tuning: SQLiteTuning())
    }

    convenience init(creatingAt path: String, patience: Duration, tuning: SQLiteTuning) throws {
      let file = try SQLiteFault.mapping { () throws(DatabaseFault) in try DatabaseFile(path) }
      guard DatabaseFile.status(file.databasePath) == nil else {
        throw SQLiteFault.error(DatabaseFile.taken(path))
      }
      let sibling = try SQLiteFault.mapping { () throws(DatabaseFault) in try file.makeSibling() }
      defer { sibling.remove() }
      let creating = try SQLiteConnection.writer(sibling, tuning: tuning, patience: Patience(patience))
      do {
        try creating.inDatabase { database in
          try database.execute(sql: "PRAGMA journal_mode = WAL")
          try database.inTransaction(.immediate) {
            try Self.createTables(database)
            return .commit
          }
        }
        try creating.close()
      } catch {
        throw SQLiteFault.mapped(error, at: path)
      }
      try SQLiteFault.mapping { () throws(DatabaseFault) in try file.take(sibling) }
      try self.init(openingAt: path, patience: patience, tuning: tuning)
    }

    /// Opens a trail.
    ///
    /// What a process that ended in the middle of its work had committed is there, and is on disk when this returns.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - patience: How long a write waits for those of other processes.
    /// - Throws: `StorageError` with `notFound`, `notATrail`, `unsupported` for a layout of a later version,
    ///   `corrupt`, `busy`, `inputOutput` or `syncFailed`.
    public convenience init(openingAt path: String, patience: Duration = SQLiteStorage.defaultPatience) throws
    {
      try self.init(openingAt: path, patience: patience, tuning: SQLiteTuning())
    }

    convenience init(openingAt path: String, patience limit: Duration, tuning: SQLiteTuning) throws {
      let file = try Self.existingFile(path)
      guard let status = DatabaseFile.status(file.databasePath) else {
        throw StorageError(.notFound, at: path, "There is no such file.")
      }
      let patience = Patience(limit)
      let writer = try SQLiteConnection.writer(file, tuning: tuning, patience: patience)
      var tuning = tuning
      let log: DatabaseLog
      do {
        (tuning.pageSize, log) = try writer.inDatabase { database in
          let pageSize = try Self.check(database, path: path)
          try database.execute(sql: SQLiteConnection.deferredSync)
          return (pageSize, try DatabaseLog(of: database))
        }
      } catch {
        throw SQLiteFault.mapped(error, at: path)
      }
      let connections = try SQLiteConnections(
        file: file, log: log, tuning: tuning, writer: writer, limit: limit)
      self.init(file: file, identity: status.identity, connections: connections, patience: patience)
      try withWriter { database in
        connections.log.observe(database)
        try settle(database)
      }
    }

    /// The file of a trail that is there.
    ///
    /// - Throws: `StorageError` with `notFound` or `notATrail`.
    static func existingFile(_ path: String) throws -> DatabaseFile {
      let file = try SQLiteFault.mapping { () throws(DatabaseFault) in try DatabaseFile(path) }
      guard let status = DatabaseFile.status(file.databasePath) else {
        throw StorageError(.notFound, at: path, "There is no such file.")
      }
      guard status.isRegular, status.size > 0 else {
        throw StorageError(.notATrail, at: path, "It is not a file with anything in it.")
      }
      return file
    }

    /// Makes the tables of a trail, in a transaction.
    static func createTables(_ database: Database) throws {
      try database.execute(
        sql: """
          PRAGMA application_id = \(SQLiteConnection.applicationID);
          PRAGMA user_version = \(SQLiteConnection.layoutVersion);
          """)
      for table in StorageTable.allCases { try database.execute(sql: TableStatements[table].create) }
    }

    /// Refuses what is not a trail, and gives the size of its pages.
    private static func check(_ database: Database, path: String) throws -> Int {
      try checkTables(database, path: path)
      guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
        throw StorageError(.inputOutput, at: path, "It cannot be put into write-ahead mode: is it writable?")
      }
      return try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4096
    }

    /// Refuses what is not a trail.
    static func checkTables(_ database: Database, path: String) throws {
      let application = try Int32.fetchOne(database, sql: "PRAGMA application_id")
      guard application == SQLiteConnection.applicationID else {
        throw StorageError(.notATrail, at: path, "It is an SQLite database of another application.")
      }
      let version = try Int32.fetchOne(database, sql: "PRAGMA user_version")
      guard version == SQLiteConnection.layoutVersion else {
        throw StorageError(
          .unsupported, at: path,
          "Its layout is of version \(version ?? 0), and this build knows version \(SQLiteConnection.layoutVersion): use "
            + "the version of ReceiptKit that made it.")
      }
      let tables = try String.fetchSet(database, sql: "SELECT sql FROM sqlite_schema WHERE type = 'table'")
      guard tables == Set(StorageTable.allCases.map { TableStatements[$0].create }) else {
        throw StorageError(.corrupt, at: path, "Its tables are not those of a trail.")
      }
    }

    /// Copies the log of a process that ended in the middle of its work into the file.
    ///
    /// Where that process had seen a sync fail, the log may be read back from the kernel's memory without being on
    /// disk, and what is appended to it would be lost with its beginning.
    private func settle(_ database: Database) throws {
      guard connections.log.file.byteCount > 0 else { return }
      do {
        _ = try patience.without { try database.checkpoint(.truncate) }
      } catch {
        let fault = SQLiteFault.mapped(error, at: file.path)
        // Others are at work: then the log is theirs, and nothing was read back.
        if let fault = fault as? StorageError, fault.code == .busy || fault.code == .full { return }
        throw fault
      }
    }
  }
#endif
