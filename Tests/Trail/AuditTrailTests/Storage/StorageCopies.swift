// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting

extension TrailStorage {
  /// The same rows in memory.
  func copied() throws -> MemoryStorage {
    let copy = MemoryStorage()
    try copy.set(to: self)
    return copy
  }

  /// Replaces all rows by those of another storage.
  func set(to other: any TrailStorage) throws {
    try other.read { reader in try write { try $0.replace(StorageTable.allCases, byThoseOf: reader) } }
  }
}

extension StorageWriter {
  /// Sets all rows of tables to those of another storage.
  func replace(_ tables: some Sequence<StorageTable>, byThoseOf other: any StorageReader) throws {
    for table in tables {
      try remove(table, in: .min ... .max, erasing: false)
      try other.forEach(table, in: .min ... .max) { key, value in
        try put(table, key, value)
        return true
      }
    }
  }
}
