// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import GRDB
  internal import SQLiteFiles

  /// The one table of the file. Texts are stored as bytes, by which SQLite orders them.
  enum RecordTable {
    /// "RKRS": what the file says it is (`PRAGMA application_id`).
    static let applicationID: Int32 = 0x524B_5253

    /// The layout of the table (`PRAGMA user_version`).
    static let layoutVersion: Int32 = 1

    static let create = """
      CREATE TABLE records(collection BLOB NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, \
      PRIMARY KEY (collection, key)) STRICT, WITHOUT ROWID
      """
    static let first = "SELECT key, value FROM records WHERE collection = ?1 ORDER BY key"
    static let after = "SELECT key, value FROM records WHERE collection = ?1 AND key > ?2 ORDER BY key"
    static let value = "SELECT value FROM records WHERE collection = ?1 AND key = ?2"
    static let put = "INSERT OR REPLACE INTO records(collection, key, value) VALUES (?1, ?2, ?3)"
    static let remove = "DELETE FROM records WHERE collection = ?1 AND key = ?2"

    /// Makes the table in an empty file.
    static func make(_ database: Database) throws {
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      try database.inTransaction(.immediate) {
        try database.execute(
          sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(layoutVersion); \(create)")
        return .commit
      }
    }

    /// Refuses what is not such a file.
    static func check(_ database: Database, path: String) throws {
      let application = try Int32.fetchOne(database, sql: "PRAGMA application_id")
      guard application == applicationID else {
        throw DatabaseFault(.occupied, at: path, "It is an SQLite database of another application.")
      }
      let version = try Int32.fetchOne(database, sql: "PRAGMA user_version")
      guard version == layoutVersion else {
        throw DatabaseFault(
          .unsupported, at: path,
          "Its layout is of version \(version ?? 0); this build knows version \(layoutVersion).")
      }
      let tables = try String.fetchAll(database, sql: "SELECT sql FROM sqlite_schema WHERE type = 'table'")
      guard tables == [create] else {
        throw DatabaseFault(.corrupt, at: path, "Its table is not that of records. Restore it from a backup.")
      }
      guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
        throw DatabaseFault(
          .inputOutput, at: path, "It cannot be put into write-ahead mode: is it writable?")
      }
    }
  }
#endif
