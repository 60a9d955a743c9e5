// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import SQLite

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
  let writer: DatabaseWriter
  let readers: ReaderPool
  private let writingThread = WritingThread()

  init(openingAt path: String, busyTimeout: Duration, tuning: SQLiteTuning) throws {
    let format = DatabaseFormat.trail(tuning)
    writer = try StorageError.mapping { try format.open(DatabaseFile(path), busyTimeout: busyTimeout) }
    readers = format.readers(of: writer.file, busyTimeout: busyTimeout)
  }

  deinit { try? closeConnections() }

  /// The path of the trail's file.
  public var path: String { writer.file.path }

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
    try StorageError.mapping { try writer.synchronize() }
  }

  /// Changes the trail as ``write(_:)`` does, but does not wait until the changes are on disk. ``synchronize()`` does
  /// that.
  ///
  /// - Throws: The same errors as ``write(_:)``.
  public func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    try requireWritable()
    return try StorageError.mapping {
      try writer.transaction { database in
        try requireOpen()
        return try writingThread.run { try write(in: database, body) }
      }
    }
  }

  private func write<Result>(
    in database: Database, _ body: (any StorageWriter) throws -> Result
  ) throws -> Result {
    let access = SQLiteAccess(database)
    do {
      defer { access.end() }
      let result = try body(access)
      // The body caught an error and continued, so part of its changes is missing.
      if let fault = access.fault { throw fault }
      return result
    } catch {
      let error = access.fault ?? error
      guard let error = error as? StorageError, error.code == .syncFailed else { throw error }
      throw writer.stop(SQLiteError(.syncFailed, at: error.place, error.message))
    }
  }

  /// Throws if the trail was closed, or if this thread is writing.
  private func requireWritable() throws(StorageError) {
    try requireOpen()
    guard !writingThread.isCurrent else {
      throw StorageError(.busy, at: path, "A write cannot be begun within a write.")
    }
  }

  private func requireOpen() throws(StorageError) {
    do throws(SQLiteError) { try readers.requireOpen() } catch { throw StorageError(error) }
  }

  /// Copies the log into the file and truncates it, so that neither contains erased data.
  ///
  /// - Throws: `StorageError` with `busy` if others read or wrote for longer than the busy timeout. Erased bytes may
  ///   then still be in the log.
  public func scrub() throws {
    try requireWritable()
    try StorageError.mapping { try writer.scrub() }
  }

  /// The total size of the file, its log and the index of the log, in bytes.
  public func byteCount() throws -> UInt64 {
    try requireOpen()
    return writer.file.totalByteCount
  }

  /// Reads all pages of the file, and returns the faults that SQLite finds in them, at most 100 lines.
  public func structuralFaults() throws -> [String] {
    try Self.structuralFaults(readers, writer.file)
  }

  static func structuralFaults(_ readers: ReaderPool, _ file: DatabaseFile) throws -> [String] {
    let readAhead = ReadAhead(readers, byteCount: file.totalByteCount)
    defer { readAhead.end() }
    return try StorageError.mapping {
      try readers.withReader { database in
        let lines = try database.texts("PRAGMA quick_check(100)")
        do {
          try DatabaseLayout.trail.requireSchema(in: database)
        } catch let error as SQLiteError where error.code == .corrupt {
          return (lines == ["ok"] ? [] : lines) + [error.message]
        }
        return lines == ["ok"] ? [] : lines
      }
    }
  }

  /// Closes the trail, and copies the log into the file. Reads in progress still complete.
  public func close() throws {
    guard !writingThread.isCurrent else {
      throw StorageError(.busy, at: path, "The trail cannot be closed within a write.")
    }
    try StorageError.mapping(closeConnections)
  }

  /// Closes the writer last, because SQLite then removes its log.
  private func closeConnections() throws { try readers.close { [writer] in try writer.close() } }
}
