// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import SQLite

extension SQLiteStorage {
  /// Copies the trail as it is now to another file, while it is read and written.
  ///
  /// The copy appears under its name when it is complete and on disk. It holds everything that was written before
  /// the call. Meanwhile the log of the trail grows, since the copy reads one state.
  ///
  /// The copy holds no keys of erasable parts: what is erased in the trail later cannot be read from the copy either.
  /// They are never written into it, so that not even what a killed process leaves behind has them. It is read without
  /// them; to write to it, `ErasureKeyBackup.restore(to:)` puts back those that are returned here.
  ///
  /// - Parameter path: A file that does not exist, in a directory that does.
  /// - Returns: The keys that the copy was made without; `nil` if the trail itself holds none.
  /// - Throws: `StorageError` with `notATrail` where the path is taken, and as reading and creating do.
  @discardableResult
  public func backUp(to path: String) throws -> ErasureKeyBackup? {
    // A copy never has what the trail itself could lose still.
    try TrailCopy.make(of: self, at: path, pageSize: tuning.pageSize, timeout: timeout, synchronize)
  }
}

extension SQLiteReadOnlyStorage {
  /// Copies the trail as it is now to another file, as ``SQLiteStorage/backUp(to:)`` does: nothing of the trail is written
  /// to.
  ///
  /// A process that is appending to the trail may not have synced yet what it committed last. The copy then has it all the
  /// same.
  ///
  /// - Parameter path: A file that does not exist, in a directory that does.
  /// - Returns: The keys that the copy was made without; `nil` if the trail itself holds none.
  /// - Throws: `StorageError` with `notATrail` where the path is taken, and as reading and creating do.
  @discardableResult
  public func backUp(to path: String) throws -> ErasureKeyBackup? {
    let tuning = SQLiteTuning()
    return try TrailCopy.make(of: self, at: path, pageSize: tuning.pageSize, timeout: timeout) {}
  }
}

/// The copying of a trail, without its keys.
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
        // Nobody sees the copy before it is complete: it needs no journal on disk.
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

  /// Copies row by row: copying pages would copy those of the keys, and what was erased from free space.
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
