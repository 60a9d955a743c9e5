// SPDX-License-Identifier: Apache-2.0

internal import SQLite

/// The single table of the file. Texts are stored as bytes, so SQLite orders them by bytes.
enum RecordTable {
  /// The format: the application identifier "RKRS", and the table.
  ///
  /// A file is used by one process, because the process keeps the file's state in memory.
  static let format = DatabaseFormat(
    layout: DatabaseLayout(applicationID: 0x524B_5253, version: 1, statements: [create]),
    sharing: .exclusive, synchronization: .deferred, pageSize: 4096, logLimit: 4 << 20,
    pragmas: "PRAGMA cache_size = -4096; PRAGMA journal_size_limit = 8388608;",
    reopening: "Open the storage anew.")

  private static let create = """
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
}
