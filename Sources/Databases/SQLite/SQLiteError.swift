// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// A call of SQLite, or of the system on a database's file, that failed.
package struct SQLiteError: Error, Sendable, Hashable {
  /// The kind of fault; each storage maps it to a code of its own.
  package enum Code: Sendable, Hashable, CaseIterable {
    /// There is no such file.
    case notFound
    /// The place is taken, or what is there is something else.
    case occupied
    /// The disk is full. Nothing was stored.
    case full
    /// Others hold the file.
    case busy
    /// Reading failed, or writing failed before the commit.
    case inputOutput
    /// A sync failed: it is not known what is stored.
    case syncFailed
    /// The stored value cannot be the one that was written.
    case corrupt
    /// This build cannot do it.
    case unsupported
    /// The connection was closed.
    case closed
  }

  package let code: Code
  package let place: String
  /// A description of the fault and the remedy.
  package let message: String

  package init(_ code: Code, at place: String, _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The error of a call that returned an extended result code.
  package init(result: Int32, _ message: String, at place: String) {
    let text = message.isEmpty ? unsafe String(cString: sqlite3_errstr(result)) : message
    let (code, advice) = Self.classify(result)
    self.init(code, at: place, "SQLite: \(text) (\(result)). \(advice)")
  }

  /// The same error at another place.
  package func at(_ place: String) -> SQLiteError { SQLiteError(code, at: place, message) }

  private static func classify(_ result: Int32) -> (Code, String) {
    switch result {
    case ioError(4), ioError(5):  // SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC
      return (.syncFailed, "Find out why the disk fails, then open it anew.")
    case ioError(33):  // SQLITE_IOERR_CORRUPTFS
      return (.corrupt, "Check the file system.")
    default:
      break
    }
    switch result & 0xFF {
    case SQLITE_FULL:
      return (.full, "Nothing was stored. Make space and try again.")
    case SQLITE_BUSY, SQLITE_LOCKED:
      return (.busy, "Another process holds it. Try again.")
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT:
      return (.corrupt, "Restore it from a backup.")
    case SQLITE_TOOBIG:
      return (.unsupported, "The value is larger than SQLite stores.")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY:
      return (.inputOutput, "Check the permissions of the file and its directory.")
    default:
      return (.inputOutput, "Nothing was stored.")
    }
  }

  /// The extended codes are macros that Swift does not see.
  private static func ioError(_ number: Int32) -> Int32 { SQLITE_IOERR | number << 8 }
}
