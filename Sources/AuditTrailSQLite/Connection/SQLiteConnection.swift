// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import Synchronization

  /// How connections are opened.
  enum SQLiteConnection {
    /// "RKAT": what the file says it is (`PRAGMA application_id`).
    static let applicationID: Int32 = 0x524B_4154

    /// The layout of the tables (`PRAGMA user_version`).
    static let layoutVersion: Int32 = 1

    /// The only connection that writes.
    ///
    /// `secure_delete = FAST` zeroes what becomes free within pages that are written anyway. Without it a page that
    /// SQLite splits keeps its old rows, out of reach of any erasing that comes later.
    static func writer(_ file: TrailFile, tuning: SQLiteTuning, patience: Patience) throws -> DatabaseQueue {
      try open(file, readonly: false, patience: patience) { database in
        try database.execute(
          sql: """
            PRAGMA page_size = \(tuning.pageSize);
            PRAGMA synchronous = FULL;
            PRAGMA fullfsync = ON;
            PRAGMA checkpoint_fullfsync = ON;
            PRAGMA secure_delete = FAST;
            PRAGMA cache_size = -\(tuning.writerCache / 1024);
            PRAGMA journal_size_limit = \(tuning.logLimit);
            """)
      }
    }

    /// The connection that copies the log into the file.
    static func copier(_ file: TrailFile, patience: Patience) throws -> DatabaseQueue {
      try open(file, readonly: false, patience: patience) { database in
        try database.execute(
          sql: """
            PRAGMA synchronous = FULL;
            PRAGMA fullfsync = ON;
            PRAGMA checkpoint_fullfsync = ON;
            PRAGMA cache_size = -64;
            """)
      }
    }

    static func reader(_ file: TrailFile, tuning: SQLiteTuning, patience: Patience) throws -> DatabaseQueue {
      try open(file, readonly: true, patience: patience) { database in
        try database.execute(sql: "PRAGMA cache_size = -\(tuning.readerCache / 1024)")
      }
    }

    private static func open(
      _ file: TrailFile, readonly: Bool, patience: Patience,
      _ prepare: @escaping @Sendable (Database) throws -> Void
    ) throws -> DatabaseQueue {
      var configuration = Configuration()
      configuration.readonly = readonly
      configuration.foreignKeysEnabled = false
      // GRDB would end the process where a transaction cannot be ended; here the next use of it fails.
      configuration.allowsUnsafeTransactions = true
      configuration.busyMode = .callback { patience.waits(after: $0) }
      configuration.prepareDatabase { database in
        // Pages of mapped files and temporary files would count as memory and escape erasing.
        try database.execute(
          sql: """
            PRAGMA mmap_size = 0;
            PRAGMA temp_store = MEMORY;
            PRAGMA trusted_schema = OFF;
            """)
        try prepare(database)
      }
      do {
        return try DatabaseQueue(path: file.databasePath, configuration: configuration)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
        throw StorageError(.notATrail, at: file.path, "It is not an SQLite database.")
      } catch {
        throw SQLiteFault.mapped(error, at: file.path)
      }
    }
  }

  /// How long to wait for other processes. SQLite has no queue for its locks: whoever waits asks again.
  final class Patience: Sendable {
    private let state: Mutex<State>

    private struct State {
      var limit: Duration
      var start = ContinuousClock.now
    }

    init(_ limit: Duration) { state = Mutex(State(limit: limit)) }

    /// Waits a little, or says that it was enough.
    func waits(after tries: Int) -> Bool {
      let goesOn = state.withLock { state in
        if tries == 0 { state.start = .now }
        return ContinuousClock.now - state.start < state.limit
      }
      if goesOn { TrailFile.sleep(microseconds: UInt32(min(500 + tries * 250, 10_000))) }
      return goesOn
    }

    /// Runs `body` without waiting.
    func without<Result>(_ body: () throws -> Result) rethrows -> Result {
      let limit = state.withLock { state in
        defer { state.limit = .zero }
        return state.limit
      }
      defer { state.withLock { $0.limit = limit } }
      return try body()
    }
  }

  /// Sizes, found by measurement.
  struct SQLiteTuning: Sendable {
    /// Bytes of a page. Larger ones make bundles faster and single appends slower.
    var pageSize = 16384
    /// How long the log grows before commits wait for it to be copied into the file, in bytes.
    var logLimit = 32 << 20
    /// Bytes of pages that the writer keeps.
    var writerCache = 8 << 20
    /// Bytes of pages that each reader keeps.
    var readerCache = 2 << 20
    /// How many readers are kept while nobody uses them.
    var idleReaders = 4
  }
#endif
