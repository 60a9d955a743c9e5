// SPDX-License-Identifier: Apache-2.0

internal import SQLite
internal import Synchronization

/// SQLite's write-ahead log. Commits are appended to it and synced separately. When it has grown long, it is copied
/// into the file.
final class RecordLog: Sendable {
  /// The number of pages that starts a checkpoint.
  private static let limit = 1024

  private let length = LogLength()
  /// The number of pages that starts the next checkpoint.
  private let next = Atomic<Int>(RecordLog.limit)
  /// The log, for syncing it; `nil` until the file is open.
  private let file = Mutex<LogFile?>(nil)
  /// The number of commits.
  private let commits = Atomic<UInt64>(0)
  /// Locked during a sync, which one thread makes for all waiters.
  private let synced = Mutex(Synced())

  private struct Synced {
    /// The number of commits that are on disk.
    var commits: UInt64 = 0
    /// The error of a failed sync. The system may have dropped the unwritten data, and would report success to the
    /// next sync.
    var failure: SQLiteError?
  }

  func observe(_ database: Database) throws(SQLiteError) {
    try length.observe(database)
    let opened = try LogFile(of: database)
    file.withLock { $0 = opened }
  }

  func countCommit() { commits.add(1, ordering: .releasing) }

  /// Returns when every commit before the call is on disk.
  ///
  /// - Throws: ``SQLiteError`` with `syncFailed`, and from then on for every call.
  func synchronize() throws(SQLiteError) {
    let wanted = commits.load(ordering: .acquiring)
    let log = file.withLock { $0 }
    let failure = synced.withLock { synced -> SQLiteError? in
      guard synced.failure == nil, synced.commits < wanted else { return synced.failure }
      let reached = commits.load(ordering: .acquiring)
      do throws(SQLiteError) {
        try log?.synchronize()
        synced.commits = reached
      } catch {
        synced.failure = error
      }
      return synced.failure
    }
    if let failure { throw failure }
  }

  /// Copies the log into the file after a commit, if the log has grown long.
  func didCommit(_ database: Database) throws(SQLiteError) {
    guard length.pages >= next.load(ordering: .relaxed) else { return }
    // After a failure, not every commit retries.
    next.store(length.pages + Self.limit, ordering: .relaxed)
    try database.checkpoint(.passive)
    next.store(Self.limit, ordering: .relaxed)
  }

  /// Copies the log of a crashed process into the file.
  ///
  /// If a sync failed in that process, the log may be in the page cache without being on disk. Commits that are
  /// appended to it would then be lost together with its beginning.
  static func copyLeftLog(_ database: Database) throws(SQLiteError) {
    guard try LogFile(of: database).byteCount > 0 else { return }
    do throws(SQLiteError) {
      try database.checkpoint(.truncate)
    } catch {
      if error.code != .full { throw error }
    }
  }
}
