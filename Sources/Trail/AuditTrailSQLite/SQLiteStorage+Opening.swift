// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import ReceiptBytes
internal import SQLite

extension SQLiteStorage {
  /// The time for which a write waits for those of other processes if nothing else is stated.
  public static let defaultBusyTimeout: Duration = .seconds(30)

  /// Creates an empty trail, readable and writable by its owner alone.
  ///
  /// The file appears under its name when it is complete, with its directory synced.
  ///
  /// - Parameters:
  ///   - path: A file that does not exist, in a directory that does.
  ///   - busyTimeout: How long a write waits for those of other processes.
  /// - Throws: `StorageError` with `notATrail` where the path is taken, `full`, `inputOutput` or `syncFailed`.
  public convenience init(
    creatingAt path: String, busyTimeout: Duration = SQLiteStorage.defaultBusyTimeout
  ) throws {
    try self.init(creatingAt: path, busyTimeout: busyTimeout, tuning: SQLiteTuning())
  }

  convenience init(creatingAt path: String, busyTimeout: Duration, tuning: SQLiteTuning) throws {
    try StorageError.mapping {
      try DatabaseFile(path).create { file in
        let creating = try TrailConnection.writer(file, tuning: tuning, timeout: BusyTimeout(busyTimeout))
        try creating.use { database in
          try database.execute("PRAGMA journal_mode = WAL")
          try database.transaction { try TrailConnection.layout.make(in: database) }
        }
        try creating.close()
      }
    }
    try self.init(openingAt: path, busyTimeout: busyTimeout, tuning: tuning)
  }

  /// Opens a trail.
  ///
  /// What a process that ended in the middle of its work had committed is there, and is on disk when this returns.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - busyTimeout: How long a write waits for those of other processes.
  /// - Throws: `StorageError` with `notFound`, `notATrail`, `unsupported` for a layout of a later version,
  ///   `corrupt`, `busy`, `inputOutput` or `syncFailed`.
  public convenience init(
    openingAt path: String, busyTimeout: Duration = SQLiteStorage.defaultBusyTimeout
  ) throws {
    try self.init(openingAt: path, busyTimeout: busyTimeout, tuning: SQLiteTuning())
  }

  convenience init(openingAt path: String, busyTimeout limit: Duration, tuning: SQLiteTuning) throws {
    let file = try StorageError.mapping { try DatabaseFile(path) }
    let identity = try Self.requireFile(file)
    let timeout = BusyTimeout(limit)
    var tuning = tuning
    let (writer, log) = try StorageError.mapping {
      let writer = try TrailConnection.writer(file, tuning: tuning, timeout: timeout)
      let log = try writer.use { database in
        tuning.pageSize = try Self.check(database)
        try database.execute(TrailConnection.deferredSync)
        return try LogFile(of: database)
      }
      return (writer, log)
    }
    try self.init(
      file: file, identity: identity, tuning: tuning, timeout: timeout, writer: writer, log: log)
    try withWriter { database in
      try copying.observe(database)
      try copyLeftLog(database)
    }
  }

  /// Which file the trail is in, which must be there.
  ///
  /// - Throws: `StorageError` with `notFound` or `notATrail`.
  @discardableResult
  static func requireFile(_ file: DatabaseFile) throws(StorageError) -> File.Identity {
    guard let status = file.status else {
      throw StorageError(.notFound, at: file.path, "There is no such file.")
    }
    guard status.isRegularFile, status.byteCount > 0 else {
      throw StorageError(.notATrail, at: file.path, "It is not a file with anything in it.")
    }
    return status.identity
  }

  /// Refuses what is not a trail, and returns the size of its pages.
  private static func check(_ database: Database) throws -> Int {
    try TrailConnection.layout.require(in: database)
    guard try database.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
      throw StorageError(
        .inputOutput, at: database.path, "It cannot be put into write-ahead mode: is it writable?")
    }
    return try Int(database.integer("PRAGMA page_size") ?? 4096)
  }

  /// Copies the log of a process that ended in the middle of its work into the file.
  ///
  /// Where that process had seen a sync fail, the log may be read back from the kernel's memory without being on
  /// disk, and what is appended to it would be lost with its beginning.
  private func copyLeftLog(_ database: Database) throws {
    guard log.byteCount > 0 else { return }
    do {
      try timeout.disabled { try database.checkpoint(.truncate) }
    } catch let error as SQLiteError where error.code == .busy || error.code == .full {
      // Others are at work: then the log is theirs, and nothing was read back.
    }
  }
}
