// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Copies the write-ahead log into the file.
///
/// Commits are appended to the log and copied later. After that, the log is written from its beginning again.
///
/// Copying runs concurrently with commits, on a connection of its own. Commits wait for it only if the log has become
/// twice as long as the length at which copying begins. Without that, the log would never be empty under steady load.
/// If the file allows only one connection, that connection copies the log when commits wait for it.
package final class LogCopying: Sendable {
  package let connection: Connection?
  private let limit: Int
  private let pageSize: Int
  private let length = LogLength()
  /// The length in bytes at which copying begins.
  ///
  /// It increases with every copy. Commits during the copy prevent the log from being restarted, and copying after
  /// each of them would need two syncs for each.
  private let copyingBegins: Atomic<Int>
  /// The length in bytes at which a commit waits for copying.
  private let waitingBegins: Atomic<Int>
  private let isCopying = Atomic<Bool>(false)

  /// - Parameters:
  ///   - connection: The connection that copies; `nil` if the connection that commits does.
  ///   - limit: The length of the log from which commits wait, in bytes.
  ///   - pageSize: The size of a page, in bytes.
  package init(on connection: Connection?, limit: Int, pageSize: Int) {
    self.connection = connection
    self.limit = limit
    self.pageSize = pageSize
    waitingBegins = Atomic(limit)
    copyingBegins = Atomic(limit / 2)
  }

  /// Observes the commits of the writing connection.
  package func observe(_ database: Database) throws(SQLiteError) { try length.observe(database) }

  /// Copies the log after a commit if it has become long.
  ///
  /// A failed sync is reported to `stop`, possibly from another thread. Other errors leave the log as it is, so that
  /// every commit is safe, and copying is retried.
  package func didCommit(_ database: Database, stop: @escaping @Sendable (SQLiteError) -> Void) {
    let length = length.pages * pageSize
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

  /// Closes the connection that copies, after a copy in progress.
  func close() throws(SQLiteError) { try connection?.close() }

  private static func copy(_ database: Database, stop: (SQLiteError) -> Void) {
    do throws(SQLiteError) {
      try database.checkpoint(.passive)
    } catch {
      if error.code == .syncFailed { stop(error) }
    }
  }
}
