// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// The failure of a call of SQLite, or of the operating system on a database file.
package struct SQLiteError: Error, Sendable, Hashable {
  package let code: Code
  package let place: String
  /// A description of the failure and its remedy.
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

  /// The same error with another place.
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

  /// The extended result code of an I/O error. These codes are macros that Swift does not import.
  private static func ioError(_ number: Int32) -> Int32 { SQLITE_IOERR | number << 8 }
}
