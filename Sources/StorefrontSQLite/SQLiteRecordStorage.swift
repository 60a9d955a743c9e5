// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import SQLite
public import Storefront

/// The records of a payment queue or a store in one SQLite file, without a server.
///
/// ```swift
/// let storage = try SQLiteRecordStorage(at: "purchases.queue")
/// let queue = try PaymentQueue(store: store, storage: storage)
/// ```
///
/// One process uses a file at a time, through one storage: a queue knows what it has stored. Another that opens it
/// meanwhile fails with `busy`. While it is in use its log lies next to it, `-wal`, which is part of it and goes with it
/// wherever it is copied. The file must be on a local disk: locks of network file systems cannot be relied upon.
///
/// Durable means: ``commit(_:)`` returns after `fdatasync` (`F_FULLFSYNC` on Apple systems) of all that it wrote.
public final class SQLiteRecordStorage: RecordStorage {
  private let file: DatabaseFile
  private let identity: File.Identity
  let connection: Connection
  private let log: RecordLog
  private let state = StorageState()

  init(file: DatabaseFile, identity: File.Identity, connection: Connection, log: RecordLog) {
    self.file = file
    self.identity = identity
    self.connection = connection
    self.log = log
  }

  deinit { try? connection.close() }

  /// Where the file is.
  public var path: String { file.path }

  /// The records of a collection in the order of their keys, compared byte for byte.
  ///
  /// - Parameters:
  ///   - collection: Which collection.
  ///   - key: Only keys after this one; `nil` for all.
  ///   - limit: At most so many.
  /// - Returns: The records.
  /// - Throws: `RecordStorageError`.
  public func records(
    in collection: RecordCollection, after key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try use { database in
      let keys = [collection.rawValue] + (key.map { [$0] } ?? [])
      let sql = key == nil ? RecordTable.first : RecordTable.after
      return try Self.withStatement(sql, keys, on: database) { statement in
        var records: [StoredRecord] = []
        while records.count < limit, try statement.step() {
          guard let bytes = statement.blob(0), let value = statement.blob(1),
            let key = String(validating: bytes, as: UTF8.self)
          else {
            throw SQLiteError(
              .corrupt, at: "\(path), \(collection.rawValue)", "A record has no text as its key.")
          }
          records.append(StoredRecord(key: key, value: value))
        }
        return records
      }
    }
  }

  /// The value of a key; `nil` if there is none.
  ///
  /// - Throws: `RecordStorageError`.
  public func value(
    of key: String, in collection: RecordCollection
  ) throws(RecordStorageError) -> [UInt8]? {
    try use { database in
      try Self.withStatement(RecordTable.value, [collection.rawValue, key], on: database) { statement in
        try statement.step() ? statement.blob(0) : nil
      }
    }
  }

  /// Makes all of the changes, in order, or none. When it returns they are on disk.
  ///
  /// - Parameter changes: What to change.
  /// - Throws: `RecordStorageError` with `full` where there is no space: then nothing was stored, and it may be tried
  ///   again. After `syncFailed` every later call throws it again, until the file is opened anew.
  public func commit(_ changes: [RecordChange]) throws(RecordStorageError) {
    try use { database in
      // What is written to a file without a name would be acknowledged and lost.
      guard file.status?.identity == identity else {
        throw SQLiteError(.notFound, at: path, "The file was moved, removed or replaced while in use.")
      }
      do {
        try database.run("BEGIN IMMEDIATE")
        for change in changes { try Self.make(change, on: database) }
      } catch {
        database.rollBack()
        throw error
      }
      do {
        try database.run("COMMIT")
      } catch let error as SQLiteError {
        database.rollBack()
        if error.code == .full || error.code == .busy { throw error }
        // Some of it may be in the log, and may count after a crash or not.
        throw SQLiteError(.syncFailed, at: error.place, error.message)
      }
      do throws(SQLiteError) {
        try log.didCommit(database)
      } catch {
        // What was committed is safe. A sync that fails is remembered for the next use; anything else leaves the log
        // as it is, and copying is tried again.
        if error.code == .syncFailed { state.stop(RecordStorageError(error, at: path)) }
      }
    }
  }

  private static func make(_ change: RecordChange, on database: Database) throws {
    switch change {
    case .put(let collection, let key, let value):
      _ = try withStatement(RecordTable.put, [collection.rawValue, key], value, on: database) {
        try $0.step()
      }
    case .remove(let collection, let key):
      _ = try withStatement(RecordTable.remove, [collection.rawValue, key], on: database) { try $0.step() }
    }
  }

  /// Uses a prepared statement with its values: first texts, then bytes.
  private static func withStatement<Result>(
    _ sql: String, _ texts: [String], _ bytes: [UInt8]? = nil, on database: Database,
    _ body: (Statement) throws -> Result
  ) throws -> Result {
    try database.withStatement(sql) { statement in
      let values = texts.map { Array($0.utf8) } + (bytes.map { [$0] } ?? [])
      for (position, value) in values.enumerated() { try statement.bind(value, at: Int32(position + 1)) }
      return try body(statement)
    }
  }

  /// Lets go of the file. Its log is copied into it first.
  ///
  /// - Throws: `RecordStorageError` where that failed; what was committed is safe all the same.
  public func close() throws(RecordStorageError) {
    guard state.close() else { return }
    do { try connection.close() } catch { throw RecordStorageError(error, at: path) }
  }

  /// Runs `body` on the connection while nobody else does.
  private func use<Result>(_ body: (Database) throws -> Result) throws(RecordStorageError) -> Result {
    do {
      try state.requireUse(at: path)
      return try connection.use { database in
        try state.requireUse(at: path)
        return try body(database)
      }
    } catch {
      let mapped = RecordStorageError(error, at: path)
      if mapped.code == .syncFailed { state.stop(mapped) }
      throw mapped
    }
  }
}
