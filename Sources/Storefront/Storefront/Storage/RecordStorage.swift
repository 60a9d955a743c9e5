// SPDX-License-Identifier: Apache-2.0

/// The storage of a queue or a store: records in collections, changed in atomic and durable batches.
///
/// `StorefrontSQLite` keeps the records in a file, ``MemoryRecordStorage`` in memory. One conformance suite runs on
/// all implementations.
public protocol RecordStorage: Sendable {
  /// The records of a collection after a key, or from the first one, in the order of their keys, compared byte for
  /// byte.
  func records(
    in collection: RecordCollection, after key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord]

  /// The records of a collection before a key, or from the last one, in the reverse order of their keys.
  func records(
    in collection: RecordCollection, before key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord]

  /// The value of a key; `nil` if the key does not exist.
  func value(of key: String, in collection: RecordCollection) throws(RecordStorageError) -> [UInt8]?

  /// Makes all of the changes, in order, or none. When this returns, they are on disk: written and synced.
  ///
  /// - Throws: ``RecordStorageError``. After `sync-failed` it is unknown which changes are stored, and every later
  ///   call throws the same error until the storage is opened again. After any other error nothing was changed.
  func commit(_ changes: [RecordChange]) throws(RecordStorageError)

  /// Makes all of the changes, in order, or none. They are on disk after the next ``synchronize()`` or ``commit(_:)``.
  /// A crash before that loses the last ones. Reads see them immediately.
  ///
  /// - Throws: ``RecordStorageError``, as ``commit(_:)``.
  func append(_ changes: [RecordChange]) throws(RecordStorageError)

  /// Returns when everything that was appended before the call is on disk. Calls from several threads share a sync.
  ///
  /// - Throws: ``RecordStorageError`` with `sync-failed`, as ``commit(_:)``.
  func synchronize() throws(RecordStorageError)

  /// Closes the storage. Later calls throw `closed`; closing again has no effect.
  func close() throws(RecordStorageError)
}

extension RecordStorage {
  /// Commits the changes, for a storage that cannot append.
  public func append(_ changes: [RecordChange]) throws(RecordStorageError) { try commit(changes) }

  /// Does nothing, for a storage that cannot append.
  public func synchronize() throws(RecordStorageError) {}
}

extension RecordStorage {
  func forEachRecord<Failure: StorageFailure>(
    in collection: RecordCollection, limit: Int = 1000, _ body: (StoredRecord) throws(Failure) -> Void
  ) throws(Failure) {
    var last: String?
    while true {
      let page = try Failure.wrapping(try records(in: collection, after: last, limit: limit))
      guard let end = page.last else { return }
      for record in page { try body(record) }
      last = end.key
    }
  }
}

/// An error of a queue or a store that an error of its storage becomes.
protocol StorageFailure: Error {
  init(_ error: RecordStorageError)
}

extension StorageFailure {
  static func wrapping<Value>(
    _ call: @autoclosure () throws(RecordStorageError) -> Value
  ) throws(Self) -> Value {
    do { return try call() } catch { throw Self(error) }
  }
}

extension RecordCollection: CustomStringConvertible {
  /// The name.
  public var description: String { rawValue }
}
