// SPDX-License-Identifier: Apache-2.0

internal import SQLite

/// The single table of the file. Texts are stored as bytes, so SQLite orders them by bytes.
enum RecordTable {
  /// The layout: the application identifier "RKRS", and the table.
  static let layout = DatabaseLayout(applicationID: 0x524B_5253, version: 1, statements: [create])

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

  /// Creates the table in an empty file.
  static func make(_ database: Database) throws {
    try database.execute("PRAGMA journal_mode = WAL")
    try database.transaction { try layout.make(in: database) }
  }

  /// Checks that a file has the layout, and refuses other files.
  static func check(_ database: Database) throws {
    try layout.require(in: database)
    guard try database.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
      throw SQLiteError(
        .inputOutput, at: database.path, "It cannot be put into write-ahead mode: is it writable?")
    }
  }
}
