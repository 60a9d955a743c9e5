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
/// Only one process may use a file at a time, through one storage, because a queue caches its contents. Opening it in
/// another process fails with `busy`. While in use, the file has a log next to it, `-wal`, which is part of it: copy
/// both. The file must be on a local disk, because locks of network file systems are unreliable.
///
/// ``commit(_:)`` and ``synchronize()`` are durable: they return after `fdatasync` (`F_FULLFSYNC` on Apple systems) of
/// everything that was written.
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

  /// The path of the file.
  package var path: String { file.path }

  /// The records of a collection in the order of their keys, compared byte for byte.
  public func records(
    in collection: RecordCollection, after key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try records(key == nil ? RecordTable.first : RecordTable.after, collection, key, limit: limit)
  }

  /// The records of a collection in the reverse order of their keys.
  public func records(
    in collection: RecordCollection, before key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try records(key == nil ? RecordTable.last : RecordTable.before, collection, key, limit: limit)
  }

  private func records(
    _ sql: String, _ collection: RecordCollection, _ key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try use { database in
      let keys = [collection.rawValue] + (key.map { [$0] } ?? [])
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

  /// The value of a key; `nil` if the key does not exist.
  public func value(
    of key: String, in collection: RecordCollection
  ) throws(RecordStorageError) -> [UInt8]? {
    try use { database in
      try Self.withStatement(RecordTable.value, [collection.rawValue, key], on: database) { statement in
        try statement.step() ? statement.blob(0) : nil
      }
    }
  }

  /// Makes all of the changes, in order, or none. When this returns, they are on disk. After `full` nothing was
  /// stored. After `syncFailed` every later call throws the same error until the file is opened again.
  public func commit(_ changes: [RecordChange]) throws(RecordStorageError) {
    try append(changes)
    try synchronize()
  }

  /// Makes all of the changes, in order, or none. They are on disk after the next ``synchronize()``.
  public func append(_ changes: [RecordChange]) throws(RecordStorageError) {
    try use { database in
      // A commit to an unlinked file would be acknowledged and lost.
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
        // A part of the commit may be in the log. It is unknown whether it survives a crash.
        throw SQLiteError(.syncFailed, at: error.place, error.message)
      }
      log.countCommit()
      do throws(SQLiteError) {
        try log.didCommit(database)
      } catch {
        // The commit itself is durable. A failed sync makes later calls fail. After any other error, the checkpoint is
        // retried later.
        if error.code == .syncFailed { state.stop(RecordStorageError(error, at: path)) }
      }
    }
  }

  /// Returns when everything that was appended before the call is on disk. Concurrent calls share a sync. After
  /// `syncFailed` every later call throws the same error until the file is opened again.
  public func synchronize() throws(RecordStorageError) {
    try state.requireUse(at: path)
    do throws(SQLiteError) {
      try log.synchronize()
    } catch {
      throw state.stop(RecordStorageError(error, at: path))
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

  /// Runs a prepared statement with its parameters: first texts, then bytes.
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

  /// Closes the file after copying its log into it. If that fails, committed changes are still safe.
  public func close() throws(RecordStorageError) {
    guard state.close() else { return }
    do { try connection.close() } catch { throw RecordStorageError(error, at: path) }
  }

  /// Runs `body` with exclusive use of the connection.
  private func use<Result>(_ body: (Database) throws -> Result) throws(RecordStorageError) -> Result {
    do {
      try state.requireUse(at: path)
      return try connection.use { database in
        try state.requireUse(at: path)
        return try body(database)
      }
    } catch {
      let mapped = RecordStorageError(error, at: path)
      throw mapped.code == .syncFailed ? state.stop(mapped) : mapped
    }
  }
}
