// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

extension DatabaseLayout {
  /// The layout of a trail: the application ID "RKAT" and a table for each `StorageTable`.
  static let trail = DatabaseLayout(
    applicationID: 0x524B_4154, version: 3,
    statements: StorageTable.allCases.map { TableStatements[$0].create })
}

extension DatabaseFormat {
  /// The format of a trail's file.
  ///
  /// `secure_delete = FAST` zeroes the space that becomes free in pages that are written anyway. Without it, a page
  /// that SQLite splits keeps its old rows, and later erasing cannot reach them.
  static func trail(_ tuning: SQLiteTuning = SQLiteTuning()) -> DatabaseFormat {
    DatabaseFormat(
      layout: .trail, sharing: .shared, synchronization: .deferred, pageSize: tuning.pageSize,
      logLimit: tuning.logLimit,
      pragmas: """
        PRAGMA secure_delete = FAST;
        PRAGMA cache_size = -\(tuning.writerCache / 1024);
        PRAGMA journal_size_limit = \(tuning.logLimit);
        """,
      readerPragmas: "PRAGMA cache_size = -\(tuning.readerCache / 1024)",
      reopening: "Open the trail anew.")
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
}
