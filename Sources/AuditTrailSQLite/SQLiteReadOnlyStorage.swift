// SPDX-License-Identifier: Apache-2.0

#if SQLite
  public import AuditTrail
  internal import GRDB
  internal import SQLiteFiles
  internal import Synchronization

  /// An audit trail in an SQLite file that may only be read: on a read-only disk, in a folder of somebody else, or where
  /// nothing must be touched.
  ///
  /// Where others use the trail meanwhile, their changes are seen as soon as they are committed, if the files `-wal` and
  /// `-shm` beside it may be read. Where nobody uses it, and no `-wal` is left beside it, the file alone is read; it must
  /// then not be changed while it is open.
  public final class SQLiteReadOnlyStorage: TrailStorage {
    private let file: DatabaseFile
    private let isImmutable: Bool
    private let patience: Patience
    private let tuning = SQLiteTuning()
    /// `nil` once the storage is closed.
    private let idle: Mutex<[DatabaseQueue]?>

    /// Opens a trail.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - patience: How long a read waits for other processes.
    /// - Throws: `StorageError` with `notFound`, `notATrail`, `unsupported` for another layout, `corrupt`, or
    ///   `inputOutput` where a log is left beside it that cannot be read without writing.
    public init(openingAt path: String, patience: Duration = SQLiteStorage.defaultPatience) throws {
      file = try SQLiteStorage.existingFile(path)
      self.patience = Patience(patience)
      let hasLog = DatabaseFile.status(file.databasePath + "-wal")?.size ?? 0 > 0
      var opened: (reader: DatabaseQueue, isImmutable: Bool)?
      do {
        opened = (try Self.open(file, tuning, self.patience, isImmutable: false), false)
      } catch let error as StorageError where error.code == .inputOutput && !hasLog {
        // SQLite cannot make its files beside it, and need not.
        opened = (try Self.open(file, tuning, self.patience, isImmutable: true), true)
      }
      isImmutable = opened?.isImmutable ?? false
      idle = Mutex(opened.map { [$0.reader] } ?? [])
    }

    private static func open(
      _ file: DatabaseFile, _ tuning: SQLiteTuning, _ patience: Patience, isImmutable: Bool
    ) throws -> DatabaseQueue {
      let reader = try SQLiteConnection.reader(
        file, tuning: tuning, patience: patience, isImmutable: isImmutable)
      do {
        try reader.inDatabase { try SQLiteStorage.checkTables($0, path: file.path) }
      } catch {
        throw SQLiteFault.mapped(error, at: file.path)
      }
      return reader
    }

    /// Where the trail is.
    public var path: String { file.path }

    /// Reads one state: the last that was committed when `body` first reads.
    ///
    /// - Throws: `StorageError`, and whatever `body` throws.
    public func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
      try withReader { reader in
        try reader.inDatabase { database in
          try SQLiteAccess.reading(database, path: file.path, body)
        }
      }
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
    public func byteCount() throws -> UInt64 {
      file.allPaths.reduce(0) { $0 + (DatabaseFile.status($1)?.size ?? 0) }
    }

    /// What SQLite finds wrong with the file's pages, all of which it reads; at most 100 lines.
    public func structuralFaults() throws -> [String] {
      try withReader { reader in
        try withReader { try SQLiteStorage.structuralFaults(reader, readingAhead: $0, path: file.path) }
      }
    }

    /// Ends the use; reads that are under way still come to their end.
    public func close() throws {
      let readers = idle.withLock { $0.take() }
      for reader in readers ?? [] { try? reader.close() }
    }

    private func withReader<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
      let kept = try idle.withLock { idle in
        guard idle != nil else { throw StorageError(.closed, at: file.path, "The trail was closed.") }
        return idle?.popLast()
      }
      let reader =
        try kept
        ?? SQLiteConnection.reader(file, tuning: tuning, patience: patience, isImmutable: isImmutable)
      defer { giveBack(reader) }
      return try body(reader)
    }

    private func giveBack(_ reader: DatabaseQueue) {
      let isKept = idle.withLock { idle in
        guard let count = idle?.count, count < tuning.idleReaders else { return false }
        idle?.append(reader)
        return true
      }
      if !isKept { try? reader.close() }
    }
  }
#endif
