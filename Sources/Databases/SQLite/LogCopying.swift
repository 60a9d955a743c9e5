// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ReceiptBytes
internal import Synchronization

/// Copies the write-ahead log into the file.
///
/// Commits are appended to the log and copied later. After that, the log is written from its beginning again.
///
/// Copying runs concurrently with commits, on a connection of its own. Commits wait for it only if the log has become
/// twice as long as the length at which copying begins. Without that, the log would never be empty under steady load.
/// If the file allows only one connection, that connection copies the log when commits wait for it.
package final class LogCopying: Sendable {
  /// The connection that copies; `nil` if the connection that commits does.
  package let connection: Connection?
  /// The length of the log from which commits wait, in bytes.
  private let limit: Int
  private let pageSize: Int
  /// The length of the log after the last commit, in pages.
  private let pageCount = Atomic<Int>(0)
  /// The length in bytes at which copying begins. It increases with every copy. Commits during the copy prevent the log
  /// from being restarted, and copying after each of them would need two syncs for each.
  private let copyingBegins: Atomic<Int>
  /// The length in bytes at which a commit waits for copying.
  private let waitingBegins: Atomic<Int>
  private let isCopying = Atomic<Bool>(false)

  init(on connection: Connection?, limit: Int, pageSize: Int) {
    self.connection = connection
    self.limit = limit
    self.pageSize = pageSize
    waitingBegins = Atomic(limit)
    copyingBegins = Atomic(limit / 2)
  }

  func setPageCount(_ count: Int) { pageCount.store(count, ordering: .relaxed) }

  /// Copies the log after a commit if it has become long. A failed sync is reported to `stop`, possibly from another
  /// thread. Other errors leave the log as it is, so that every commit is safe, and copying is retried.
  func didCommit(_ database: Database, stop: @escaping @Sendable (SQLiteError) -> Void) {
    let length = pageCount.load(ordering: .relaxed) * pageSize
    if length >= waitingBegins.load(ordering: .relaxed) {
      connection?.use { _ in }
      Self.copy(database, stop: stop)
      // A long read prevents the log from being emptied, so copying is not retried at every commit.
      waitingBegins.store(length + limit / 4, ordering: .relaxed)
    } else if let connection, length >= copyingBegins.load(ordering: .relaxed),
      !isCopying.exchange(true, ordering: .relaxed)
    {
      copyingBegins.store(length + limit / 8, ordering: .relaxed)
      connection.useLater { copying in
        Self.copy(copying, stop: stop)
        self.isCopying.store(false, ordering: .relaxed)
      }
    }
    if length < limit / 2 {
      waitingBegins.store(limit, ordering: .relaxed)
      copyingBegins.store(limit / 2, ordering: .relaxed)
    }
  }

  private static func copy(_ database: Database, stop: (SQLiteError) -> Void) {
    do throws(SQLiteError) {
      try database.checkpoint(.passive)
    } catch {
      if error.code == .syncFailed { stop(error) }
    }
  }
}

/// The write-ahead log of an open database. It can be synced while SQLite processes the next commits. SQLite locks the
/// database file and never its log, so closing this file releases no lock. The log remains the same file as long as a
/// connection is open.
package final class LogFile: Sendable {
  /// The path of the log. If the database's path is a symbolic link, the log is beside the file that the link points
  /// to.
  package let path: String
  private let file: File

  /// Opens the log of a database from which something has been read.
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
