// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

extension SQLiteStorage {
  /// The default time that a write waits for writes of other processes.
  public static let defaultBusyTimeout: Duration = .seconds(30)

  /// Creates an empty trail that only its owner can read and write.
  ///
  /// The file appears under its name when it is complete, with its directory synced.
  ///
  /// - Parameters:
  ///   - path: The path of a file that does not exist, in a directory that does.
  ///   - busyTimeout: The maximum time that a write waits for writes of other processes.
  /// - Throws: `StorageError` with `notATrail` if the path is taken, `full`, `inputOutput` or `syncFailed`.
  public convenience init(
    creatingAt path: String, busyTimeout: Duration = SQLiteStorage.defaultBusyTimeout
  ) throws {
    try StorageError.mapping { try DatabaseFormat.trail().create(DatabaseFile(path)) }
    try self.init(openingAt: path, busyTimeout: busyTimeout)
  }

  /// Opens a trail.
  ///
  /// Everything that a process committed before it crashed is present, and is on disk when this returns.
  ///
  /// - Parameters:
  ///   - path: The path of the trail's file.
  ///   - busyTimeout: The maximum time that a write waits for writes of other processes.
  /// - Throws: `StorageError` with `notFound`, `notATrail`, `unsupported` if the layout has a different version,
  ///   `corrupt`, `busy`, `inputOutput` or `syncFailed`.
  public convenience init(
    openingAt path: String, busyTimeout: Duration = SQLiteStorage.defaultBusyTimeout
  ) throws {
    try self.init(openingAt: path, busyTimeout: busyTimeout, tuning: SQLiteTuning())
  }
}
