// SPDX-License-Identifier: Apache-2.0

internal import SQLite
public import Storefront

extension SQLiteRecordStorage {
  /// The default busy timeout for opening a file.
  public static let defaultBusyTimeout: Duration = .seconds(5)

  /// Opens a file of records. If it does not exist, an empty one is created.
  ///
  /// - Parameters:
  ///   - path: The file, in a directory that exists.
  ///   - busyTimeout: The longest time to wait for another process to close the file.
  /// - Throws: `RecordStorageError` with `notAStorage`, `corrupt`, `busy`, `full`, `inputOutput`, `syncFailed`, or
  ///   `unsupported` if the layout is of a later version.
  public convenience init(
    at path: String, busyTimeout: Duration = SQLiteRecordStorage.defaultBusyTimeout
  ) throws(RecordStorageError) {
    try self.init(path) { try RecordTable.format.openOrCreate($0, busyTimeout: busyTimeout) }
  }

  /// Creates an empty file of records, readable and writable only by its owner, and opens it. The file appears under
  /// its name when it is complete, and its directory is synced. `notAStorage` is thrown if the path exists.
  package convenience init(
    creatingAt path: String, busyTimeout: Duration = SQLiteRecordStorage.defaultBusyTimeout
  ) throws(RecordStorageError) {
    try self.init(path) { file in
      try RecordTable.format.create(file)
      return try RecordTable.format.open(file, busyTimeout: busyTimeout)
    }
  }

  /// Opens a file of records. `notFound` is thrown if it does not exist. Everything that a crashed process had
  /// committed is present.
  package convenience init(
    openingAt path: String, busyTimeout: Duration = SQLiteRecordStorage.defaultBusyTimeout
  ) throws(RecordStorageError) {
    try self.init(path) { try RecordTable.format.open($0, busyTimeout: busyTimeout) }
  }
}
