// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

/// The options with which the connections of a trail are opened.
enum TrailConnection {
  /// "RKAT", and a table for each `StorageTable`.
  static let layout = DatabaseLayout(
    applicationID: 0x524B_4154, version: 3,
    statements: StorageTable.allCases.map { TableStatements[$0].create })

  /// The only connection that writes.
  ///
  /// `secure_delete = FAST` zeroes what becomes free within pages that are written anyway. Without it a page that
  /// SQLite splits keeps its old rows, out of reach of any erasing that comes later.
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

  /// Leaves the sync of commits to ``SQLiteStorage/synchronize()``. SQLite itself goes on syncing the log before it
  /// copies it into the file, the file after that, and the log's beginning when it is rewritten: what a loss of
  /// power leaves is the file as it was after some commit.
  static let deferredSync = "PRAGMA synchronous = NORMAL"

  /// The connection that copies the log into the file.
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

/// Sizes, found by measurement.
struct SQLiteTuning: Sendable {
  /// Bytes of a page. Larger ones make bundles faster and single appends slower.
  var pageSize = 16384
  /// The size to which the log grows before commits wait for it to be copied into the file, in bytes.
  var logLimit = 32 << 20
  /// Bytes of pages that the writer keeps.
  var writerCache = 4 << 20
  /// Bytes of pages that each reader keeps.
  var readerCache = 1 << 20
  /// The number of readers that are kept while nobody uses them.
  var idleReaders = 4
}
