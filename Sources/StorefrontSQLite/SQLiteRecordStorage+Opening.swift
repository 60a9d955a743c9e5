// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import GRDB
  internal import SQLiteFiles
  public import Storefront

  extension SQLiteRecordStorage {
    /// How long opening waits for another process where nothing else is said.
    public static let defaultPatience: Duration = .seconds(5)

    /// Opens a file of records; makes an empty one where there is nothing.
    ///
    /// - Parameters:
    ///   - path: The file, in a directory that exists.
    ///   - patience: How long to wait for another process to let go of it.
    /// - Throws: `RecordStorageError` with `notAStorage`, `unsupported` for a layout of a later version, `corrupt`,
    ///   `busy`, `full`, `inputOutput` or `syncFailed`.
    public convenience init(
      at path: String, patience: Duration = SQLiteRecordStorage.defaultPatience
    ) throws(RecordStorageError) {
      if let file = try? DatabaseFile(path), DatabaseFile.status(file.databasePath) == nil {
        do {
          try Self.make(path)
        } catch {
          // Somebody else made it meanwhile: it is opened.
          if error.code != .notAStorage { throw error }
        }
      }
      try self.init(openingAt: path, patience: patience)
    }

    /// Makes an empty file of records, readable and writable by its owner alone, and opens it.
    ///
    /// The file appears under its name when it is complete, with its directory synced.
    ///
    /// - Parameters:
    ///   - path: A file that does not exist, in a directory that does.
    ///   - patience: How long to wait for another process to let go of it.
    /// - Throws: `RecordStorageError` with `notAStorage` where the path is taken, `full`, `inputOutput` or
    ///   `syncFailed`.
    public convenience init(
      creatingAt path: String, patience: Duration = SQLiteRecordStorage.defaultPatience
    ) throws(RecordStorageError) {
      try Self.make(path)
      try self.init(openingAt: path, patience: patience)
    }

    /// Opens a file of records. What a process that ended in the middle of its work had committed is there.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - patience: How long to wait for another process to let go of it.
    /// - Throws: `RecordStorageError` with `notFound`, `notAStorage`, `unsupported` for a layout of a later version,
    ///   `corrupt`, `busy`, `inputOutput` or `syncFailed`.
    public convenience init(
      openingAt path: String, patience: Duration = SQLiteRecordStorage.defaultPatience
    ) throws(RecordStorageError) {
      do {
        let file = try DatabaseFile(path)
        guard let status = DatabaseFile.status(file.databasePath) else {
          throw RecordStorageError(.notFound, at: path, "There is no such file.")
        }
        guard status.isRegular, status.size > 0 else {
          throw RecordStorageError(.notAStorage, at: path, "It is not a file with anything in it.")
        }
        let log = RecordLog()
        let connection = try Self.open(file, log, patience: patience)
        self.init(file: file, identity: status.identity, connection: connection, log: log)
      } catch {
        throw RecordStorageError(error, at: path)
      }
    }

    private static func make(_ path: String) throws(RecordStorageError) {
      do {
        let file = try DatabaseFile(path)
        guard DatabaseFile.status(file.databasePath) == nil else { throw DatabaseFile.taken(path) }
        let sibling = try file.makeSibling()
        defer { sibling.remove() }
        let connection = try DatabaseConnection.open(sibling, patience: Patience(.zero), pragmas: pragmas)
        try connection.inDatabase(RecordTable.make)
        try connection.close()
        try file.take(sibling)
      } catch {
        throw RecordStorageError(error, at: path)
      }
    }

    /// The only connection. It holds the file from its first use on: others could not know what is in this process's
    /// memory.
    private static let pragmas = """
      PRAGMA page_size = 4096;
      PRAGMA locking_mode = EXCLUSIVE;
      \(DatabaseConnection.durability)
      PRAGMA cache_size = -4096;
      PRAGMA journal_size_limit = 8388608;
      """

    private static func open(
      _ file: DatabaseFile, _ log: RecordLog, patience: Duration
    ) throws -> DatabaseQueue {
      let end = ContinuousClock.now + patience
      var tries = 0
      while true {
        do {
          let connection = try DatabaseConnection.open(file, patience: Patience(.zero), pragmas: pragmas)
          try connection.inDatabase { database in
            try RecordTable.check(database, path: file.path)
            try database.execute(sql: "BEGIN IMMEDIATE; COMMIT")
            log.observe(database)
            try RecordLog.settle(file, on: database)
          }
          return connection
        } catch {
          // Two that open at once may each keep the other out: both let go, and try again.
          guard DatabaseFault(error, at: file.path)?.code == .busy else { throw error }
          guard ContinuousClock.now < end else {
            throw DatabaseFault(
              .busy, at: file.path,
              "Another process, or another storage of this one, has it open: only one may. Try again later.")
          }
          DatabaseFile.sleep(microseconds: UInt32(min(1000 + tries * 1000, 20_000)) + .random(in: 0..<2000))
          tries += 1
        }
      }
    }
  }
#endif
