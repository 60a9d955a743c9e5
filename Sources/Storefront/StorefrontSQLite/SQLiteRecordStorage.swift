// SPDX-License-Identifier: Apache-2.0

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
  let writer: DatabaseWriter

  private init(
    _ path: String, _ open: (DatabaseFile) throws -> DatabaseWriter
  ) throws(RecordStorageError) {
    do { writer = try open(DatabaseFile(path)) } catch { throw RecordStorageError(error, at: path) }
  }

  deinit { try? writer.close() }

  /// The path of the file.
  public var path: String { writer.file.path }

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
    try mapping {
      try writer.use { database in
        try database.withStatement(sql, [collection.rawValue] + [key].compactMap { $0 }) { statement in
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
  }

  /// The value of a key; `nil` if the key does not exist.
  public func value(
    of key: String, in collection: RecordCollection
  ) throws(RecordStorageError) -> [UInt8]? {
    try mapping {
      try writer.use { database in
        try database.withStatement(RecordTable.value, [collection.rawValue, key]) { statement in
          try statement.step() ? statement.blob(0) : nil
        }
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
    try mapping {
      try writer.transaction { database in
        for change in changes {
          switch change {
          case .put(let collection, let key, let value):
            try database.run(RecordTable.put, [collection.rawValue, key], value)
          case .remove(let collection, let key):
            try database.run(RecordTable.remove, [collection.rawValue, key])
          }
        }
      }
    }
  }

  /// Returns when everything that was appended before the call is on disk. Concurrent calls share a sync. After
  /// `syncFailed` every later call throws the same error until the file is opened again.
  public func synchronize() throws(RecordStorageError) { try mapping { try writer.synchronize() } }

  /// Closes the file after copying its log into it. If that fails, committed changes are still safe.
  public func close() throws(RecordStorageError) { try mapping { try writer.close() } }

  private func mapping<Result>(_ body: () throws -> Result) throws(RecordStorageError) -> Result {
    do { return try body() } catch { throw RecordStorageError(error, at: path) }
  }
}

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

/// The single table of the file. Texts are stored as bytes, so SQLite orders them by bytes.
private enum RecordTable {
  /// The format: the application identifier "RKRS", and the table. A file is used by one process, because the process
  /// keeps the file's state in memory.
  static let format = DatabaseFormat(
    layout: DatabaseLayout(applicationID: 0x524B_5253, version: 1, statements: [create]),
    sharing: .exclusive, synchronization: .deferred, pageSize: 4096, logLimit: 4 << 20,
    pragmas: "PRAGMA cache_size = -4096; PRAGMA journal_size_limit = 8388608;",
    reopening: "Open the storage anew.")

  private static let create = """
    CREATE TABLE records(collection BLOB NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, \
    PRIMARY KEY (collection, key)) STRICT, WITHOUT ROWID
    """
  static let first = "SELECT key, value FROM records WHERE collection = ?1 ORDER BY key"
  static let after = "SELECT key, value FROM records WHERE collection = ?1 AND key > ?2 ORDER BY key"
  static let last = "SELECT key, value FROM records WHERE collection = ?1 ORDER BY key DESC"
  static let before = "SELECT key, value FROM records WHERE collection = ?1 AND key < ?2 ORDER BY key DESC"
  static let value = "SELECT value FROM records WHERE collection = ?1 AND key = ?2"
  static let put = "INSERT OR REPLACE INTO records(collection, key, value) VALUES (?1, ?2, ?3)"
  static let remove = "DELETE FROM records WHERE collection = ?1 AND key = ?2"
}

extension Database {
  /// Runs a prepared statement with its parameters: first texts, then bytes.
  fileprivate func withStatement<Result>(
    _ sql: String, _ texts: [String], _ bytes: [UInt8]? = nil, _ body: (Statement) throws -> Result
  ) throws -> Result {
    try withStatement(sql) { statement in
      let values = texts.map { Array($0.utf8) } + [bytes].compactMap { $0 }
      for (position, value) in values.enumerated() { try statement.bind(value, at: Int32(position + 1)) }
      return try body(statement)
    }
  }

  fileprivate func run(_ sql: String, _ texts: [String], _ bytes: [UInt8]? = nil) throws {
    _ = try withStatement(sql, texts, bytes) { try $0.step() }
  }
}

extension RecordStorageError {
  fileprivate init(_ error: any Error, at path: String) {
    guard let fault = error as? SQLiteError else {
      self.init(.inputOutput, at: path, "\(error)")
      return
    }
    let (code, message) = fault.translated(occupied: Code.notAStorage, closed: "The storage was closed.")
    self.init(code, at: fault.place, message)
  }
}
