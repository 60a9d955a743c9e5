// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ReceiptBytes
internal import Synchronization

/// The write-ahead log of an open database. It can be synced while SQLite processes the next commits.
///
/// SQLite locks the database file and never its log, so closing this file releases no lock. The log remains the same
/// file as long as a connection is open.
package final class LogFile: Sendable {
  /// The path of the log. If the database's path is a symbolic link, the log is beside the file that the link points
  /// to.
  package let path: String
  private let file: File

  /// Opens the log of a database from which something has been read.
  ///
  /// - Throws: ``SQLiteError`` with `inputOutput`.
  package init(of database: Database) throws(SQLiteError) {
    guard let name = unsafe sqlite3_db_filename(try database.requireHandle(), "main"),
      let log = unsafe sqlite3_filename_wal(name)
    else { throw SQLiteError(.inputOutput, at: "log", "The database is in no file.") }
    path = unsafe String(cString: log)
    do throws(SystemError) {
      file = try File(path, .reading)
    } catch {
      throw SQLiteError(.inputOutput, at: path, "It cannot be opened: \(error.reason).")
    }
  }

  /// The length of the log, in bytes.
  package var byteCount: UInt64 { file.status?.byteCount ?? .max }

  /// Returns when every commit that was in the log before the call is on disk.
  ///
  /// - Throws: ``SQLiteError`` with `syncFailed`. Do not retry a failed sync: the system may have dropped the data
  ///   that it could not write, and would report success.
  package func synchronize() throws(SQLiteError) {
    do throws(SystemError) {
      try file.synchronizeContents()
    } catch {
      throw SQLiteError(.syncFailed, at: path, "It cannot be synced: \(error.reason).")
    }
  }
}

/// The length of a log in pages after the last commit of a connection.
package final class LogLength: Sendable {
  private let count = Atomic<Int>(0)

  package init() {}

  /// Observes the commits of a connection, which must not outlive this object.
  package func observe(_ database: Database) throws(SQLiteError) { try database.observeCommits(self) }

  func set(_ pages: Int) { count.store(pages, ordering: .relaxed) }

  package var pages: Int { count.load(ordering: .relaxed) }
}
