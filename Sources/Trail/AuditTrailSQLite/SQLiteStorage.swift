// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import ReceiptBytes
internal import SQLite
internal import Synchronization

/// An audit trail in one SQLite file, without a server.
///
/// The file is in SQLite's write-ahead mode, and several processes of one machine can use it at once: one writes at a
/// time, while others read. While it is in use there are two more files beside it, `-wal` and `-shm`. The `-wal` file
/// is part of the trail and must be copied with it. `receipt-tool audit backup` copies a trail in use. The file
/// must be on a local disk, because locks of network file systems are unreliable.
///
/// Writes are durable: ``write(_:)`` and ``synchronize()`` return after `fdatasync` (`F_FULLFSYNC` on Apple systems)
/// of the log, to which every commit is appended.
///
/// Memory: at most about 4 MB of pages for writing and 1 MB for each read in progress. Up to four idle readers are
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

  /// Takes ownership of an open connection; `tuning` must have the page size of the file.
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

  /// The path of the trail's file.
  package var path: String { file.path }

  /// Reads one snapshot: the last state that was committed when `body` first reads.
  ///
  /// - Throws: `StorageError`, and any error from `body`.
  public func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
    try StorageError.mapping { try readers.withReader { try SQLiteAccess.reading($0, body) } }
  }

  /// Changes the trail in one transaction, which is rolled back if `body` throws. Do not call it within a write.
  ///
  /// - Throws: `StorageError`, and any error from `body`. After `full` and `busy`, the write can be retried. After
  ///   `syncFailed`, every further write throws until the trail is reopened.
  public func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    let result = try writeUnsynchronized(body)
    try synchronize()
    return result
  }

  /// Returns when everything written before the call is on disk. It does not block writes, and writes do not block
  /// it.
  ///
  /// - Throws: `StorageError` with `syncFailed`, after which every further write and sync throws until the trail is
  ///   reopened; or `closed`.
  public func synchronize() throws {
    try requireOpen()
    // Syncs are serialized, because the system reports a write error to only one of several concurrent syncs.
    try synchronizing.withLock { _ in
      try requireSynchronized()
      // If the log is empty, all of it was copied into the file, and the file was synced.
      guard log.byteCount > 0 else { return }
      do throws(SQLiteError) { try log.synchronize() } catch { throw stopping(StorageError(error)) }
    }
  }

  /// Changes the trail as ``write(_:)`` does, but does not wait until the changes are on disk. ``synchronize()`` does
  /// that.
  ///
  /// - Throws: The same errors as ``write(_:)``.
  public func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    try withWriter { database in
      try database.run("BEGIN IMMEDIATE")
      let access = SQLiteAccess(database)
      let result: Result
      do {
        defer { access.end() }
        result = try body(access)
        // The body caught an error and continued, so part of its changes is missing.
        if let fault = access.fault { throw fault }
      } catch {
        database.rollBack()
        throw stopping(access.fault ?? error)
      }
      try commit(database)
      return result
    }
  }

  /// Commits the transaction. The changes are visible to others when it returns.
  private func commit(_ database: Database) throws {
    do {
      try StorageError.mapping { try database.run("COMMIT") }
    } catch let error as StorageError {
      database.rollBack()
      switch error.code {
      case .full, .busy: throw error
      default:
        // Part of the commit may be in the log, and may or may not take effect after a crash.
        throw stopping(StorageError(.syncFailed, at: error.place, error.message))
      }
    }
    copying.didCommit(database) { [writing] in writing.stop(StorageError($0)) }
  }

  /// Stops writing if the error is a failed sync, and returns the error.
  private func stopping(_ error: any Error) -> any Error {
    if let error = error as? StorageError, error.code == .syncFailed { writing.stop(error) }
    return error
  }

  /// Runs `body` on the connection that writes, after other writes of this process have ended.
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
        // Data written to a file without a name would be acknowledged and then lost.
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

  /// Copies the log into the file and truncates it, so that neither contains erased data.
  ///
  /// - Throws: `StorageError` with `busy` if others read or wrote for longer than the busy timeout. Erased bytes may
  ///   then still be in the log.
  public func scrub() throws {
    let end = ContinuousClock.now + timeout.duration
    try withWriter { database in
      // An object that was added to the schema since the file was opened may contain copies of erased data.
      try TrailConnection.layout.requireSchema(in: database)
      while true {
        do throws(SQLiteError) {
          // On success, the log was emptied. Anything that others have appended since then belongs to later states.
          return try database.checkpoint(.truncate)
        } catch {
          // SQLite waits for readers and writers, but not for a connection that is copying the log.
          guard error.code == .busy, ContinuousClock.now < end else { throw stopping(StorageError(error)) }
          BusyTimeout.sleep(microseconds: 1000)
        }
      }
    }
  }

  /// The total size of the file, its log and the index of the log, in bytes.
  public func byteCount() throws -> UInt64 {
    try requireOpen()
    return file.totalByteCount
  }

  /// Reads all pages of the file, and returns the faults that SQLite finds in them, at most 100 lines.
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

  /// Closes the trail, and copies the log into the file. Reads in progress still complete.
  public func close() throws {
    guard !writing.isWritingHere else {
      throw StorageError(.busy, at: file.path, "The trail cannot be closed within a write.")
    }
    try StorageError.mapping(closeConnections)
  }

  /// Closes the writer last, because SQLite then removes its log.
  private func closeConnections() throws {
    try readers.close { [copying, writer] in
      try copying.connection.close()
      try writer.close()
    }
  }
}
