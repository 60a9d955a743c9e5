// SPDX-License-Identifier: Apache-2.0

internal import SQLite
internal import Synchronization

/// SQLite's write-ahead log: commits go to its end, and are copied into the file when it has grown.
final class RecordLog: Sendable {
  /// From how many pages on it is copied.
  private static let limit = 1024

  private let length = LogLength()
  /// At how many pages it is tried next.
  private let next = Atomic<Int>(RecordLog.limit)

  func observe(_ database: Database) throws(SQLiteError) { try length.observe(database) }

  /// Copies the log into the file after a commit, where it has grown long.
  func didCommit(_ database: Database) throws(SQLiteError) {
    guard length.pages >= next.load(ordering: .relaxed) else { return }
    // Where it fails, not every commit tries it again.
    next.store(length.pages + Self.limit, ordering: .relaxed)
    try database.checkpoint(.passive)
    next.store(Self.limit, ordering: .relaxed)
  }

  /// Copies the log of a process that ended in the middle of its work into the file.
  ///
  /// Where that process had seen a sync fail, the log may be read back from the kernel's memory without being on
  /// disk, and what is appended to it would be lost with its beginning.
  static func copyLeftLog(_ database: Database) throws(SQLiteError) {
    guard try LogFile(of: database).byteCount > 0 else { return }
    do throws(SQLiteError) {
      try database.checkpoint(.truncate)
    } catch {
      if error.code != .full { throw error }
    }
  }
}
