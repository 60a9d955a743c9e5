// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite

extension SQLiteAccess: StorageWriter {
  func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws {
    guard !TableStatements[table].isSegmented else { return try putSegments(table, key, value) }
    try withStatement(TableStatements[table].put, table, key) { statement in
      statement.bind(key)
      try statement.step(binding: value, value.indices)
    }
  }

  func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
    guard !TableStatements[table].isSegmented else {
      return try overwriteSegments(table, key, at: offset, with: bytes)
    }
    try at(table, key) {
      guard let blob = try blob(table, key, writing: true) else { throw nothingToOverwrite(table, key) }
      try requireRoom(for: bytes, at: offset, of: blob.count, table, key)
      try blob.write(bytes, at: offset)
    }
  }

  func nothingToOverwrite(_ table: StorageTable, _ key: Int64) -> StorageError {
    StorageError(.corrupt, at: place(table, key), "There is no value to overwrite.")
  }

  /// Throws if the bytes at `offset` would extend beyond the end of a value of `count` bytes.
  func requireRoom(
    for bytes: [UInt8], at offset: Int, of count: Int, _ table: StorageTable, _ key: Int64
  ) throws {
    guard offset >= 0, offset <= count, bytes.count <= count - offset else {
      throw StorageError(
        .corrupt, at: place(table, key),
        "The value has \(count) bytes and ends before what is to be overwritten.")
    }
  }

  func remove(_ table: StorageTable, in keys: ClosedRange<Int64>, erasing: Bool) throws {
    let statements = TableStatements[table]
    guard let keys = statements.isSegmented ? Segments.rows(of: keys) : keys else { return }
    guard erasing else { return try run(statements.remove, table, keys) }
    // `ON` zeroes all space that becomes free; `FAST` only zeroes it in pages that are written anyway.
    try at(table, keys.lowerBound) { try database.execute("PRAGMA secure_delete = ON") }
    defer { try? database.execute("PRAGMA secure_delete = FAST") }
    if try integer(statements.hasOthers, table, keys) == 0 {
      // This zeroes every page of the table, including free space and remains of erased rows.
      try at(table, keys.lowerBound) { try database.run(statements.clear) }
    } else {
      try run(statements.erase, table, keys)
      // Merged index runs have many rows, which hold only fingerprints. They are removed, because their space is
      // needed again.
      if table == .pages || table == .runs || table == .personal { try run(statements.remove, table, keys) }
    }
  }
}
