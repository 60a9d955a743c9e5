// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

/// Opens the connections of a trail.
enum TrailConnection {
  /// The layout with the application ID "RKAT" and a table for each `StorageTable`.
  static let layout = DatabaseLayout(
    applicationID: 0x524B_4154, version: 3,
    statements: StorageTable.allCases.map { TableStatements[$0].create })

  /// Opens the only connection that writes.
  ///
  /// `secure_delete = FAST` zeroes the space that becomes free in pages that are written anyway. Without it, a page
  /// that SQLite splits keeps its old rows, and later erasing cannot reach them.
  static func writer(
    _ file: DatabaseFile, tuning: SQLiteTuning, timeout: BusyTimeout
  ) throws(SQLiteError) -> Connection {
    try Connection(
      file, .writing, timeout: timeout,
      pragmas: """
        PRAGMA page_size = \(tuning.pageSize);
        \(Connection.durability)
        PRAGMA secure_delete = FAST;
        PRAGMA cache_size = -\(tuning.writerCache / 1024);
        PRAGMA journal_size_limit = \(tuning.logLimit);
        """)
  }

  /// Defers the sync of commits to ``SQLiteStorage/synchronize()``.
  ///
  /// SQLite itself still syncs the log before it copies it into the file, the file after that, and the beginning of
  /// the log when it is rewritten. After a power failure, the file is therefore in the state after some commit.
  static let deferredSync = "PRAGMA synchronous = NORMAL"

  /// Opens the connection that copies the log into the file.
  static func copier(_ file: DatabaseFile, timeout: BusyTimeout) throws(SQLiteError) -> Connection {
    try Connection(
      file, .writing, timeout: timeout, pragmas: "\(Connection.durability) PRAGMA cache_size = -64;")
  }

  static func reader(
    _ file: DatabaseFile, tuning: SQLiteTuning, timeout: BusyTimeout, isImmutable: Bool = false
  ) throws(SQLiteError) -> Connection {
    try Connection(
      file, isImmutable ? .readingImmutable : .reading, timeout: timeout,
      pragmas: "PRAGMA cache_size = -\(tuning.readerCache / 1024)")
  }
}

/// Sizes that were determined by measurement.
struct SQLiteTuning: Sendable {
  /// The size of a page, in bytes. Larger pages make bundles faster and single appends slower.
  var pageSize = 16384
  /// The length of the log from which commits wait for it to be copied into the file, in bytes.
  var logLimit = 32 << 20
  /// The size of the writer's page cache, in bytes.
  var writerCache = 4 << 20
  /// The size of each reader's page cache, in bytes.
  var readerCache = 1 << 20
  /// The maximum number of idle readers to keep.
  var idleReaders = 4
}
