// SPDX-License-Identifier: Apache-2.0

internal import SQLite

/// The single table of the file. Texts are stored as bytes, so that SQLite orders them by bytes.
enum RecordTable {
  /// "RKRS": the type of the file (`PRAGMA application_id`).
  static let applicationID: Int64 = 0x524B_5253

  /// The layout of the table (`PRAGMA user_version`).
  static let layoutVersion: Int64 = 1

  static let create = """
    CREATE TABLE records(collection BLOB NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, \
    PRIMARY KEY (collection, key)) STRICT, WITHOUT ROWID
    """
  static let first = "SELECT key, value FROM records WHERE collection = ?1 ORDER BY key"
  static let after = "SELECT key, value FROM records WHERE collection = ?1 AND key > ?2 ORDER BY key"
  static let last = "SELECT key, value FROM records WHERE collection = ?1 ORDER BY key DESC"
  static let before = "SELECT key, value FROM records WHERE collection = ?1 AND key < ?2 ORDER BY key DESC"
  static let value = "SELECT value FROM records WHERE collection = ?1 AND key = ?2"
  static let put = "INSERT OR REPLACE INTO records(collection, key, value) VALUES (?1, ?2, ?3)"
  static let remove = "DELETE FROM records WHERE collection = ?1 AND key = ?2"

  /// Makes the table in an empty file.
  static func make(_ database: Database) throws {
    try database.execute("PRAGMA journal_mode = WAL")
    try database.transaction {
      try database.execute(
        "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(layoutVersion); \(create)")
    }
  }

  /// Refuses other files.
  static func check(_ database: Database) throws {
    guard try database.integer("PRAGMA application_id") == applicationID else {
      throw SQLiteError(.occupied, at: database.path, "It is an SQLite database of another application.")
    }
    let version = try database.integer("PRAGMA user_version")
    guard version == layoutVersion else {
      throw SQLiteError(
        .unsupported, at: database.path,
        "Its layout is of version \(version ?? 0); this build knows version \(layoutVersion).")
    }
    let tables = try database.texts("SELECT sql FROM sqlite_schema WHERE type = 'table'")
    guard tables == [create] else {
      throw SQLiteError(
        .corrupt, at: database.path, "Its table is not that of records. Restore it from a backup.")
    }
    guard try database.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
      throw SQLiteError(
        .inputOutput, at: database.path, "It cannot be put into write-ahead mode: is it writable?")
    }
  }
}
