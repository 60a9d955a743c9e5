// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Copying the write-ahead log into the file: commits go to its end and are copied later, from which on the log is
/// written from its beginning again.
///
/// Copying goes on beside the commits, on a connection of its own. Commits wait for it only when the log has become
/// twice as long as where copying begins; left alone, it would never be empty under steady load.
package final class LogCopying: Sendable {
  package let connection: Connection
  private let limit: Int
  private let pageSize: Int
  private let length = LogLength()
  /// At how many bytes copying begins. It moves on with every copy: commits that come meanwhile keep the log from
  /// being written from its beginning, and copying after each of them would sync twice for each.
  private let copyingBegins: Atomic<Int>
  /// At how many bytes a commit waits for copying.
  private let waitingBegins: Atomic<Int>
  private let isCopying = Atomic<Bool>(false)

  /// - Parameters:
  ///   - connection: What copies.
  ///   - limit: How long the log grows before commits wait, in bytes.
  ///   - pageSize: The bytes of a page.
  package init(on connection: Connection, limit: Int, pageSize: Int) {
    self.connection = connection
    self.limit = limit
    self.pageSize = pageSize
    waitingBegins = Atomic(limit)
    copyingBegins = Atomic(limit / 2)
  }

  /// Observes the commits of the connection that writes.
  package func observe(_ database: Database) throws(SQLiteError) { try length.observe(database) }

  /// Copies the log after a commit, where it has grown long.
  ///
  /// A sync that fails goes to `stop`, from another thread where need be. Other errors leave the log as it is,
  /// where every commit is safe, and copying is tried again.
  package func didCommit(_ database: Database, stop: @escaping @Sendable (SQLiteError) -> Void) {
    let length = length.pages * pageSize
    if length >= waitingBegins.load(ordering: .relaxed) {
      connection.use { _ in }
      Self.copy(database, stop: stop)
      // A long read keeps the log from being emptied: do not try at every commit.
      waitingBegins.store(length + limit / 4, ordering: .relaxed)
    } else if length >= copyingBegins.load(ordering: .relaxed), !isCopying.exchange(true, ordering: .relaxed)
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
