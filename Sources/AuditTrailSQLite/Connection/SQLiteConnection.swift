// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import SQLiteFiles

  /// How connections are opened.
  enum SQLiteConnection {
    /// "RKAT": what the file says it is (`PRAGMA application_id`).
    static let applicationID: Int32 = 0x524B_4154

    /// The layout of the tables (`PRAGMA user_version`).
    static let layoutVersion: Int32 = 3

    /// The only connection that writes.
    ///
    /// `secure_delete = FAST` zeroes what becomes free within pages that are written anyway. Without it a page that
    /// SQLite splits keeps its old rows, out of reach of any erasing that comes later.
    static func writer(_ file: DatabaseFile, tuning: SQLiteTuning, patience: Patience) throws -> DatabaseQueue
    {
      try open(
        file, readonly: false, patience: patience,
        """
        PRAGMA page_size = \(tuning.pageSize);
        \(DatabaseConnection.durability)
        PRAGMA secure_delete = FAST;
        PRAGMA cache_size = -\(tuning.writerCache / 1024);
        PRAGMA journal_size_limit = \(tuning.logLimit);
        """)
    }

    /// Leaves the sync of commits to ``SQLiteStorage/synchronize()``. SQLite itself goes on syncing the log before it
    /// copies it into the file, the file after that, and the log's beginning when it is written anew: what a loss of
    /// power leaves is the file as it was after some commit.
    static let deferredSync = "PRAGMA synchronous = NORMAL"

    /// The connection that copies the log into the file.
    static func copier(_ file: DatabaseFile, patience: Patience) throws -> DatabaseQueue {
      try open(
        file, readonly: false, patience: patience,
        "\(DatabaseConnection.durability) PRAGMA cache_size = -64;")
    }

    static func reader(
      _ file: DatabaseFile, tuning: SQLiteTuning, patience: Patience, isImmutable: Bool = false
    ) throws -> DatabaseQueue {
      try open(
        file, readonly: true, isImmutable: isImmutable, patience: patience,
        "PRAGMA cache_size = -\(tuning.readerCache / 1024)")
    }

    private static func open(
      _ file: DatabaseFile, readonly: Bool, isImmutable: Bool = false, patience: Patience, _ pragmas: String
    ) throws -> DatabaseQueue {
      try SQLiteFault.mapping { () throws(DatabaseFault) in
        try DatabaseConnection.open(
          file, readonly: readonly, isImmutable: isImmutable, patience: patience, pragmas: pragmas)
      }
    }
  }

  /// Sizes, found by measurement.
  struct SQLiteTuning: Sendable {
    /// Bytes of a page. Larger ones make bundles faster and single appends slower.
    var pageSize = 16384
    /// How long the log grows before commits wait for it to be copied into the file, in bytes.
    var logLimit = 32 << 20
    /// Bytes of pages that the writer keeps.
    var writerCache = 4 << 20
    /// Bytes of pages that each reader keeps.
    var readerCache = 1 << 20
    /// How many readers are kept while nobody uses them.
    var idleReaders = 4
  }
#endif
