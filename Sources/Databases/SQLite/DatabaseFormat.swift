// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A format of database files: their layout, and the settings with which they are created and opened.
///
/// Each kind of file that is opened again is a value of this type.
package struct DatabaseFormat: Sendable {
  /// The upgrade of files with an earlier layout.
  package struct Upgrade: Sendable {
    /// The layouts of the versions from 0 on. A file is created as version 0.
    let layout: @Sendable (_ version: Int64) -> DatabaseLayout
    /// Changes tables and rows of an earlier version to those of the current one, within a transaction.
    let run: @Sendable (_ database: Database, _ version: Int64) throws -> Void

    package init(
      layout: @escaping @Sendable (_ version: Int64) -> DatabaseLayout,
      run: @escaping @Sendable (_ database: Database, _ version: Int64) throws -> Void
    ) {
      self.layout = layout
      self.run = run
    }
  }

  /// The number of processes that may have a file open at a time.
  package enum Sharing: Sendable {
    /// Any number. A connection waits for the locks of others up to the busy timeout.
    case shared
    /// One, with one connection, because the process keeps the content of the file in memory.
    ///
    /// The file is locked while it is open, and opening it waits until others close it, up to the busy timeout.
    case exclusive
  }

  /// The time at which commits are synced.
  package enum Synchronization: Sendable {
    /// SQLite syncs each commit before the commit returns.
    case atCommit
    /// ``DatabaseWriter/synchronize()`` syncs the log, once for all commits before it.
    ///
    /// SQLite itself still syncs the log before it copies it into the file, the file after that, and the beginning of
    /// the log when it is rewritten. After a power failure, the file is therefore in the state after some commit.
    case deferred
  }

  /// The maximum number of idle reading connections to keep.
  private static let maximumIdleReaders = 4

  /// The current layout.
  package let layout: DatabaseLayout
  private let upgrade: Upgrade?
  private let sharing: Sharing
  private let synchronization: Synchronization
  private let pageSize: Int
  private let logLimit: Int
  private let pragmas: String
  private let readerPragmas: String
  /// The instruction to open a file again, which ends the error of a failed sync.
  let reopening: String

  /// - Parameters:
  ///   - layout: The current layout.
  ///   - upgrade: The upgrade of earlier layouts; `nil` if files of other versions are refused.
  ///   - sharing: The number of processes that may have a file open at a time.
  ///   - synchronization: The time at which commits are synced.
  ///   - pageSize: The size of the pages of new files, in bytes.
  ///   - logLimit: The length of the log from which commits wait for it to be copied into the file, in bytes.
  ///   - pragmas: Further settings of the connection that writes.
  ///   - readerPragmas: Settings of the connections that read.
  ///   - reopening: A sentence that tells the user to open the file again, for the error of a failed sync.
  package init(
    layout: DatabaseLayout, upgrade: Upgrade? = nil, sharing: Sharing, synchronization: Synchronization,
    pageSize: Int, logLimit: Int, pragmas: String, readerPragmas: String = "", reopening: String
  ) {
    self.layout = layout
    self.upgrade = upgrade
    self.sharing = sharing
    self.synchronization = synchronization
    self.pageSize = pageSize
    self.logLimit = logLimit
    self.pragmas = pragmas
    self.readerPragmas = readerPragmas
    self.reopening = reopening
  }

  // MARK: - Creating

  /// Creates a file that only its owner can read and write. It appears under its name when it is complete, with its
  /// directory synced.
  ///
  /// - Parameters:
  ///   - file: A file that does not exist, in a directory that does.
  ///   - fill: Adds the first rows.
  /// - Throws: ``SQLiteError`` with `occupied` if the path is taken, `full`, `inputOutput` or `syncFailed`; and any
  ///   error from `fill`.
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

  /// Opens a file for writing. If it does not exist, it is created.
  ///
  /// - Throws: ``SQLiteError``, as ``create(_:_:)`` and ``open(_:busyTimeout:)``.
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

  /// Opens a file for writing, and upgrades its layout.
  ///
  /// Everything that a process committed before it crashed is present, and is on disk when this returns.
  ///
  /// - Throws: ``SQLiteError`` with `notFound`; `occupied` if the file has another format; `unsupported` if the layout
  ///   has another version; `corrupt` if there is anything else in the schema; `busy`, `full`, `inputOutput` or
  ///   `syncFailed`; and any error from the upgrade.
  package func open(_ file: DatabaseFile, busyTimeout: Duration) throws -> DatabaseWriter {
    let identity = try file.requireContents()
    switch sharing {
    case .shared: return try open(file, identity, timeout: BusyTimeout(busyTimeout))
    case .exclusive: return try openExclusively(file, identity, within: busyTimeout)
    }
  }

  private func openExclusively(
    _ file: DatabaseFile, _ identity: File.Identity, within limit: Duration
  ) throws -> DatabaseWriter {
    let end = ContinuousClock.now + limit
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
    let copying = LogCopying(
      on: try copyingConnection(file, timeout.duration), limit: logLimit, pageSize: pageSize)
    return try DatabaseWriter(
      file, identity, format: self, connection: connection, timeout: timeout, copying: copying)
  }

  /// The connection that copies the log; `nil` if the file allows only one connection.
  private func copyingConnection(
    _ file: DatabaseFile, _ busyTimeout: Duration
  ) throws(SQLiteError) -> Connection? {
    guard sharing == .shared else { return nil }
    return try Connection(
      file, .writing, timeout: BusyTimeout(busyTimeout),
      pragmas: "\(Connection.durability) PRAGMA cache_size = -64;")
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

  /// Checks that a file has this format and a version that can be opened, and changes nothing.
  ///
  /// - Throws: ``SQLiteError`` with `notFound`, `occupied` or `unsupported`, and those of reading.
  package func check(_ file: DatabaseFile, busyTimeout: Duration) throws {
    try file.requireContents()
    let connection = try readingConnection(file, .reading, timeout: busyTimeout)
    defer { try? connection.close() }
    try connection.use { database in
      guard try !isUpgradable(layout.storedVersion(in: database)) else { return }
      try layout.requireVersion(in: database)
    }
  }

  /// Opens a file for reading only.
  ///
  /// If there is no log beside the file, and SQLite cannot create one, only the file itself is read.
  ///
  /// - Throws: ``SQLiteError`` with `notFound`, `occupied`, `unsupported`, `corrupt`, or `inputOutput` if there is a
  ///   log that cannot be read without writing.
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

  /// The reading connections of a file that is open for writing.
  package func readers(of file: DatabaseFile, busyTimeout: Duration) -> ReaderPool {
    readers(of: file, .reading, idle: [], busyTimeout: busyTimeout)
  }

  private func readers(
    of file: DatabaseFile, _ access: Connection.Access, idle: [Connection], busyTimeout: Duration
  ) -> ReaderPool {
    ReaderPool(path: file.path, idle: idle, maximumIdle: Self.maximumIdleReaders) {
      () throws(SQLiteError) in try readingConnection(file, access, timeout: busyTimeout)
    }
  }

  private func readingConnection(
    _ file: DatabaseFile, _ access: Connection.Access, timeout: Duration
  ) throws(SQLiteError) -> Connection {
    try Connection(file, access, timeout: BusyTimeout(timeout), pragmas: readerPragmas)
  }
}
