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
  /// The format of a trail's file. `secure_delete = FAST` zeroes the space that becomes free in pages that are written
  /// anyway. Without it, a page that SQLite splits keeps its old rows, and later erasing cannot reach them.
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

extension StorageError {
  /// Converts an SQLite error to an error of the storage protocol.
  init(_ error: SQLiteError) {
    let (code, message) = error.translated(occupied: Code.notATrail, closed: "The trail was closed.")
    self.init(code, at: error.place, message)
  }

  /// Runs `body` and converts its SQLite errors to storage errors. Other errors, such as those of a caller's closure,
  /// are rethrown as they are.
  static func mapping<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw StorageError(error)
    }
  }
}
