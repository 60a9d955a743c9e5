// SPDX-License-Identifier: Apache-2.0

internal import SQLite
internal import Synchronization

/// Checkpoints of SQLite's write-ahead log: commits are appended to it, and copied into the file when it has grown.
final class RecordLog: Sendable {
  /// The number of pages that starts a checkpoint.
  private static let limit = 1024

  private let length = LogLength()
  /// The number of pages that starts the next checkpoint.
  private let next = Atomic<Int>(RecordLog.limit)

  func observe(_ database: Database) throws(SQLiteError) { try length.observe(database) }

  /// Copies the log into the file after a commit, if it has grown long.
  func didCommit(_ database: Database) throws(SQLiteError) {
    guard length.pages >= next.load(ordering: .relaxed) else { return }
    // After a failure not every commit tries again.
    next.store(length.pages + Self.limit, ordering: .relaxed)
    try database.checkpoint(.passive)
    next.store(Self.limit, ordering: .relaxed)
  }

  /// Copies the log of a process that crashed into the file.
  ///
  /// If a sync failed in that process, the log may be in the page cache without being on disk. Appended commits would
  /// then be lost together with its beginning.
  static func copyLeftLog(_ database: Database) throws(SQLiteError) {
    guard try LogFile(of: database).byteCount > 0 else { return }
    do throws(SQLiteError) {
      try database.checkpoint(.truncate)
    } catch {
      if error.code != .full { throw error }
    }
  }
}
