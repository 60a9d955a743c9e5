// SPDX-License-Identifier: Apache-2.0

package import AuditTrail
internal import SQLite

extension SQLiteStorage {
  /// Copies the current state of the trail to another file, while the trail is read and written.
  ///
  /// The copy appears under its name when it is complete and on disk. It contains everything that was written before
  /// the call. The trail's log grows during the copy, because the copy reads one snapshot.
  ///
  /// The copy contains no keys of erasable parts, so data that is erased in the trail later cannot be read from the
  /// copy either. The keys are never written to it, so that even the remains of a killed process do not contain them.
  /// The copy can be read without the keys. To write to it, restore the returned keys with
  /// `ErasureKeyBackup.restore(to:)`.
  ///
  /// - Parameter path: The path of a file that does not exist, in a directory that does.
  /// - Returns: The keys that were left out of the copy; `nil` if the trail itself contains no keys.
  /// - Throws: `StorageError` with `notATrail` if the path is taken, and the errors of reading and creating a trail.
  @discardableResult
  package func backUp(to path: String) throws -> ErasureKeyBackup? {
    // The copy must not contain commits that the trail itself could still lose, so the trail is synced.
    try TrailCopy.make(of: self, at: path, pageSize: tuning.pageSize, timeout: timeout, synchronize)
  }
}

extension SQLiteReadOnlyStorage {
  /// Copies the current state of the trail to another file, as ``SQLiteStorage/backUp(to:)`` does, without writing to
  /// the trail.
  ///
  /// A process that is appending to the trail may not have synced its last commits yet. The copy contains them
  /// nevertheless.
  ///
  /// - Parameter path: The path of a file that does not exist, in a directory that does.
  /// - Returns: The keys that were left out of the copy; `nil` if the trail itself contains no keys.
  /// - Throws: `StorageError` with `notATrail` if the path is taken, and the errors of reading and creating a trail.
  @discardableResult
  package func backUp(to path: String) throws -> ErasureKeyBackup? {
    let tuning = SQLiteTuning()
    return try TrailCopy.make(of: self, at: path, pageSize: tuning.pageSize, timeout: timeout) {}
  }
}

/// Copies a trail without its keys.
private enum TrailCopy {
  static func make(
    of storage: some TrailStorage, at path: String, pageSize: Int, timeout: BusyTimeout,
    _ synchronize: () throws -> Void
  ) throws -> ErasureKeyBackup? {
    var keys: ErasureKeyBackup?
    try StorageError.mapping {
      try DatabaseFile(path).create { file in
        let tuning = SQLiteTuning(pageSize: pageSize)
        let copy = try TrailConnection.writer(file, tuning: tuning, timeout: timeout)
        // The copy is not visible before it is complete, so it needs no journal on disk.
        try copy.use { try $0.execute("PRAGMA journal_mode = MEMORY") }
        keys = try storage.read { reader in
          try copy.use { try copyTables(of: reader, into: $0) }
          return try reader.lastKey(.keys, in: 0...Int64.max).map { _ in try ErasureKeyBackup(reading: reader)
          }
        }
        try copy.use { try $0.execute("PRAGMA journal_mode = WAL") }
        try synchronize()
        try copy.close()
      }
    }
    return keys
  }

  /// Copies row by row. Copying pages would include those of the keys, and erased data in free space.
  private static func copyTables(of reader: any StorageReader, into database: Database) throws {
    try database.transaction {
      try TrailConnection.layout.make(in: database)
      let access = SQLiteAccess(database)
      for table in StorageTable.allCases where table != .keys {
        try reader.forEach(table, in: .min ... .max) { key, value in
          try access.put(table, key, value)
          return true
        }
      }
    }
  }
}
