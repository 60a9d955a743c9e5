// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail

/// The SQL statements of one table.
///
/// A row with the value NULL counts as absent: it is the remainder of an erased value. Erased rows are not deleted,
/// because SQLite then moves rows between pages and leaves copies in the free space of the old pages. No later
/// overwriting reaches these copies. SQLite does not move rows if a value only shrinks.
struct TableStatements: Sendable {
  let name: String
  /// Indicates whether a value is stored in several rows; see ``Segments``.
  let isSegmented: Bool
  let create: String
  let value: String
  let range: String
  let lastKey: String
  let put: String
  let remove: String
  let erase: String
  let hasOthers: String
  let clear: String

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
