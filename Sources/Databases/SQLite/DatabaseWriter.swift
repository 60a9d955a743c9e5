// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import Synchronization

/// A database file that is open for writing, with the connection that writes to it. ``DatabaseFormat`` opens it. After
/// a failed sync every use throws the same error until the file is opened again: the system may have dropped the data
/// that it could not write, and would report success to the next sync.
package final class DatabaseWriter: Sendable {
  package let file: DatabaseFile
  package let connection: Connection
  package let copying: LogCopying
  private let identity: File.Identity
  private let format: DatabaseFormat
  private let timeout: BusyTimeout
  private let log: LogFile
  private let failedSync = Mutex<SQLiteError?>(nil)
  private let commits = Atomic<UInt64>(0)
  /// The number of commits that are on disk. Locked during a sync.
  private let synchronized = Mutex<UInt64>(0)
  private let isClosed = Atomic(false)

  /// Takes ownership of the open connections, and copies the log of a process that crashed into the file.
  init(
    _ file: DatabaseFile, _ identity: File.Identity, format: DatabaseFormat, connection: Connection,
    timeout: BusyTimeout, copying: LogCopying
  ) throws {
    self.file = file
    self.identity = identity
    self.format = format
    self.connection = connection
    self.timeout = timeout
    self.copying = copying
    log = try connection.use { try LogFile(of: $0) }
    try connection.use { database in
      try database.observeCommits(copying)
      try requireInPlace()
      try copyLeftLog(database)
    }
  }

  /// Copies the log of a process that crashed into the file. If that process had seen a sync fail, the log may have
  /// been read back from the kernel's memory without being on disk. Anything appended to it would then be lost together
  /// with its beginning.
  private func copyLeftLog(_ database: Database) throws {
    guard log.byteCount > 0 else { return }
    do {
      try timeout.disabled { try database.checkpoint(.truncate) }
    } catch let error as SQLiteError where error.code == .busy || error.code == .full {
      // Other processes are using the file, so the log is theirs and was not read back.
    }
  }

  // MARK: - Use

  /// Runs `body` on the connection that writes, while no other thread uses it. Throws ``SQLiteError`` with `closed`, or
  /// `syncFailed` after a failed sync; and any error from `body`.
  package func use<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try connection.use { database in
      try requireUsable()
      do {
        return try body(database)
      } catch let error as SQLiteError where error.code == .syncFailed {
        throw stop(error)
      }
    }
  }

  /// Runs `body` in a transaction, which is rolled back if `body` throws. Throws ``SQLiteError`` with `moved`; `full`
  /// or `busy`, after which it can be retried; `syncFailed` if it is unknown whether the changes are stored; and any
  /// error from `body`.
  package func transaction<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try use { database in
      // A commit to a file without a name would be acknowledged and lost.
      try requireInPlace()
      try database.run("BEGIN IMMEDIATE")
      let result: Result
      do {
        result = try body(database)
      } catch {
        database.rollBack()
        throw error
      }
      try commit(database)
      return result
    }
  }

  private func commit(_ database: Database) throws {
    do {
      try database.run("COMMIT")
    } catch let error as SQLiteError {
      database.rollBack()
      if error.code == .full || error.code == .busy { throw error }
      // Part of the commit may be in the log, and may or may not take effect after a crash.
      throw SQLiteError(.syncFailed, at: error.place, error.message)
    }
    commits.add(1, ordering: .releasing)
    copying.didCommit(database) { [self] in stop($0) }
  }

  private func requireInPlace() throws(SQLiteError) {
    guard file.status?.identity != identity else { return }
    throw SQLiteError(.moved, at: file.path, "The file was moved, removed or replaced while in use.")
  }

  // MARK: - Syncs

  /// Returns when every commit before the call is on disk. It does not block commits, and commits do not block it. If
  /// the file is used by one process only, calls that wait for each other share a sync.
  package func synchronize() throws(SQLiteError) {
    let wanted = commits.load(ordering: .acquiring)
    // Syncs are serialized, because the system reports a write error to only one of several concurrent syncs.
    try synchronized.withLock { synchronized throws(SQLiteError) in
      try requireUsable()
      // The commits of other processes are not counted.
      if format.sharing == .exclusive, synchronized >= wanted { return }
      let reached = commits.load(ordering: .acquiring)
      // If the log is empty, all of it was copied into the file, and the file was synced.
      if log.byteCount > 0 { do throws(SQLiteError) { try log.synchronize() } catch { throw stop(error) } }
      synchronized = reached
    }
  }

  /// Records a failed sync. Returns the error that every use throws from now on, with the message of the first failure.
  @discardableResult package func stop(_ error: SQLiteError) -> SQLiteError {
    failedSync.withLock { failed in
      let first = failed ?? SQLiteError(.syncFailed, at: error.place, "\(error.message) \(format.reopening)")
      failed = first
      return first
    }
  }

  /// Throws if the file was closed, or a sync failed.
  package func requireUsable() throws(SQLiteError) {
    if isClosed.load(ordering: .acquiring) { throw SQLiteError(.closed, at: file.path, "It was closed.") }
    if let error = failedSync.withLock({ $0 }) { throw error }
  }

  // MARK: - Erasing and closing

  /// Copies the log into the file and truncates it, so that neither contains erased data. Throws ``SQLiteError`` with
  /// `busy` if others read or wrote for longer than the busy timeout, so that erased bytes may still be in the log;
  /// `corrupt` if there is anything in the schema that may contain copies.
  package func scrub() throws {
    let end = ContinuousClock.now + timeout.duration
    try use { database in
      try requireInPlace()
      // An object that was added to the schema since the file was opened may contain copies of erased data.
      try format.layout.requireSchema(in: database)
      while true {
        do throws(SQLiteError) {
          // On success, the log was emptied. Anything that others have appended since then belongs to later states.
          return try database.checkpoint(.truncate)
        } catch {
          // SQLite waits for readers and writers, but not for a connection that is copying the log.
          guard error.code == .busy, ContinuousClock.now < end else { throw error }
          BusyTimeout.sleep(microseconds: 1000)
        }
      }
    }
  }

  /// Closes the connections. SQLite copies the log into the file and removes it if no other process has it open.
  /// Further calls have no effect.
  package func close() throws {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    // A copy in progress ends first.
    try copying.connection?.close()
    try connection.close()
  }
}
