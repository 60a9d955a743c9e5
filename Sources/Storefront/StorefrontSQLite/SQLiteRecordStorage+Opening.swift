// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import SQLite
public import Storefront

extension SQLiteRecordStorage {
  /// The default busy timeout for opening a file.
  public static let defaultBusyTimeout: Duration = .seconds(5)

  /// Opens a file of records. If it does not exist, an empty one is created.
  ///
  /// - Parameters:
  ///   - path: The file, in a directory that exists.
  ///   - busyTimeout: The longest time to wait for another process to close the file.
  /// - Throws: `RecordStorageError` with `notAStorage`, `corrupt`, `busy`, `full`, `inputOutput`, `syncFailed`, or
  ///   `unsupported` if the layout is of a later version.
  public convenience init(
    at path: String, busyTimeout: Duration = SQLiteRecordStorage.defaultBusyTimeout
  ) throws(RecordStorageError) {
    if let file = try? DatabaseFile(path), file.status == nil {
      do {
        try Self.make(path)
      } catch {
        // Another process created it meanwhile, so open it.
        if error.code != .notAStorage { throw error }
      }
    }
    try self.init(openingAt: path, busyTimeout: busyTimeout)
  }

  /// Creates an empty file of records, readable and writable only by its owner, and opens it. The file appears under
  /// its name when it is complete, and its directory is synced. `notAStorage` is thrown if the path exists.
  package convenience init(
    creatingAt path: String, busyTimeout: Duration = SQLiteRecordStorage.defaultBusyTimeout
  ) throws(RecordStorageError) {
    try Self.make(path)
    try self.init(openingAt: path, busyTimeout: busyTimeout)
  }

  /// Opens a file of records. `notFound` is thrown if it does not exist. Everything that a crashed process had
  /// committed is present.
  package convenience init(
    openingAt path: String, busyTimeout: Duration = SQLiteRecordStorage.defaultBusyTimeout
  ) throws(RecordStorageError) {
    do {
      let file = try DatabaseFile(path)
      guard let status = file.status else {
        throw RecordStorageError(.notFound, at: path, "There is no such file.")
      }
      guard status.isRegularFile, status.byteCount > 0 else {
        throw RecordStorageError(.notAStorage, at: path, "It is not a file with anything in it.")
      }
      let log = RecordLog()
      let connection = try Self.open(file, log, busyTimeout: busyTimeout)
      self.init(file: file, identity: status.identity, connection: connection, log: log)
    } catch {
      throw RecordStorageError(error, at: path)
    }
  }

  private static func make(_ path: String) throws(RecordStorageError) {
    do {
      try DatabaseFile(path).create { file in
        let connection = try Connection(file, .writing, timeout: BusyTimeout(.zero), pragmas: pragmas)
        try connection.use(RecordTable.make)
        try connection.close()
      }
    } catch {
      throw RecordStorageError(error, at: path)
    }
  }

  /// The connection locks the file exclusively from its first use, because the process keeps the file's state in
  /// memory.
  private static let pragmas = """
    PRAGMA page_size = 4096;
    PRAGMA locking_mode = EXCLUSIVE;
    \(Connection.durability)
    PRAGMA cache_size = -4096;
    PRAGMA journal_size_limit = 8388608;
    """

  private static func open(
    _ file: DatabaseFile, _ log: RecordLog, busyTimeout: Duration
  ) throws -> Connection {
    let end = ContinuousClock.now + busyTimeout
    var tries = 0
    while true {
      do {
        let connection = try Connection(file, .writing, timeout: BusyTimeout(.zero), pragmas: pragmas)
        try connection.use { database in
          try RecordTable.check(database)
          try database.execute("BEGIN IMMEDIATE; COMMIT")
          try log.observe(database)
          // From here on, the storage syncs the log, once for several commits. SQLite still syncs it before copying it
          // into the file.
          try database.execute("PRAGMA synchronous = NORMAL")
          try RecordLog.copyLeftLog(database)
        }
        return connection
      } catch let error as SQLiteError where error.code == .busy {
        // Two processes that open the file at once may block each other. Both release it and try again.
        guard ContinuousClock.now < end else {
          throw SQLiteError(
            .busy, at: file.path,
            "Another process, or another storage of this one, has it open: only one may. Try again later.")
        }
        BusyTimeout.sleep(microseconds: UInt32(min(1000 + tries * 1000, 20_000)) + .random(in: 0..<2000))
        tries += 1
      }
    }
  }
}
