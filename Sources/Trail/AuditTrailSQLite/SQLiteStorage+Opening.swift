// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import ReceiptBytes
internal import SQLite

extension SQLiteStorage {
  /// The default time that a write waits for writes of other processes.
  public static let defaultBusyTimeout: Duration = .seconds(30)

  /// Creates an empty trail that only its owner can read and write.
  ///
  /// The file appears under its name when it is complete, with its directory synced.
  ///
  /// - Parameters:
  ///   - path: The path of a file that does not exist, in a directory that does.
  ///   - busyTimeout: The maximum time that a write waits for writes of other processes.
  /// - Throws: `StorageError` with `notATrail` if the path is taken, `full`, `inputOutput` or `syncFailed`.
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
  /// Everything that a process committed before it crashed is present, and is on disk when this returns.
  ///
  /// - Parameters:
  ///   - path: The path of the trail's file.
  ///   - busyTimeout: The maximum time that a write waits for writes of other processes.
  /// - Throws: `StorageError` with `notFound`, `notATrail`, `unsupported` if the layout has a different version,
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

  /// Returns the identity of the trail's file, which must exist.
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

  /// Requires the file to be a trail, and returns the size of its pages.
  private static func check(_ database: Database) throws -> Int {
    try TrailConnection.layout.require(in: database)
    guard try database.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
      throw StorageError(
        .inputOutput, at: database.path, "It cannot be put into write-ahead mode: is it writable?")
    }
    return try Int(database.integer("PRAGMA page_size") ?? 4096)
  }

  /// Copies the log of a process that crashed into the file.
  ///
  /// If that process had seen a sync fail, the log may have been read back from the kernel's memory without being on
  /// disk. Anything appended to it would then be lost together with its beginning.
  private func copyLeftLog(_ database: Database) throws {
    guard log.byteCount > 0 else { return }
    do {
      try timeout.disabled { try database.checkpoint(.truncate) }
    } catch let error as SQLiteError where error.code == .busy || error.code == .full {
      // Other processes are using the trail, so the log is theirs and was not read back.
    }
  }
}
