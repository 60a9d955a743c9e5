// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

extension SQLiteError: Error {
  /// The error of a call that returned an extended result code.
  package init(result: Int32, _ message: String, at place: String) {
    let text = message.isEmpty ? unsafe String(cString: sqlite3_errstr(result)) : message
    let (code, advice) = Self.classify(result)
    self.init(code, at: place, "SQLite: \(text) (\(result)). \(advice)")
  }

  package func at(_ place: String) -> SQLiteError { SQLiteError(code, at: place, message) }

  /// The code and the message in terms of a storage, whose codes have the same names. `occupied` is the storage's code
  /// for a path that is taken, or a file of a different type, and `closed` the message after the storage was closed.
  package func translated<StorageCode: RawRepresentable<String>>(
    occupied: StorageCode, closed: String
  ) -> (code: StorageCode, message: String) {
    let name = code == .moved ? Code.notFound : code
    return (StorageCode(rawValue: name.rawValue) ?? occupied, code == .closed ? closed : message)
  }

  private static func classify(_ result: Int32) -> (Code, String) {
    switch result {
    case ioError(4), ioError(5):  // SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC
      return (.syncFailed, "Find out why the disk fails, then open it anew.")
    case ioError(33):  // SQLITE_IOERR_CORRUPTFS
      return (.corrupt, "Check the file system.")
    default:
      break
    }
    return switch result & 0xFF {
    case SQLITE_FULL: (.full, "Nothing was stored. Make space and try again.")
    case SQLITE_BUSY, SQLITE_LOCKED: (.busy, "Another process holds it. Try again.")
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT:
      (.corrupt, "Restore it from a backup.")
    case SQLITE_TOOBIG: (.unsupported, "The value is larger than SQLite stores.")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY:
      (.inputOutput, "Check the permissions of the file and its directory.")
    default: (.inputOutput, "Nothing was stored.")
    }
  }

  /// The extended result code of an I/O error. These codes are macros that Swift does not import.
  private static func ioError(_ number: Int32) -> Int32 { SQLITE_IOERR | number << 8 }
}
