// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import GRDB
  internal import GRDBSQLite
  internal import SQLiteFiles
  internal import Synchronization

  /// SQLite's write-ahead log: commits go to its end, and are copied into the file when it has grown.
  final class RecordLog: Sendable {
    /// From how many pages on it is copied.
    private static let limit = 1024

    /// Pages in the log after the last commit.
    private let pages = Atomic<Int>(0)
    /// At how many it is tried next.
    private let next = Atomic<Int>(RecordLog.limit)

    /// Has SQLite tell of every commit, instead of copying the log by itself and keeping faults to itself.
    func observe(_ database: Database) {
      unsafe sqlite3_wal_hook(
        database.sqliteConnection,
        { context, _, _, pages in
          if let context = unsafe context {
            let log = unsafe Unmanaged<RecordLog>.fromOpaque(context).takeUnretainedValue()
            log.pages.store(Int(pages), ordering: .relaxed)
          }
          return SQLITE_OK
        },
        Unmanaged.passUnretained(self).toOpaque())
    }

    /// Copies the log into the file, where it has grown long.
    func bound(_ database: Database) throws {
      let length = pages.load(ordering: .relaxed)
      guard length >= next.load(ordering: .relaxed) else { return }
      // Where it fails, not every commit tries it again.
      next.store(length + Self.limit, ordering: .relaxed)
      _ = try database.checkpoint(.passive)
      next.store(Self.limit, ordering: .relaxed)
    }

    /// Copies the log of a process that ended in the middle of its work into the file.
    ///
    /// Where that process had seen a sync fail, the log may be read back from the kernel's memory without being on
    /// disk, and what is appended to it would be lost with its beginning.
    static func settle(_ file: DatabaseFile, on database: Database) throws {
      guard try DatabaseLog(of: database).byteCount > 0 else { return }
      do {
        _ = try database.checkpoint(.truncate)
      } catch {
        let fault = DatabaseFault(error, at: file.path)
        if fault?.code == .full { return }
        throw error
      }
    }
  }
#endif
