// SPDX-License-Identifier: Apache-2.0

package import AuditTrail
internal import SQLite

/// A table that is written once, row by row, into a new file, to export data. The first column is the primary key.
/// Integer columns have the affinity `INTEGER`, so that decimal text becomes a number if it fits in 64 bits. All other
/// columns have the affinity `TEXT`.
package final class SQLiteTable {
  private let path: String
  private let name: String
  private let connection: Connection
  private let insertion: String

  /// Creates the table. Throws ``StorageError``: `full`, `inputOutput`, `syncFailed`.
  package init(
    inEmptyFile path: String, name: String, columns: [String], integers: Set<String>
  ) throws(StorageError) {
    self.path = path
    self.name = name
    do {
      // The file is not visible before it is complete, so it needs no journal on disk, and the caller syncs it. The
      // journal in memory stays empty, because it holds only pages that existed before.
      connection = try Connection(
        DatabaseFile(path), .writing, timeout: BusyTimeout(.seconds(1)),
        pragmas: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096")
    } catch { throw Self.error(error, at: path) }
    let definitions = columns.enumerated().map { position, column in
      "\(column.quotedIdentifier) \(integers.contains(column) ? "INTEGER" : "TEXT")"
        + (position == 0 ? " PRIMARY KEY" : "")
    }
    let table = name.quotedIdentifier
    insertion = "INSERT INTO \(table) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
    try perform {
      try $0.execute("BEGIN; CREATE TABLE \(table) (\(definitions.joined(separator: ", ")))")
    }
  }

  package func insert(_ values: [String?]) throws(StorageError) {
    try perform { database in
      try database.withStatement(insertion) { statement in
        for (position, value) in values.enumerated() { try statement.bind(value, at: Int32(position + 1)) }
        _ = try statement.step()
      }
    }
  }

  /// Creates an index on each named column, and closes the file.
  package func finish(indexing columns: [String]) throws(StorageError) {
    try perform { database in
      for column in columns {
        try database.execute(
          """
          CREATE INDEX \("\(name) by \(column)".quotedIdentifier)
          ON \(name.quotedIdentifier) (\(column.quotedIdentifier))
          """)
      }
      try database.execute("COMMIT")
    }
    do { try connection.close() } catch { throw Self.error(error, at: path) }
  }

  private func perform(_ body: (Database) throws -> Void) throws(StorageError) {
    do { try connection.use(body) } catch { throw Self.error(error, at: path) }
  }

  private static func error(_ error: any Error, at path: String) -> StorageError {
    (error as? SQLiteError).map(StorageError.init)
      ?? StorageError(.inputOutput, at: path, "It cannot be written: \(error)")
  }
}
