// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

extension StorageError {
  /// Converts an SQLite error to an error of the storage protocol.
  init(_ error: SQLiteError) {
    let code: Code =
      switch error.code {
      case .notFound, .moved: .notFound
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

  /// Runs `body` and converts its SQLite errors to storage errors.
  ///
  /// Other errors, such as those of a caller's closure, are rethrown as they are.
  static func mapping<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw StorageError(error)
    }
  }
}
