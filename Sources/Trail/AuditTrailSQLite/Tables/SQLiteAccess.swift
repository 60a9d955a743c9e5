// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

/// The tables within one transaction.
final class SQLiteAccess {
  let database: Database
  /// The first error. SQLite may have rolled the transaction back because of it, and further changes would be made
  /// outside of the transaction. All later calls therefore throw this error.
  private(set) var fault: StorageError?
  private var isOver = false

  init(_ database: Database) { self.database = database }

  /// Runs `body` on one snapshot.
  ///
  /// - Throws: `StorageError`, and any error from `body`.
  static func reading<Result>(
    _ database: Database, _ body: (any StorageReader) throws -> Result
  ) throws -> Result {
    let access = SQLiteAccess(database)
    try database.run("BEGIN")
    defer {
      access.end()
      database.rollBack()
    }
    return try body(access)
  }

  /// Ends the access, even for references that were kept.
  func end() { isOver = true }

  private func requireUse() throws {
    guard !isOver else { throw StorageError(.closed, at: database.path, "The read or write is over.") }
    if let fault { throw fault }
  }

  func place(_ table: StorageTable, _ key: Int64) -> String { "\(database.path), \(table) \(key)" }

  /// Runs `body`, and throws its SQLite errors with the place of a value. The first one is remembered.
  func at<Result>(_ table: StorageTable, _ key: Int64, _ body: () throws -> Result) throws -> Result {
    try requireUse()
    do {
      return try body()
    } catch let error as SQLiteError {
      let failure = StorageError(error.at(place(table, key)))
      if fault == nil { fault = failure }
      throw failure
    }
  }

  /// Runs `body` with a prepared statement.
  func withStatement<Result>(
    _ sql: String, _ table: StorageTable, _ key: Int64, _ body: (Statement) throws -> Result
  ) throws -> Result {
    try at(table, key) { try database.withStatement(sql, body) }
  }

  /// Opens the value of the row `key`; `nil` if there is no such value.
  func blob(_ table: StorageTable, _ key: Int64, writing: Bool) throws -> Blob? {
    let statements = TableStatements[table]
    return try database.blob(statements.name, "value", row: key, writing: writing) {
      try integer(statements.lastKey, table, key...key) != nil
    }
  }

  /// Runs a statement that returns no rows.
  func run(_ sql: String, _ table: StorageTable, _ keys: ClosedRange<Int64>) throws {
    _ = try withStatement(sql, table, keys.lowerBound) { statement in
      statement.bind(keys.lowerBound, keys.upperBound)
      return try statement.step()
    }
  }

  /// The integer in the first row; `nil` if there is no row.
  func integer(_ sql: String, _ table: StorageTable, _ keys: ClosedRange<Int64>) throws -> Int64? {
    try withStatement(sql, table, keys.lowerBound) { statement in
      statement.bind(keys.lowerBound, keys.upperBound)
      return try statement.step() ? statement.integer(0) : nil
    }
  }
}

extension SQLiteAccess: StorageReader {
  func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? {
    guard !TableStatements[table].isSegmented else {
      return try segmentedValue(table, key, bytes: 0..<Int.max)
    }
    return try withStatement(TableStatements[table].value, table, key) { statement in
      statement.bind(key)
      return try statement.step() ? statement.blob(0) : nil
    }
  }

  func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]? {
    guard !TableStatements[table].isSegmented else { return try segmentedValue(table, key, bytes: range) }
    return try at(table, key) {
      guard let blob = try blob(table, key, writing: false) else { return nil }
      let lower = min(max(0, range.lowerBound), blob.count)
      return try blob.bytes(lower..<min(max(lower, range.upperBound), blob.count))
    }
  }

  func forEach(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
  ) throws {
    guard !TableStatements[table].isSegmented else { return try forEachSegmented(table, in: keys, body) }
    try withStatement(TableStatements[table].range, table, keys.lowerBound) { statement in
      statement.bind(keys.lowerBound, keys.upperBound)
      while try statement.step() {
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
