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
  /// If this trail was opened only for reading, nothing is written to it: commits that a process is appending may be in
  /// the copy before they are synced.
  ///
  /// - Parameter path: The path of a file that does not exist, in a directory that does.
  /// - Returns: The keys that were left out of the copy; `nil` if the trail itself contains no keys.
  /// - Throws: `StorageError` with `notATrail` if the path is taken, and the errors of reading and creating a trail.
  @discardableResult
  package func backUp(to path: String) throws -> ErasureKeyBackup? {
    var keys: ErasureKeyBackup?
    try StorageError.mapping {
      try DatabaseFormat.trail().create(DatabaseFile(path)) { database in
        keys = try read { reader in
          // Row by row: copying pages would include those of the keys, and erased data in free space.
          let access = SQLiteAccess(database)
          for table in StorageTable.allCases where table != .keys {
            try reader.forEach(table, in: .min ... .max) { key, value in
              try access.put(table, key, value)
              return true
            }
          }
          return try reader.lastKey(.keys, in: 0...Int64.max).map { _ in try ErasureKeyBackup(reading: reader)
          }
        }
        // The copy must not contain commits that the trail itself could still lose.
        try synchronize()
      }
    }
    return keys
  }
}
