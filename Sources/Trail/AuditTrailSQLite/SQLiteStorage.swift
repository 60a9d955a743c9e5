// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import ReceiptBytes
internal import SQLite
internal import Synchronization

/// An audit trail in one SQLite file, without a server.
///
/// The file is in SQLite's write-ahead mode and can be used by several processes of one machine at once: one
/// writes at a time, reading goes on meanwhile. While it is in use two more files lie next to it, `-wal` and
/// `-shm`; the `-wal` file is part of the trail and goes with it wherever it is copied. To copy a trail that is
/// in use call ``backUp(to:)``. The file must be on a local disk: locks of network file systems cannot be relied
/// upon.
///
/// Durable means: ``write(_:)`` and ``synchronize()`` return after `fdatasync` (`F_FULLFSYNC` on Apple systems) of the
/// log, whose end a commit is.
///
/// Memory: at most about 4 MB of pages for writing and 1 MB for each read that is under way, four readers being
/// kept.
public final class SQLiteStorage: TrailStorage {
  let file: DatabaseFile
  let tuning: SQLiteTuning
  let timeout: BusyTimeout
  let writer: Connection
  let readers: ReaderPool
  let log: LogFile
  let copying: LogCopying
  private let identity: File.Identity
  private let writing = WritingState()
  private let synchronizing = Mutex(())

  /// Takes over an open connection; `tuning` has the size of the file's pages.
  init(
    file: DatabaseFile, identity: File.Identity, tuning: SQLiteTuning, timeout: BusyTimeout,
    writer: Connection,
    log: LogFile
  ) throws {
    self.file = file
    self.identity = identity
    self.tuning = tuning
    self.timeout = timeout
    self.writer = writer
    self.log = log
    let limit = timeout.duration
    copying = LogCopying(
      on: try StorageError.mapping { try TrailConnection.copier(file, timeout: BusyTimeout(limit)) },
      limit: tuning.logLimit, pageSize: tuning.pageSize)
    readers = ReaderPool(path: file.path, maximumIdle: tuning.idleReaders) { () throws(SQLiteError) in
      try TrailConnection.reader(file, tuning: tuning, timeout: BusyTimeout(limit))
    }
  }

  deinit { try? closeConnections() }

  /// The path of the trail.
  public var path: String { file.path }

