// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import GRDB
  internal import SQLiteFiles

  /// Faults of the file in the words of the storage's contract.
  enum SQLiteFault {
    /// The error for a failed call on `connection`.
    static func error(_ code: Int32, on database: Database, at place: String) -> StorageError {
      error(DatabaseFault(result: code, on: database, at: place))
    }

    /// The same for what GRDB or a file threw; other errors, such as those of a caller's closure, stay what they are.
    static func mapped(_ error: any Error, at place: String) -> any Error {
      DatabaseFault(error, at: place).map { self.error($0) } ?? error
    }

    static func error(_ extended: Int32, _ message: String, at place: String) -> StorageError {
      error(DatabaseFault(result: extended, message, at: place))
    }

    static func error(_ fault: DatabaseFault) -> StorageError {
      let code: StorageError.Code =
        switch fault.code {
        case .notFound: .notFound
        case .occupied: .notATrail
        case .full: .full
        case .busy: .busy
        case .inputOutput: .inputOutput
        case .syncFailed: .syncFailed
        case .corrupt: .corrupt
        case .unsupported: .unsupported
        }
      return StorageError(code, at: fault.place, fault.message)
    }

    /// Runs `body`, whose faults are thrown as the contract has them.
    static func mapping<Result>(_ body: () throws(DatabaseFault) -> Result) throws(StorageError) -> Result {
      do { return try body() } catch { throw self.error(error) }
    }
  }
#endif
