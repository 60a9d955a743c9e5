// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail

/// The SQL of one table.
///
/// A row whose value is NULL is not there: it is what stays of a value that was erased. SQLite moves rows between
/// pages when rows are deleted, and leaves copies in the free space of the old pages which no later overwriting
/// reaches. Rows are not moved when a value only shrinks.
struct TableStatements: Sendable {
  let name: String
  /// Indicates whether a value is several rows; ``Segments``.
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
    // typeof() does not read the value, IS NOT NULL does.
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
