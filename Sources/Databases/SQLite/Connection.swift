// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// A connection to a database. One thread at a time uses it; the others wait.
package final class Connection {
  /// The options with which a connection is opened.
  package enum Access: Sendable {
    case writing
    case reading
    /// For a file that nobody changes while it is open: then nothing but the file is read.
    case readingImmutable
  }

  /// The setting with which commits are on disk when they return.
  package static let durability = """
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;

    """

  private let queue = DispatchQueue(label: "receipt-kit.sqlite")
  private let database: Database

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - access: What for.
  ///   - timeout: How long to wait for others.
  ///   - pragmas: What is run first.
  /// - Throws: ``SQLiteError`` with `occupied` where it is no SQLite database.
  package init(
    _ file: DatabaseFile, _ access: Access, timeout: BusyTimeout, pragmas: String
  ) throws(SQLiteError) {
    database = try Database(file, access, timeout: timeout)
    do throws(SQLiteError) {
      // Pages of mapped files and temporary files would count as memory and escape erasing.
      try database.execute(
        "PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; \(pragmas)")
      // SQLite reads nothing before.
      try database.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    } catch {
      guard database.isOfAnotherFormat else { throw error }
      throw SQLiteError(.occupied, at: file.path, "It is not an SQLite database.")
    }
  }

  /// Runs `body` when nobody else uses the connection. Not to be called within `body`.
  package func use<Result>(_ body: (Database) throws -> Result) rethrows -> Result {
    try queue.sync { try body(database) }
  }

  /// Runs `body` later, on another thread, when nobody else uses the connection.
  package func useLater(_ body: @escaping @Sendable (Database) -> Void) {
    queue.async { body(self.database) }
  }

  /// Closes the connection; later uses of it fail with `closed`.
  ///
  /// - Throws: ``SQLiteError``.
  package func close() throws(SQLiteError) {
    let result = queue.sync { () -> Result<Void, SQLiteError> in
      do throws(SQLiteError) {
        try database.close()
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}

// The queue lets one thread at a time have the database.
extension Connection: @unchecked Sendable {}
