// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import GRDBSQLite
  internal import SQLiteFiles

  /// The tables as one transaction sees them.
  final class SQLiteAccess {
    let database: Database
    let path: String
    /// The first fault. SQLite may have rolled back because of it: nothing more is done, or it would be done
    /// outside of the transaction.
    private(set) var fault: StorageError?
    private var isOver = false

    init(_ database: Database, path: String) {
      self.database = database
      self.path = path
    }

    /// Lends one state for reading.
    ///
    /// - Throws: `StorageError`, and whatever `body` throws.
    static func reading<Result>(
      _ database: Database, path: String, _ body: (any StorageReader) throws -> Result
    ) throws -> Result {
      let access = SQLiteAccess(database, path: path)
      try perform("BEGIN", on: database, path: path)
      defer {
        access.end()
        rollBack(database)
      }
      return try body(access)
    }

    static func perform(_ sql: String, on database: Database, path: String) throws {
      do {
        try database.cachedStatement(sql: sql).execute()
      } catch {
        throw SQLiteFault.mapped(error, at: path)
      }
    }

    static func rollBack(_ database: Database) {
      // Fails where SQLite has rolled back of itself.
      if database.isInsideTransaction { try? perform("ROLLBACK", on: database, path: "") }
    }

    /// Ends the use, also by whoever kept a reference.
    func end() { isOver = true }

    func requireUse() throws {
      guard !isOver else { throw StorageError(.closed, at: path, "The read or write is over.") }
      if let fault { throw fault }
    }

    func place(_ table: StorageTable, _ key: Int64) -> String { "\(path), \(table) \(key)" }

    func failure(_ code: Int32, at place: String) -> StorageError {
      note(SQLiteFault.error(code, on: database, at: place))
    }

    private func note(_ error: StorageError) -> StorageError {
      if fault == nil { fault = error }
      return error
    }

    /// Lends a prepared statement.
    func withStatement<Result>(_ sql: String, _ body: (LentStatement) throws -> Result) throws -> Result {
      try requireUse()
      let statement: Statement
      do {
        let cached = try database.cachedStatement(sql: sql)
        // Another one where a caller reads a table in the midst of reading it.
        let isInUse = unsafe sqlite3_stmt_busy(cached.sqliteStatement) != 0
        statement = isInUse ? try database.makeStatement(sql: sql) : cached
      } catch {
        let mapped = SQLiteFault.mapped(error, at: path)
        if let mapped = mapped as? StorageError { throw note(mapped) }
        throw mapped
      }
      return try withExtendedLifetime(statement) {
        let lent = unsafe LentStatement(statement.sqliteStatement)
        defer { lent.finish() }
        return try body(lent)
      }
    }

    /// Steps to the next row; whether there is one.
    func hasRow(_ statement: LentStatement, _ table: StorageTable, _ key: Int64) throws -> Bool {
      switch statement.step() {
      case SQLITE_ROW: return true
      case SQLITE_DONE: return false
      case let code: throw failure(code, at: place(table, key))
      }
    }

    /// Runs a statement that gives no rows.
    func run(_ sql: String, _ table: StorageTable, _ keys: ClosedRange<Int64>) throws {
      try withStatement(sql) { statement in
        statement.bind(keys.lowerBound, keys.upperBound)
        let code = statement.step()
        guard code == SQLITE_DONE else { throw failure(code, at: place(table, keys.lowerBound)) }
      }
    }

    /// The integer in the first row; `nil` where there is no row.
    func integer(_ sql: String, _ table: StorageTable, _ keys: ClosedRange<Int64>) throws -> Int64? {
      try withStatement(sql) { statement in
        statement.bind(keys.lowerBound, keys.upperBound)
        return try hasRow(statement, table, keys.lowerBound) ? statement.integer(0) : nil
      }
    }
  }

  extension SQLiteAccess: StorageReader {
    func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? {
      guard !TableStatements[table].isSegmented else {
        return try segmentedValue(table, key, bytes: 0..<Int.max)
      }
      return try withStatement(TableStatements[table].value) { statement in
        statement.bind(key)
        return try hasRow(statement, table, key) ? statement.blob(0) : nil
      }
    }

    func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]? {
      guard !TableStatements[table].isSegmented else { return try segmentedValue(table, key, bytes: range) }
      return try withBlob(table, key, writing: false) { blob in
        guard let blob else { return nil }
        let lower = min(max(0, range.lowerBound), blob.count)
        let upper = min(max(lower, range.upperBound), blob.count)
        return try blob.bytes(lower..<upper, orThrow: { failure($0, at: place(table, key)) })
      }
    }

    func forEach(
      _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
    ) throws {
      guard !TableStatements[table].isSegmented else { return try forEachSegmented(table, in: keys, body) }
      try withStatement(TableStatements[table].range) { statement in
        statement.bind(keys.lowerBound, keys.upperBound)
        while try hasRow(statement, table, keys.lowerBound) {
          guard let value = statement.blob(1) else { continue }
          guard try body(statement.integer(0), value) else { return }
        }
      }
    }

    func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64? {
      guard TableStatements[table].isSegmented else {
        return try integer(TableStatements[table].lastKey, table, keys)
      }
      guard let rows = Segments.rows(of: keys) else { return nil }
      return try integer(TableStatements[table].lastKey, table, rows).map(Segments.key(ofRow:))
    }
  }
#endif
