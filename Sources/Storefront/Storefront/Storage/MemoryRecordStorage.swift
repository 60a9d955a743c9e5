// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Records in memory, for tests and for data that does not need to survive the process.
public final class MemoryRecordStorage: RecordStorage {
  private let state = Mutex(State())

  private struct State {
    var collections: [RecordCollection: Records] = [:]
    var isClosed = false
  }

  /// A key, compared by bytes, because Swift strings with different bytes can be equal.
  private struct Key: Hashable, Comparable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    static func < (left: Key, right: Key) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
  }

  private struct Records {
    var values: [Key: [UInt8]] = [:]
    /// The keys, sorted.
    var keys: [Key] = []

    func count(before key: Key) -> Int {
      // Most keys are greater than all before them.
      guard let last = keys.last, key <= last else { return keys.count }
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < key { low = middle + 1 } else { high = middle }
      }
      return low
    }

    mutating func put(_ value: [UInt8], at key: Key) {
      if values.updateValue(value, forKey: key) == nil { keys.insert(key, at: count(before: key)) }
    }

    mutating func remove(_ key: Key) {
      if values.removeValue(forKey: key) != nil { keys.remove(at: count(before: key)) }
    }

    func records(_ keys: some Sequence<Key>) -> [StoredRecord] {
      keys.map { StoredRecord(key: String(decoding: $0.bytes, as: UTF8.self), value: values[$0] ?? []) }
    }
  }

  /// Creates an empty storage.
  public init() {}

  /// The records of a collection in the order of their keys.
  public func records(
    in collection: RecordCollection, after key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try open { state in
      guard let records = state.collections[collection] else { return [] }
      let key = key.map { Key($0) }
      let start = key.map { records.count(before: $0) + (records.values[$0] == nil ? 0 : 1) } ?? 0
      return records.records(records.keys[start...].prefix(max(0, limit)))
    }
  }

  /// The records of a collection in the reverse order of their keys.
  public func records(
    in collection: RecordCollection, before key: String?, limit: Int
  ) throws(RecordStorageError) -> [StoredRecord] {
    try open { state in
      guard let records = state.collections[collection] else { return [] }
      let end = key.map { records.count(before: Key($0)) } ?? records.keys.count
      return records.records(records.keys[..<end].suffix(max(0, limit)).reversed())
    }
  }

  /// The value of a key; `nil` if the key does not exist.
  public func value(of key: String, in collection: RecordCollection) throws(RecordStorageError) -> [UInt8]? {
    try open { $0.collections[collection]?.values[Key(key)] }
  }

  /// Makes all of the changes, in order.
  public func commit(_ changes: [RecordChange]) throws(RecordStorageError) {
    try open { state in
      for change in changes {
        switch change {
        case .put(let collection, let key, let value):
          state.collections[collection, default: Records()].put(value, at: Key(key))
        case .remove(let collection, let key): state.collections[collection]?.remove(Key(key))
        }
      }
    }
  }

  /// Closes the storage. The records are kept.
  public func close() throws(RecordStorageError) { state.withLock { $0.isClosed = true } }

  /// A storage with the same records, like a file opened after a relaunch.
  package func reopened() -> MemoryRecordStorage {
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
