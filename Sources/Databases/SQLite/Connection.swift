// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// A connection to a database. One thread at a time uses it, and others wait.
package final class Connection {
  /// The pragmas that make commits durable when they return.
  package static let durability = """
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;

    """

  private let queue = DispatchQueue(label: "receipt-kit.sqlite")
  private let database: Database

  /// Opens a file, and runs the SQL statements `pragmas` first. Throws ``SQLiteError`` with `occupied` if the file is
  /// not an SQLite database.
  package init(
    _ file: DatabaseFile, _ access: Access, timeout: BusyTimeout, pragmas: String
  ) throws(SQLiteError) {
    database = try Database(file, access, timeout: timeout)
    do throws(SQLiteError) {
      // Mapped pages would count as memory of the process, and erasing would not reach temporary files.
      try database.execute(
        "PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; \(pragmas)")
      // SQLite does not read the file before this statement.
      try database.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    } catch {
      guard database.isOfAnotherFormat else { throw error }
      throw SQLiteError(.occupied, at: file.path, "It is not an SQLite database.")
    }
  }

  /// Runs `body` while no other thread uses the connection. Do not call it within `body`.
  package func use<Result>(_ body: (Database) throws -> Result) rethrows -> Result {
    try queue.sync { try body(database) }
  }

  /// Runs `body` later on another thread, while no other thread uses the connection.
  package func useLater(_ body: @escaping @Sendable (Database) -> Void) {
    queue.async { body(self.database) }
  }

  /// Closes the connection. Later uses fail with `closed`.
  package func close() throws { try queue.sync { try database.close() } }
}

// The queue ensures that only one thread at a time uses the database.
extension Connection: @unchecked Sendable {}
