// SPDX-License-Identifier: Apache-2.0

#if SQLite
  package import AuditTrail
  internal import GRDB
  internal import SQLiteFiles

  /// A table that is written once, row by row, into a file that nobody else has: for giving data to others.
  ///
  /// The first column is the primary key. A column of integers has the affinity `INTEGER`, so that decimal text becomes a
  /// number as far as it fits 64 bits; all others have `TEXT`.
  package final class SQLiteTable {
    private let path: String
    private let name: String
    private let queue: DatabaseQueue
    private let insertion: String

    /// Makes the table.
    ///
    /// - Throws: ``StorageError``: `full`, `inputOutput`, `syncFailed`.
    package init(
      inEmptyFile path: String, name: String, columns: [String], integers: Set<String>
    ) throws(StorageError) {
      self.path = path
      self.name = name
      queue = try SQLiteFault.mapping { () throws(DatabaseFault) in
        // Nobody sees the file before it is complete: it needs no journal, and its maker syncs it.
        try DatabaseConnection.open(
          DatabaseFile(path), patience: Patience(.seconds(1)),
          pragmas: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096")
      }
      let definitions = columns.enumerated().map { position, column in
        "\(column.quotedDatabaseIdentifier) \(integers.contains(column) ? "INTEGER" : "TEXT")"
          + (position == 0 ? " PRIMARY KEY" : "")
      }
      let table = name.quotedDatabaseIdentifier
      insertion =
        "INSERT INTO \(table) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
      try perform {
        try $0.execute(sql: "BEGIN; CREATE TABLE \(table) (\(definitions.joined(separator: ", ")))")
      }
    }

    /// Adds a row.
    ///
    /// - Throws: ``StorageError``, as the initializer.
    package func insert(_ values: [String?]) throws(StorageError) {
      try perform { database in
        try database.cachedStatement(sql: insertion).execute(arguments: StatementArguments(values))
      }
    }

    /// Makes an index of each column named, and ends the use of the file.
    ///
    /// - Throws: ``StorageError``, as the initializer.
    package func finish(indexing columns: [String]) throws(StorageError) {
      try perform { database in
        for column in columns {
          try database.execute(
            sql: """
              CREATE INDEX \("\(name) by \(column)".quotedDatabaseIdentifier)
              ON \(name.quotedDatabaseIdentifier) (\(column.quotedDatabaseIdentifier))
              """)
        }
        try database.execute(sql: "COMMIT")
      }
      do { try queue.close() } catch { throw Self.fault(error, path) }
    }

    private func perform(_ body: (Database) throws -> Void) throws(StorageError) {
      do { try queue.inDatabase(body) } catch { throw Self.fault(error, path) }
    }

    private static func fault(_ error: any Error, _ path: String) -> StorageError {
      SQLiteFault.mapped(error, at: path) as? StorageError
        ?? StorageError(.inputOutput, at: path, "It cannot be written: \(error)")
    }
  }
#endif
