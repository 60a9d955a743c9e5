// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import SQLite

/// An audit trail in an SQLite file that may only be read: on a read-only disk, in a folder of another user, or where
/// nothing must be touched.
///
/// Where others use the trail meanwhile, their changes are seen as soon as they are committed, if the files `-wal` and
/// `-shm` beside it may be read. Where nobody uses it, and no `-wal` is left beside it, the file alone is read; it must
/// then not be changed while it is open.
public final class SQLiteReadOnlyStorage: TrailStorage {
  private let file: DatabaseFile
  private let readers: ReaderPool
  let timeout: BusyTimeout

  /// Opens a trail.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - busyTimeout: How long a read waits for other processes.
  /// - Throws: `StorageError` with `notFound`, `notATrail`, `unsupported` for another layout, `corrupt`, or
  ///   `inputOutput` where a log is left beside it that cannot be read without writing.
  public init(openingAt path: String, busyTimeout: Duration = SQLiteStorage.defaultBusyTimeout) throws {
    let file = try StorageError.mapping { try DatabaseFile(path) }
    self.file = file
    try SQLiteStorage.requireFile(file)
    let hasLog = file.hasLog
    let tuning = SQLiteTuning()
    let timeout = BusyTimeout(busyTimeout)
    self.timeout = timeout
    func open(isImmutable: Bool) throws -> ReaderPool {
      let connect: @Sendable () throws(SQLiteError) -> Connection = { () throws(SQLiteError) in
        try TrailConnection.reader(file, tuning: tuning, timeout: timeout, isImmutable: isImmutable)
      }
      return try StorageError.mapping {
        let first = try connect()
        try first.use(TrailConnection.layout.require)
        return ReaderPool(path: path, idle: [first], maximumIdle: tuning.idleReaders, open: connect)
      }
    }
    do {
      readers = try open(isImmutable: false)
    } catch let error as StorageError where error.code == .inputOutput && !hasLog {
      // SQLite cannot make its files beside it, and need not.
      readers = try open(isImmutable: true)
    }
  }

  /// The path of the trail.
  public var path: String { file.path }

  /// Reads one state: the last that was committed when `body` first reads.
  ///
  /// - Throws: `StorageError`, and the errors of `body`.
  public func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
    try StorageError.mapping { try readers.withReader { try SQLiteAccess.reading($0, body) } }
  }

  /// Refuses.
  ///
  /// - Throws: `AuditError` with `readOnly`.
  public func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    throw AuditError(.readOnly, at: file.path, "The trail was opened only for reading.")
  }

  /// Refuses.
  ///
  /// - Throws: `AuditError` with `readOnly`.
  public func scrub() throws { try write { _ in } }

  /// The bytes of the file and its log.
  public func byteCount() throws -> UInt64 { file.totalByteCount }

  /// The faults that SQLite finds in the file's pages. It reads every page, and lists at most 100 faults.
  public func structuralFaults() throws -> [String] {
    try SQLiteStorage.structuralFaults(readers, file)
  }

  /// Ends the use; reads in progress still complete.
  public func close() throws { try StorageError.mapping { try readers.close() } }
}
