// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import GRDBSQLite

  /// SQLite's result codes in the words of the storage's contract.
  enum SQLiteFault {
    /// The error for a failed call on `connection`.
    static func error(_ code: Int32, on database: Database, at place: String) -> StorageError {
      var message = ""
      if let connection = unsafe database.sqliteConnection {
        message = unsafe String(cString: sqlite3_errmsg(connection))
      }
      return error(code, message, at: place)
    }

    /// The same for what GRDB threw; other errors, such as those of a caller's closure, stay what they are.
    static func mapped(_ error: any Error, at place: String) -> any Error {
      guard let fault = error as? DatabaseError else { return error }
      return self.error(fault.extendedResultCode.rawValue, fault.message ?? "", at: place)
    }

    static func error(_ extended: Int32, _ message: String, at place: String) -> StorageError {
      let text = message.isEmpty ? unsafe String(cString: sqlite3_errstr(extended)) : message
      let (code, advice) = classify(extended)
      return StorageError(code, at: place, "SQLite: \(text) (\(extended)). \(advice)")
    }

    private static func classify(_ extended: Int32) -> (StorageError.Code, String) {
      switch extended {
      case ioError(4), ioError(5):  // SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC
        return (.syncFailed, "Find out why the disk fails, then open the trail anew.")
      case ioError(33):  // SQLITE_IOERR_CORRUPTFS
        return (.corrupt, "Check the file system.")
      default:
        break
      }
      switch extended & 0xFF {
      case SQLITE_FULL:
        return (.full, "Nothing was stored. Make space and try again.")
      case SQLITE_BUSY, SQLITE_LOCKED:
        return (.busy, "Another process holds the trail. Try again.")
      case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT:
        return (.corrupt, "Restore the trail from a backup.")
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
#endif
