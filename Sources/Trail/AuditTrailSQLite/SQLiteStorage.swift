// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import Dispatch
internal import FoundationEssentials
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
  private let file: DatabaseFile
  /// `nil` if the trail was opened only for reading.
  let writer: DatabaseWriter?
  private let readers: ReaderPool
  /// The thread that writes. Another write on the same thread would deadlock.
  private let writingThread = Mutex<ThreadIdentifier?>(nil)

  init(openingAt path: String, busyTimeout: Duration, tuning: SQLiteTuning) throws {
    let format = DatabaseFormat.trail(tuning)
    let writer = try StorageError.mapping { try format.open(DatabaseFile(path), busyTimeout: busyTimeout) }
    self.writer = writer
    file = writer.file
    readers = format.readers(of: file, busyTimeout: busyTimeout)
  }

  /// Opens a trail only for reading: on a read-only disk, in another user's directory, or if nothing must be modified.
  ///
  /// While other processes use the trail, their changes are visible as soon as they are committed, if the `-wal` and
  /// `-shm` files beside it are readable. If no process uses the trail, and there is no `-wal` file beside it, only the
  /// file itself is read. The file must then not be changed while it is open.
  ///
  /// Every write throws `AuditError.Code.readOnly`.
  ///
  /// - Throws: `StorageError` with `notFound`, `notATrail`, `unsupported` if the layout has a different version,
  ///   `corrupt`, or `inputOutput` if there is a log beside the file that cannot be read without writing.
  package init(readingAt path: String, busyTimeout: Duration = SQLiteStorage.defaultBusyTimeout) throws {
    writer = nil
    (file, readers) = try StorageError.mapping {
      let file = try DatabaseFile(path)
      return (file, try DatabaseFormat.trail().openReadOnly(file, busyTimeout: busyTimeout))
    }
  }

  deinit { try? closeConnections() }

  /// The path of the trail's file.
  public var path: String { file.path }

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
    guard let writer else { return }
    try requireOpen()
    try StorageError.mapping { try writer.synchronize() }
  }

  /// Changes the trail as ``write(_:)`` does, but does not wait until the changes are on disk. ``synchronize()`` does
  /// that.
  ///
  /// - Throws: The same errors as ``write(_:)``.
  public func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    let writer = try requireWriter()
    return try StorageError.mapping {
      try writer.transaction { database in
        try requireOpen()
        let current = ThreadIdentifier.current
        writingThread.withLock { $0 = current }
        defer { writingThread.withLock { $0 = nil } }
        return try write(in: database, of: writer, body)
      }
    }
  }

  private func write<Result>(
    in database: Database, of writer: DatabaseWriter, _ body: (any StorageWriter) throws -> Result
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

  /// Returns the writer; throws if the file is only read, if the trail was closed, or if this thread is writing.
  private func requireWriter() throws -> DatabaseWriter {
    guard let writer else { throw AuditError(.readOnly, at: path, "The trail was opened only for reading.") }
    try requireOpen()
    guard !isWriting else { throw StorageError(.busy, at: path, "A write cannot be begun within a write.") }
    return writer
  }

  private var isWriting: Bool {
    let current = ThreadIdentifier.current
    return writingThread.withLock { $0 } == current
  }

  private func requireOpen() throws(StorageError) {
    do throws(SQLiteError) { try readers.requireOpen() } catch { throw StorageError(error) }
  }

  /// Copies the log into the file and truncates it, so that neither contains erased data.
  ///
  /// - Throws: `StorageError` with `busy` if others read or wrote for longer than the busy timeout. Erased bytes may
  ///   then still be in the log.
  public func scrub() throws {
    let writer = try requireWriter()
    try StorageError.mapping { try writer.scrub() }
  }

  /// The total size of the file, its log and the index of the log, in bytes.
  public func byteCount() throws -> UInt64 {
    try requireOpen()
    return file.totalByteCount
  }

  /// Reads all pages of the file, and returns the faults that SQLite finds in them, at most 100 lines.
  public func structuralFaults() throws -> [String] {
    let readAhead = ReadAhead(readers, byteCount: file.totalByteCount)
    defer { readAhead.end() }
    return try StorageError.mapping {
      try readers.withReader { database in
        let lines = try database.texts("PRAGMA quick_check(100)")
        let faults = lines == ["ok"] ? [] : lines
        do {
          try DatabaseLayout.trail.requireSchema(in: database)
          return faults
        } catch let error as SQLiteError where error.code == .corrupt {
          return faults + [error.message]
        }
      }
    }
  }

  /// Copies the current state of the trail to another file, while the trail is read and written.
  ///
  /// The copy appears under its name when it is complete and on disk. It contains everything that was written before
  /// the call. The trail's log grows during the copy, because the copy reads one snapshot.
  ///
  /// The copy contains no keys of erasable parts, so data that is erased in the trail later cannot be read from the
  /// copy either. The keys are never written to it, so that even the remains of a killed process do not contain them.
  /// The copy can be read without the keys. To write to it, restore the returned keys with
  /// `ErasureKeyBackup.restore(to:)`.
  ///
  /// If this trail was opened only for reading, nothing is written to it: commits that a process is appending may be in
  /// the copy before they are synced.
  ///
  /// - Parameter path: The path of a file that does not exist, in a directory that does.
  /// - Returns: The keys that were left out of the copy; `nil` if the trail itself contains no keys.
  /// - Throws: `StorageError` with `notATrail` if the path is taken, and the errors of reading and creating a trail.
  @discardableResult
  package func backUp(to path: String) throws -> ErasureKeyBackup? {
    var keys: ErasureKeyBackup?
    try StorageError.mapping {
      try DatabaseFormat.trail().create(DatabaseFile(path)) { database in
        keys = try read { reader in
          // Row by row: copying pages would include those of the keys, and erased data in free space.
          let access = SQLiteAccess(database)
          for table in StorageTable.allCases where table != .keys {
            try reader.forEach(table, in: .min ... .max) { key, value in
              try access.put(table, key, value)
              return true
            }
          }
          return try reader.lastKey(.keys, in: 0...Int64.max).map { _ in try ErasureKeyBackup(reading: reader)
          }
        }
        // The copy must not contain commits that the trail itself could still lose.
        try synchronize()
      }
    }
    return keys
  }

  /// Closes the trail, and copies the log into the file. Reads in progress still complete.
  public func close() throws {
    guard !isWriting else {
      throw StorageError(.busy, at: path, "The trail cannot be closed within a write.")
    }
    try StorageError.mapping(closeConnections)
  }

  /// Closes the writer last, because SQLite then removes its log.
  private func closeConnections() throws { try readers.close { [writer] in try writer?.close() } }
}

/// Reads a file sequentially in advance, for readers that access its pages in a different order.
private final class ReadAhead: Sendable {
  private let group = DispatchGroup()
  private let isOver = Atomic(false)

  /// Starts to read, unless the file is so large that its beginning would be evicted from memory before it is needed.
  init(_ readers: ReaderPool, byteCount: UInt64) {
    guard byteCount < ProcessInfo.processInfo.physicalMemory / 4 * 3 else { return }
    // A serial queue gets a thread immediately, whatever the number of processors. end() waits for the block, so it
    // must not be delayed.
    DispatchQueue(label: "receipt-kit.read-ahead").async(group: group) { [self] in
      // Errors are ignored here: those who need the data encounter them.
      try? readers.withReader { try $0.readAhead { !isOver.load(ordering: .relaxed) } }
    }
  }

  /// Stops reading, and returns after the last read has ended.
  func end() {
    isOver.store(true, ordering: .relaxed)
    group.wait()
  }
}
