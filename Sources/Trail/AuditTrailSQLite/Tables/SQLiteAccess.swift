// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

final class SQLiteAccess {
  let database: Database
  /// The first error. SQLite may have rolled the transaction back because of it, and further changes would be made
  /// outside of the transaction. All later calls therefore throw this error.
  private(set) var fault: StorageError?
  private var isOver = false

  init(_ database: Database) { self.database = database }

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

extension SQLiteAccess: StorageWriter {
  func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws {
    guard !TableStatements[table].isSegmented else { return try putSegments(table, key, value) }
    try withStatement(TableStatements[table].put, table, key) { statement in
      statement.bind(key)
      try statement.step(binding: value, value.indices)
    }
  }

  func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
    guard !TableStatements[table].isSegmented else {
      return try overwriteSegments(table, key, at: offset, with: bytes)
    }
    try at(table, key) {
      let blob = try blob(table, key, writing: true)
      try requireRoom(for: bytes, at: offset, of: blob?.count, table, key)
      try blob?.write(bytes, at: offset)
    }
  }

  /// Throws if there is no value, or the bytes at `offset` would extend beyond the end of its `count` bytes.
  func requireRoom(
    for bytes: [UInt8], at offset: Int, of count: Int?, _ table: StorageTable, _ key: Int64
  ) throws {
    guard let count else {
      throw StorageError(.corrupt, at: place(table, key), "There is no value to overwrite.")
    }
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
    // `ON` zeroes all space that becomes free; `FAST` only zeroes it in pages that are written anyway.
    try at(table, keys.lowerBound) { try database.execute("PRAGMA secure_delete = ON") }
    defer { try? database.execute("PRAGMA secure_delete = FAST") }
    if try integer(statements.hasOthers, table, keys) == 0 {
      // This zeroes every page of the table, including free space and remains of erased rows.
      try at(table, keys.lowerBound) { try database.run(statements.clear) }
    } else {
      try run(statements.erase, table, keys)
      // Merged index runs have many rows, which hold only fingerprints. They are removed, because their space is
      // needed again.
      if table == .pages || table == .runs || table == .personal { try run(statements.remove, table, keys) }
    }
  }
}

/// The SQL statements of one table. A row with the value NULL counts as absent: it is the remainder of an erased value.
/// Erased rows are not deleted, because SQLite then moves rows between pages and leaves copies in the free space of the
/// old pages. No later overwriting reaches these copies. SQLite does not move rows if a value only shrinks.
struct TableStatements: Sendable {
  let name: String
  /// Indicates whether a value is stored in several rows; see ``Segments``.
  let isSegmented: Bool
  let create, value, range, lastKey, put, remove, erase, hasOthers, clear: String

  private init(_ table: StorageTable) {
    name = "\(table)"
    isSegmented = table == .bundles
    create = "CREATE TABLE \(name)(key INTEGER PRIMARY KEY, value BLOB) STRICT"
    value = "SELECT value FROM \(name) WHERE key = ?1"
    range = "SELECT key, value FROM \(name) WHERE key BETWEEN ?1 AND ?2 ORDER BY key"
    // typeof() does not read the value, unlike IS NOT NULL.
    lastKey = """
      SELECT key FROM \(name) WHERE key BETWEEN ?1 AND ?2 AND typeof(value) = 'blob'
      ORDER BY key DESC LIMIT 1
      """
    put = "INSERT OR REPLACE INTO \(name)(key, value) VALUES (?1, ?2)"
    remove = "DELETE FROM \(name) WHERE key BETWEEN ?1 AND ?2"
    erase = "UPDATE \(name) SET value = NULL WHERE key BETWEEN ?1 AND ?2 AND typeof(value) = 'blob'"
    hasOthers = """
      SELECT EXISTS (SELECT 1 FROM \(name) WHERE key < ?1 AND typeof(value) = 'blob')
      OR EXISTS (SELECT 1 FROM \(name) WHERE key > ?2 AND typeof(value) = 'blob')
      """
    clear = "DELETE FROM \(name)"
  }

  private static let all = StorageTable.allCases.map(TableStatements.init)

  static subscript(_ table: StorageTable) -> TableStatements { all[table.rawValue] }
}
