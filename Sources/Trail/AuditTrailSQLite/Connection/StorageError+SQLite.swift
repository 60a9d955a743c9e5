// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

extension StorageError {
  /// An error of SQLite in the words of the storage's contract.
  init(_ error: SQLiteError) {
    let code: Code =
      switch error.code {
      case .notFound: .notFound
      case .occupied: .notATrail
      case .full: .full
      case .busy: .busy
      case .inputOutput: .inputOutput
      case .syncFailed: .syncFailed
      case .corrupt: .corrupt
      case .unsupported: .unsupported
      case .closed: .closed
      }
    self.init(code, at: error.place, error.code == .closed ? "The trail was closed." : error.message)
  }

  /// Runs `body`, whose errors of SQLite are thrown as the contract has them. Others, such as those of a caller's
  /// closure, stay what they are.
  static func mapping<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw StorageError(error)
    }
  }
}
