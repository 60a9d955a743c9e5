// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension DatabaseFormat {
  /// The upgrade of files with an earlier layout. It has the layouts of the versions from 0 on, as which a file is
  /// created, and changes tables and rows of an earlier version to those of the current one, within a transaction.
  package typealias Upgrade = (
    layout: @Sendable (_ version: Int64) -> DatabaseLayout,
    run: @Sendable (_ database: Database, _ version: Int64) throws -> Void
  )

  // MARK: - Creating

  /// Creates a file that only its owner can read and write. It appears under its name when it is complete, with its
  /// directory synced. `fill` adds the first rows. Throws ``SQLiteError`` with `occupied` if the path is taken, `full`,
  /// `inputOutput` or `syncFailed`; and any error from `fill`.
  package func create(_ file: DatabaseFile, _ fill: (Database) throws -> Void = { _ in }) throws {
    try file.create { file in
      let connection = try writingConnection(file, timeout: BusyTimeout(.zero))
      try connection.use { database in
        // The file is not visible before it is complete, so it needs no journal on disk.
        try database.execute("PRAGMA journal_mode = MEMORY")
        try database.transaction {
          try (upgrade?.layout(0) ?? layout).make(in: database)
          try fill(database)
        }
        try upgradeLayout(of: database)
        try Self.useWriteAheadLog(database)
      }
      try connection.close()
    }
  }

  // MARK: - Opening

  /// Opens a file for writing. If it does not exist, it is created. Throws ``SQLiteError``, as ``create(_:_:)`` and
  /// ``open(_:busyTimeout:)``.
  package func openOrCreate(_ file: DatabaseFile, busyTimeout: Duration) throws -> DatabaseWriter {
    if file.status == nil {
      do {
        try create(file)
      } catch let error as SQLiteError where error.code == .occupied {
        // Another process has created it meanwhile, so open it.
      }
    }
    return try open(file, busyTimeout: busyTimeout)
  }

  /// Opens a file for writing, and upgrades its layout. Everything that a process committed before it crashed is
  /// present, and is on disk when this returns. Throws ``SQLiteError`` with `notFound`; `occupied` if the file has
  /// another format; `unsupported` if the layout has another version; `corrupt` if there is anything else in the
  /// schema; `busy`, `full`, `inputOutput` or `syncFailed`; and any error from the upgrade.
  package func open(_ file: DatabaseFile, busyTimeout: Duration) throws -> DatabaseWriter {
    let identity = try file.requireContents()
    guard sharing == .exclusive else { return try open(file, identity, timeout: BusyTimeout(busyTimeout)) }
    let end = ContinuousClock.now + busyTimeout
    var tries = 0
    while true {
      do {
        // Waiting for a lock would not help two processes that open the file at once and block each other. Both release
        // it and try again.
        return try open(file, identity, timeout: BusyTimeout(.zero))
      } catch let error as SQLiteError where error.code == .busy {
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

  private func open(
    _ file: DatabaseFile, _ identity: File.Identity, timeout: BusyTimeout
  ) throws -> DatabaseWriter {
    let connection = try writingConnection(file, timeout: timeout)
    let pageSize = try connection.use { database in
      try upgradeLayout(of: database)
      try layout.require(in: database)
      try Self.useWriteAheadLog(database)
      // An exclusive connection locks the file at its first write, and keeps the lock.
      if sharing == .exclusive { try database.execute("BEGIN IMMEDIATE; COMMIT") }
      if synchronization == .deferred { try database.execute("PRAGMA synchronous = NORMAL") }
      return try Int(database.integer("PRAGMA page_size") ?? 4096)
    }
    // If the file allows only one connection, that one copies the log.
    let second =
      sharing == .exclusive
      ? nil
      : try Connection(
        file, .writing, timeout: BusyTimeout(timeout.duration),
        pragmas: "\(Connection.durability) PRAGMA cache_size = -64;")
    let copying = LogCopying(on: second, limit: logLimit, pageSize: pageSize)
    return try DatabaseWriter(
      file, identity, format: self, connection: connection, timeout: timeout, copying: copying)
  }

  private func writingConnection(
    _ file: DatabaseFile, timeout: BusyTimeout
  ) throws(SQLiteError) -> Connection {
    try Connection(
      file, .writing, timeout: timeout,
      pragmas: """
        PRAGMA page_size = \(pageSize);
        \(sharing == .exclusive ? "PRAGMA locking_mode = EXCLUSIVE;" : "")
        \(Connection.durability)
        \(pragmas)
        """)
  }

  private static func useWriteAheadLog(_ database: Database) throws {
    guard try database.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
      throw SQLiteError(
        .inputOutput, at: database.path, "It cannot be put into write-ahead mode: is it writable?")
    }
  }

  // MARK: - Upgrading

  /// Indicates whether this build can upgrade files of a version.
  private func isUpgradable(_ version: Int64) -> Bool { upgrade != nil && 0..<layout.version ~= version }

  private func upgradeLayout(of database: Database) throws {
    guard let upgrade, try isUpgradable(layout.storedVersion(in: database)) else { return }
    try database.transaction {
      let version = try layout.storedVersion(in: database)
      // Another process may have upgraded the file meanwhile.
      guard isUpgradable(version) else { return }
      // The check must precede the upgrade. Afterwards, foreign objects in the earlier version's schema could no longer
      // be found.
      try upgrade.layout(version).requireSchema(in: database)
      try upgrade.run(database, version)
      try database.execute("PRAGMA user_version = \(layout.version)")
    }
  }

  // MARK: - Reading

  /// Checks that a file has this format and a version that can be opened, and changes nothing. Throws ``SQLiteError``
  /// with `notFound`, `occupied` or `unsupported`, and those of reading.
  package func check(_ file: DatabaseFile, busyTimeout: Duration) throws {
    try file.requireContents()
    let connection = try readingConnection(file, .reading, timeout: busyTimeout)
    defer { try? connection.close() }
    try connection.use { database in
      guard try !isUpgradable(layout.storedVersion(in: database)) else { return }
      try layout.requireVersion(in: database)
    }
  }

  /// Opens a file for reading only. If there is no log beside the file, and SQLite cannot create one, only the file
  /// itself is read. Throws ``SQLiteError`` with `notFound`, `occupied`, `unsupported`, `corrupt`, or `inputOutput` if
  /// there is a log that cannot be read without writing.
  package func openReadOnly(_ file: DatabaseFile, busyTimeout: Duration) throws -> ReaderPool {
    try file.requireContents()
    let hasLog = file.hasLog
    func open(_ access: Connection.Access) throws -> ReaderPool {
      let first = try readingConnection(file, access, timeout: busyTimeout)
      try first.use(layout.require)
      return readers(of: file, access, idle: [first], busyTimeout: busyTimeout)
    }
    do {
      return try open(.reading)
    } catch let error as SQLiteError where error.code == .inputOutput && !hasLog {
      // SQLite cannot create its files beside this one, and does not need them.
      return try open(.readingImmutable)
    }
  }

  /// The reading connections of a file that is open for writing, or that is only read.
  package func readers(
    of file: DatabaseFile, _ access: Connection.Access = .reading, idle: [Connection] = [],
    busyTimeout: Duration
  ) -> ReaderPool {
    ReaderPool(path: file.path, idle: idle) { () throws(SQLiteError) in
      try readingConnection(file, access, timeout: busyTimeout)
    }
  }

  private func readingConnection(
    _ file: DatabaseFile, _ access: Connection.Access, timeout: Duration
  ) throws(SQLiteError) -> Connection {
    try Connection(file, access, timeout: BusyTimeout(timeout), pragmas: readerPragmas)
  }
}
