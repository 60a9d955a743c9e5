// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import GRDBSQLite
  internal import SQLiteFiles
  internal import Synchronization

  /// SQLite's write-ahead log: commits go to its end and are copied into the file later, from which on the log is
  /// written from its beginning again.
  ///
  /// Copying goes on beside the commits, on a connection of its own. Commits wait for it only when the log has become
  /// twice as long as where copying begins; left alone, it would never be empty under steady load.
  final class WriteAheadLog: Sendable {
    let copier: DatabaseQueue
    let file: DatabaseLog
    private let limit: Int
    private let pageSize: Int
    /// Pages in the log after the last commit.
    private let pages = Atomic<Int>(0)
    /// At how many bytes copying begins. It moves on with every copy: commits that come meanwhile keep the log from
    /// being written from its beginning, and copying after each of them would sync twice for each.
    private let copyingBegins: Atomic<Int>
    /// At how many bytes a commit waits for copying.
    private let patienceEnds: Atomic<Int>
    private let isCopying = Atomic<Bool>(false)

    init(_ file: DatabaseLog, copier: DatabaseQueue, tuning: SQLiteTuning) {
      self.file = file
      self.copier = copier
      limit = tuning.logLimit
      pageSize = tuning.pageSize
      patienceEnds = Atomic(tuning.logLimit)
      copyingBegins = Atomic(tuning.logLimit / 2)
    }

    /// Has SQLite tell of every commit, instead of copying the log by itself and keeping faults to itself.
    func observe(_ database: Database) {
      unsafe sqlite3_wal_hook(
        database.sqliteConnection,
        { context, _, _, pages in
          if let context = unsafe context {
            let log = unsafe Unmanaged<WriteAheadLog>.fromOpaque(context).takeUnretainedValue()
            log.pages.store(Int(pages), ordering: .relaxed)
          }
          return SQLITE_OK
        },
        Unmanaged.passUnretained(self).toOpaque())
    }

    /// Sees to the log after a commit.
    ///
    /// A sync that fails goes to `stop`, from another thread where need be. Other faults leave the log as it is,
    /// where every commit is safe, and copying is tried again.
    func bound(_ database: Database, stop: @escaping @Sendable (StorageError) -> Void) {
      let length = pages.load(ordering: .relaxed) * pageSize
      if length >= patienceEnds.load(ordering: .relaxed) {
        copier.inDatabase { _ in }
        copy(database, stop: stop)
        // A long read keeps the log from being emptied: do not try at every commit.
        patienceEnds.store(length + limit / 4, ordering: .relaxed)
      } else if length >= copyingBegins.load(ordering: .relaxed),
        !isCopying.exchange(true, ordering: .relaxed)
      {
        copyingBegins.store(length + limit / 8, ordering: .relaxed)
        copier.asyncWriteWithoutTransaction { copying in
          self.copy(copying, stop: stop)
          self.isCopying.store(false, ordering: .relaxed)
        }
      }
      if length < limit / 2 {
        patienceEnds.store(limit, ordering: .relaxed)
        copyingBegins.store(limit / 2, ordering: .relaxed)
      }
    }

    private func copy(_ database: Database, stop: (StorageError) -> Void) {
      do {
        _ = try database.checkpoint(.passive)
      } catch {
        let fault = SQLiteFault.mapped(error, at: file.path)
        if let fault = fault as? StorageError, fault.code == .syncFailed { stop(fault) }
      }
    }
  }

  extension SQLiteStorage {
    /// Copies the log into the file and truncates it, so that what was erased is in neither.
    ///
    /// - Throws: `StorageError` with `busy` where others were reading or writing for longer than was waited; then
    ///   erased bytes may still be in the log.
    public func scrub() throws {
      let end = ContinuousClock.now + patience.duration
      try withWriter { database in
        while true {
          do {
            // Where it succeeds the log was empty: what others have appended since is of later states.
            _ = try database.checkpoint(.truncate)
            return
          } catch {
            let fault = SQLiteFault.mapped(error, at: file.path)
            // SQLite waits for those who read or write, but not for one who is copying the log.
            guard (fault as? StorageError)?.code == .busy, ContinuousClock.now < end else {
              throw stopping(fault)
            }
            DatabaseFile.sleep(microseconds: 1000)
          }
        }
      }
    }
  }
#endif
