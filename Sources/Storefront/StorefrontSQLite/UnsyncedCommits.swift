// SPDX-License-Identifier: Apache-2.0

internal import SQLite
internal import Synchronization

/// The commits of a file that are not on disk yet. One sync serves all that wait for it.
final class UnsyncedCommits: Sendable {
  /// The number of commits.
  private let commits = Atomic<UInt64>(0)
  /// The number of commits that are on disk. Locked during a sync.
  private let synced = Mutex<UInt64>(0)

  func add() { commits.add(1, ordering: .releasing) }

  /// Returns when every commit before the call is on disk.
  ///
  /// - Throws: ``SQLiteError`` with `syncFailed`, and from then on for every call; or `closed`.
  func synchronize(_ writer: DatabaseWriter) throws(SQLiteError) {
    let wanted = commits.load(ordering: .acquiring)
    try synced.withLock { synced throws(SQLiteError) in
      try writer.requireUsable()
      guard synced < wanted else { return }
      let reached = commits.load(ordering: .acquiring)
      try writer.synchronize()
      synced = reached
    }
  }
}
