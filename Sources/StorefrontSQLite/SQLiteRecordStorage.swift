// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import GRDB
  internal import GRDBSQLite
  internal import SQLiteFiles
  public import Storefront

  /// The records of a payment queue or a store in one SQLite file, without a server.
  ///
  /// ```swift
  /// let storage = try SQLiteRecordStorage(at: "purchases.queue")
  /// let queue = try PaymentQueue(store: store, storage: storage)
  /// ```
  ///
  /// One process uses a file at a time, through one storage: a queue knows what it has stored. Whoever opens it
  /// meanwhile is told `busy`. While it is in use its log lies next to it, `-wal`, which is part of it and goes with it
  /// wherever it is copied. The file must be on a local disk: locks of network file systems cannot be relied upon.
  ///
  /// Durable means: ``commit(_:)`` returns after `fdatasync` (`F_FULLFSYNC` on Apple systems) of all that it wrote.
  public final class SQLiteRecordStorage: RecordStorage {
    private let file: DatabaseFile
    private let identity: DatabaseFile.Identity
    let connection: DatabaseQueue
    private let log: RecordLog
    private let state = StorageState()

    init(file: DatabaseFile, identity: DatabaseFile.Identity, connection: DatabaseQueue, log: RecordLog) {
      self.file = file
      self.identity = identity
      self.connection = connection
      self.log = log
    }

    deinit { try? connection.close() }

    /// Where the file is.
    public var path: String { file.path }

    /// The records of a collection in the order of their keys, compared byte for byte.
    ///
    /// - Parameters:
    ///   - collection: Which collection.
    ///   - key: Only keys after this one; `nil` for all.
    ///   - limit: At most so many.
    /// - Returns: The records.
    /// - Throws: `RecordStorageError`.
    public func records(
      in collection: RecordCollection, after key: String?, limit: Int
    ) throws(RecordStorageError) -> [StoredRecord] {
      try use { database in
        let keys = [collection.rawValue] + (key.map { [$0] } ?? [])
        let sql = key == nil ? RecordTable.first : RecordTable.after
        return try withStatement(sql, keys, on: database) { statement in
          var records: [StoredRecord] = []
          while records.count < limit {
            let code = statement.step()
            if code == SQLITE_DONE { break }
            guard code == SQLITE_ROW else { throw fault(code, database) }
            guard let bytes = statement.blob(0), let value = statement.blob(1),
              let key = String(validating: bytes, as: UTF8.self)
            else {
              throw DatabaseFault(
                .corrupt, at: "\(path), \(collection.rawValue)", "A record has no text as its key.")
            }
            records.append(StoredRecord(key: key, value: value))
          }
          return records
        }
      }
    }

    /// The value of a key; `nil` if there is none.
    ///
    /// - Throws: `RecordStorageError`.
    public func value(
      of key: String, in collection: RecordCollection
    ) throws(RecordStorageError) -> [UInt8]? {
      try use { database in
        try withStatement(RecordTable.value, [collection.rawValue, key], on: database) { statement in
          switch statement.step() {
          case SQLITE_ROW: return statement.blob(0)
          case SQLITE_DONE: return nil
          case let code: throw fault(code, database)
          }
        }
      }
    }

    /// Makes all of the changes, in order, or none. When it returns they are on disk.
    ///
    /// - Parameter changes: What to change.
    /// - Throws: `RecordStorageError` with `full` where there is no space: then nothing was stored, and it may be tried
    ///   again. After `syncFailed` every later call throws it again, until the file is opened anew.
    public func commit(_ changes: [RecordChange]) throws(RecordStorageError) {
      try use { database in
        // What is written to a file without a name would be acknowledged and lost.
        guard DatabaseFile.status(file.databasePath)?.identity == identity else {
          throw DatabaseFault(.notFound, at: path, "The file was moved, removed or replaced while in use.")
        }
        do {
          try run("BEGIN IMMEDIATE", on: database)
          for change in changes { try make(change, on: database) }
        } catch {
          rollBack(database)
          throw error
        }
        do {
          try run("COMMIT", on: database)
        } catch {
          rollBack(database)
          guard let fault = DatabaseFault(error, at: path), fault.code != .full, fault.code != .busy else {
            throw error
          }
          // Some of it may be in the log, and may count after a crash or not.
          throw DatabaseFault(.syncFailed, at: fault.place, fault.message)
        }
        do {
          try log.bound(database)
        } catch {
          // What was committed is safe. A sync that fails is noted, for whatever comes after it; anything else leaves
          // the log as it is, and copying is tried again.
          let fault = DatabaseFault(error, at: path)
          if let fault, fault.code == .syncFailed { state.stop(RecordStorageError(fault, at: path)) }
        }
      }
    }

    private func make(_ change: RecordChange, on database: Database) throws {
      switch change {
      case .put(let collection, let key, let value):
        try withStatement(RecordTable.put, [collection.rawValue, key], value, on: database, run)
      case .remove(let collection, let key):
        try withStatement(RecordTable.remove, [collection.rawValue, key], on: database, run)
      }
      func run(_ statement: LentStatement) throws {
        let code = statement.step()
        guard code == SQLITE_DONE else { throw fault(code, database) }
      }
    }

    /// Lends a prepared statement with its values: first texts, then bytes.
    private func withStatement<Result>(
      _ sql: String, _ texts: [String], _ bytes: [UInt8]? = nil, on database: Database,
      _ body: (LentStatement) throws -> Result
    ) throws -> Result {
      let statement = try database.cachedStatement(sql: sql)
      return try withExtendedLifetime(statement) {
        let lent = unsafe LentStatement(statement.sqliteStatement)
        defer { lent.finish() }
        var index: Int32 = 0
        for value in texts.map({ Array($0.utf8) }) + (bytes.map { [$0] } ?? []) {
          index += 1
          let code = lent.bind(value, at: index)
          guard code == SQLITE_OK else { throw fault(code, database) }
        }
        return try body(lent)
      }
    }

    private func run(_ sql: String, on database: Database) throws {
      try database.cachedStatement(sql: sql).execute()
    }

    private func rollBack(_ database: Database) {
      // Fails where SQLite has rolled back of itself.
      if database.isInsideTransaction { try? run("ROLLBACK", on: database) }
    }

    private func fault(_ code: Int32, _ database: Database) -> DatabaseFault {
      DatabaseFault(result: code, on: database, at: path)
    }

    /// Lets go of the file. Its log is copied into it first.
    ///
    /// - Throws: `RecordStorageError` where that failed; what was committed is safe all the same.
    public func close() throws(RecordStorageError) {
      guard state.close() else { return }
      do { try connection.close() } catch { throw RecordStorageError(error, at: path) }
    }

    /// Runs `body` on the connection while nobody else does.
    private func use<Result>(_ body: (Database) throws -> Result) throws(RecordStorageError) -> Result {
      do {
        try state.requireUse(at: path)
        return try connection.inDatabase { database in
          try state.requireUse(at: path)
          return try body(database)
        }
      } catch {
        let mapped = RecordStorageError(error, at: path)
        if mapped.code == .syncFailed { state.stop(mapped) }
        throw mapped
      }
    }
  }
#endif
