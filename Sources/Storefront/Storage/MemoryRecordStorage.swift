// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Records in memory, for tests and for data that need not survive the process.
public final class MemoryRecordStorage: RecordStorage {
  private let state = Mutex(State())

  private struct State {
    var collections: [RecordCollection: [Key: [UInt8]]] = [:]
    var isClosed = false
  }

  /// Compared by bytes: Swift strings with different bytes can be equal.
  private struct Key: Hashable, Comparable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    static func < (left: Key, right: Key) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
  }

  /// Creates an empty storage.
  public init() {}

  /// The records of a collection in the order of their keys, sorted at every call.
  public func records(
    in collection: RecordCollection, after key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    let records = try open { $0.collections[collection] ?? [:] }
    let lowest = key.map { Key($0) }
    return records.lazy.filter { record in lowest.map { $0 < record.key } ?? true }
      .sorted { $0.key < $1.key }
      .prefix(max(0, limit))
      .map { StoredRecord(key: String(decoding: $0.key.bytes, as: UTF8.self), value: $0.value) }
  }

  /// The value of a key; `nil` if there is none.
  public func value(
    of key: String, in collection: RecordCollection
  ) throws(RecordStorageError) -> [UInt8]? {
    try open { $0.collections[collection]?[Key(key)] }
  }

  /// Makes all of the changes, in order.
  public func commit(_ changes: [RecordChange]) throws(RecordStorageError) {
    try open { state in
      for change in changes {
        switch change {
        case .put(let collection, let key, let value):
          state.collections[collection, default: [:]][Key(key)] = value
        case .remove(let collection, let key): state.collections[collection]?[Key(key)] = nil
        }
      }
    }
  }

  /// Closes the storage. The records are kept for ``reopened()``.
  public func close() throws(RecordStorageError) { state.withLock { $0.isClosed = true } }

  /// A storage with the same records, like a file opened after a relaunch.
  public func reopened() -> MemoryRecordStorage {
    let other = MemoryRecordStorage()
    let collections = state.withLock { $0.collections }
    other.state.withLock { $0.collections = collections }
    return other
  }

  private func open<Result>(_ body: (inout State) -> Result) throws(RecordStorageError) -> Result {
    let result = state.withLock { $0.isClosed ? nil : body(&$0) }
    guard let result else { throw RecordStorageError(.closed, "The storage was closed.") }
    return result
  }
}
