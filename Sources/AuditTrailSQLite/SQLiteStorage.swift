// SPDX-License-Identifier: Apache-2.0

#if SQLite
  public import AuditTrail
  internal import GRDB
  internal import SQLiteFiles
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
    let connections: SQLiteConnections
    let patience: Patience
    private let identity: DatabaseFile.Identity
    private let writing = WritingState()
    private let synchronizing = Mutex(())

    init(
      file: DatabaseFile, identity: DatabaseFile.Identity, connections: SQLiteConnections, patience: Patience
    ) {
      self.file = file
      self.identity = identity
      self.connections = connections
      self.patience = patience
    }

    deinit { try? connections.close() }

    /// Where the trail is.
    public var path: String { file.path }

    /// Reads one state: the last that was committed when `body` first reads.
    ///
    /// - Throws: `StorageError`, and whatever `body` throws.
    public func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
      try connections.withReader { reader in
        try reader.inDatabase { try SQLiteAccess.reading($0, path: file.path, body) }
      }
    }

    /// Changes the trail: all that `body` does, or nothing where it throws. Not to be called within a write.
    ///
    /// - Throws: `StorageError`, and whatever `body` throws. After `full` and `busy` it may be tried again; after
    ///   `syncFailed` every further write throws, until the trail is opened anew.
    public func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
      let result = try writeUnsynchronized(body)
      try synchronize()
      return result
    }

    /// Returns when everything that was written before is on disk. It does not wait for a write, nor does a write for it.
    ///
    /// - Throws: `StorageError` with `syncFailed`, after which every further write and sync throws, until the trail is
    ///   opened anew; or `closed`.
    public func synchronize() throws {
      try connections.requireOpen()
      // One at a time: of several at once the system tells only one that it could not write.
      try synchronizing.withLock { _ in
        try requireSynchronized()
        // An empty log: all of it was copied into the file, and that was synced.
        guard connections.log.file.byteCount > 0 else { return }
        do throws(DatabaseFault) { try connections.log.file.synchronize() } catch {
          throw stopping(SQLiteFault.error(error))
        }
      }
    }

    /// Changes the trail as ``write(_:)`` does, but leaves it to ``synchronize()`` to have the changes on disk.
    ///
    /// - Throws: As ``write(_:)``.
    public func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
      try withWriter { database in
        try perform("BEGIN IMMEDIATE", on: database)
        let access = SQLiteAccess(database, path: file.path)
        let result: Result
        do {
          defer { access.end() }
          result = try body(access)
          // A body that caught a fault and went on: part of what it did is missing.
          if let fault = access.fault { throw fault }
        } catch {
          rollBack(database)
          throw stopping(access.fault ?? error)
        }
        try commit(database)
        return result
      }
    }

    /// Commits: others see the changes when it returns.
    private func commit(_ database: Database) throws {
      do {
        try perform("COMMIT", on: database)
      } catch let fault as StorageError {
        rollBack(database)
        switch fault.code {
        case .full, .busy: throw fault
        default:
          // Some of it may be in the log, and may count after a crash or not.
          throw stopping(StorageError(.syncFailed, at: fault.place, fault.message))
        }
      }
      connections.log.bound(database) { [writing] in writing.stop($0) }
    }

    /// Remembers a failed sync.
    func stopping(_ error: any Error) -> any Error {
      if let fault = error as? StorageError, fault.code == .syncFailed { writing.stop(fault) }
      return error
    }

    /// Runs `body` on the connection that writes, when nobody else of this process does.
    func withWriter<Result>(_ body: (Database) throws -> Result) throws -> Result {
      try connections.requireOpen()
      guard !writing.isWritingHere else {
        throw StorageError(.busy, at: file.path, "A write cannot be begun within a write.")
      }
      return try connections.writer.inDatabase { database in
        writing.setWriter(true)
        defer { writing.setWriter(false) }
        try connections.requireOpen()
        try requireSynchronized()
        // What is written to a file without a name would be acknowledged and lost.
        guard DatabaseFile.status(file.databasePath)?.identity == identity else {
          throw StorageError(
            .notFound, at: file.path, "The file was moved, removed or replaced while in use.")
        }
        return try body(database)
      }
    }

    private func requireSynchronized() throws(StorageError) {
      guard let fault = writing.fault else { return }
      throw StorageError(
        .syncFailed, at: file.path, "An earlier sync failed: open the trail anew. \(fault.message)")
    }

    func perform(_ sql: String, on database: Database) throws {
      try SQLiteAccess.perform(sql, on: database, path: file.path)
    }

    private func rollBack(_ database: Database) { SQLiteAccess.rollBack(database) }

    /// The bytes of the file, its log and the index of the log.
    public func byteCount() throws -> UInt64 {
      try connections.requireOpen()
      return file.allPaths.reduce(0) { $0 + (DatabaseFile.status($1)?.size ?? 0) }
    }

    /// What SQLite finds wrong with the file's pages, all of which it reads; at most 100 lines.
    public func structuralFaults() throws -> [String] {
      try connections.withReader { reader in
        try connections.withReader { try Self.structuralFaults(reader, readingAhead: $0, path: file.path) }
      }
    }

    // On `reader`, while the file is read ahead of it on a connection of its own.
    static func structuralFaults(
      _ reader: DatabaseQueue, readingAhead ahead: DatabaseQueue, path: String
    ) throws -> [String] {
      let readAhead = ReadAhead(ahead)
      defer { readAhead.end() }
      do {
        let lines = try reader.inDatabase { try String.fetchAll($0, sql: "PRAGMA quick_check(100)") }
        return lines == ["ok"] ? [] : lines
      } catch {
        throw SQLiteFault.mapped(error, at: path)
      }
    }

    /// Ends the use; reads that are under way still come to their end. The log is copied into the file.
    public func close() throws {
      guard !writing.isWritingHere else {
        throw StorageError(.busy, at: file.path, "The trail cannot be closed within a write.")
      }
      try connections.close()
    }
  }
#endif