  /// Reads one state: the last that was committed when `body` first reads.
  ///
  /// - Throws: `StorageError`, and the errors of `body`.
  public func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
    try StorageError.mapping { try readers.withReader { try SQLiteAccess.reading($0, body) } }
  }

  /// Changes the trail: all that `body` does, or nothing where it throws. Not to be called within a write.
  ///
  /// - Throws: `StorageError`, and the errors of `body`. After `full` and `busy` it may be tried again; after
  ///   `syncFailed` every further write throws, until the trail is opened again.
  public func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    let result = try writeUnsynchronized(body)
    try synchronize()
    return result
  }

  /// Returns when everything that was written before is on disk. It does not wait for a write, nor does a write for it.
  ///
  /// - Throws: `StorageError` with `syncFailed`, after which every further write and sync throws, until the trail is
  ///   opened again; or `closed`.
  public func synchronize() throws {
    try requireOpen()
    // One at a time: of several at once the system tells only one that it could not write.
    try synchronizing.withLock { _ in
      try requireSynchronized()
      // An empty log: all of it was copied into the file, and that was synced.
      guard log.byteCount > 0 else { return }
      do throws(SQLiteError) { try log.synchronize() } catch { throw stopping(StorageError(error)) }
    }
  }

  /// Changes the trail as ``write(_:)`` does, but leaves it to ``synchronize()`` to have the changes on disk.
  ///
  /// - Throws: As ``write(_:)``.
  public func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    try withWriter { database in
      try database.run("BEGIN IMMEDIATE")
      let access = SQLiteAccess(database)
      let result: Result
      do {
        defer { access.end() }
        result = try body(access)
        // A body that caught an error and went on: part of what it did is missing.
        if let fault = access.fault { throw fault }
      } catch {
        database.rollBack()
        throw stopping(access.fault ?? error)
      }
      try commit(database)
      return result
    }
  }

  /// Commits: others see the changes when it returns.
  private func commit(_ database: Database) throws {
    do {
      try StorageError.mapping { try database.run("COMMIT") }
    } catch let error as StorageError {
      database.rollBack()
      switch error.code {
      case .full, .busy: throw error
      default:
        // Some of it may be in the log, and may count after a crash or not.
        throw stopping(StorageError(.syncFailed, at: error.place, error.message))
      }
    }
    copying.didCommit(database) { [writing] in writing.stop(StorageError($0)) }
  }

  /// Remembers a failed sync.
  private func stopping(_ error: any Error) -> any Error {
    if let error = error as? StorageError, error.code == .syncFailed { writing.stop(error) }
    return error
  }

  /// Runs `body` on the connection that writes, when nobody else of this process does.
  func withWriter<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try requireOpen()
    guard !writing.isWritingHere else {
      throw StorageError(.busy, at: file.path, "A write cannot be begun within a write.")
    }
    return try StorageError.mapping {
      try writer.use { database in
        writing.setWriter(true)
        defer { writing.setWriter(false) }
        try requireOpen()
        try requireSynchronized()
        // Writes to a file without a name would be acknowledged and lost.
        guard file.status?.identity == identity else {
          throw StorageError(
            .notFound, at: file.path, "The file was moved, removed or replaced while in use.")
        }
        return try body(database)
      }
    }
  }

  private func requireSynchronized() throws(StorageError) {
    guard let fault = writing.fault else { return }
    throw StorageError(
      .syncFailed, at: file.path, "An earlier sync failed: open the trail anew. \(fault.message)")
  }

  private func requireOpen() throws(StorageError) {
    do throws(SQLiteError) { try readers.requireOpen() } catch { throw StorageError(error) }
  }

  /// Copies the log into the file and truncates it, so that what was erased is in neither.
  ///
  /// - Throws: `StorageError` with `busy` where others were reading or writing for longer than was waited; then
  ///   erased bytes may still be in the log.
  public func scrub() throws {
    let end = ContinuousClock.now + timeout.duration
    try withWriter { database in
      // Triggers and tables added since the file was opened may hold copies of erased data.
      try TrailConnection.layout.requireSchema(in: database)
      while true {
        do throws(SQLiteError) {
          // If it succeeds, the log was empty: frames that others append afterwards are of later states.
          return try database.checkpoint(.truncate)
        } catch {
          // SQLite waits for those who read or write, but not for one who is copying the log.
          guard error.code == .busy, ContinuousClock.now < end else { throw stopping(StorageError(error)) }
          BusyTimeout.sleep(microseconds: 1000)
        }
      }
    }
  }

  /// The bytes of the file, its log and the index of the log.
  public func byteCount() throws -> UInt64 {
    try requireOpen()
    return file.totalByteCount
  }

  /// The faults that SQLite finds in the file's pages. It reads every page, and lists at most 100 faults.
  public func structuralFaults() throws -> [String] {
    try Self.structuralFaults(readers, file)
  }

  static func structuralFaults(_ readers: ReaderPool, _ file: DatabaseFile) throws -> [String] {
    let readAhead = ReadAhead(readers, byteCount: file.totalByteCount)
    defer { readAhead.end() }
    return try StorageError.mapping {
      try readers.withReader { database in
        let lines = try database.texts("PRAGMA quick_check(100)")
        do {
          try TrailConnection.layout.requireSchema(in: database)
        } catch let error as SQLiteError where error.code == .corrupt {
          return (lines == ["ok"] ? [] : lines) + [error.message]
        }
        return lines == ["ok"] ? [] : lines
      }
    }
  }

  /// Ends the use; reads in progress still complete. The log is copied into the file.
  public func close() throws {
    guard !writing.isWritingHere else {
      throw StorageError(.busy, at: file.path, "The trail cannot be closed within a write.")
    }
    try StorageError.mapping(closeConnections)
  }

  /// SQLite clears its log away when the writer is closed last.
  private func closeConnections() throws {
    try readers.close { [copying, writer] in
      try copying.connection.close()
      try writer.close()
    }
  }
}
