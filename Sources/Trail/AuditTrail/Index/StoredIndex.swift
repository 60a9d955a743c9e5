// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCrypto

protocol StoredIndexRows: IndexReader {
  var reader: any StorageReader { get }
}

extension StoredIndexRows {
  func value(_ table: IndexTable, _ key: Int64) throws -> [UInt8]? { try reader.value(table.stored, key) }

  func prefetch(_ table: IndexTable, _ keys: () -> [Int64]) throws { try reader.prefetch(table.stored, keys) }

  func lastKey(_ table: IndexTable, in keys: ClosedRange<Int64>) throws -> Int64? {
    try reader.lastKey(table.stored, in: keys)
  }
}

struct IndexRows: StoredIndexRows {
  let base: any StorageReader
  var reader: any StorageReader { base }
}

struct WritableIndexRows: StoredIndexRows, IndexWriter {
  let base: any StorageWriter
  var reader: any StorageReader { base }

  func put(_ table: IndexTable, _ key: Int64, _ value: [UInt8]) throws {
    try base.put(table.stored, key, value)
  }

  func remove(_ table: IndexTable, in keys: ClosedRange<Int64>) throws {
    try base.remove(table.stored, in: keys, erasing: table == .personal)
  }
}

/// The index in a storage, for merging its runs: each merge changes the root in the head.
struct StoredIndex: IndexStorage {
  let storage: any TrailStorage
  /// The keys that sign the head, which has the index's root.
  let keys: TrailKeys

  func read<Result>(_ body: (any IndexReader, IndexRoot) throws -> Result) throws -> Result {
    try storage.read { try body(IndexRows(base: $0), keys.head(in: $0).indexRoot) }
  }

  func write<Result>(_ body: (any IndexWriter, inout IndexRoot) throws -> Result) throws -> Result {
    try storage.writeUnsynchronized { writer in
      var head = try keys.head(in: writer)
      let old = head.indexRoot
      let result = try body(WritableIndexRows(base: writer), &head.indexRoot)
      if head.indexRoot != old { try keys.write(head, in: writer) }
      return result
    }
  }
}

extension IndexTable {
  fileprivate var stored: StorageTable {
    switch self {
    case .runs: .runs
    case .pages: .pages
    case .personal: .personal
    }
  }
}

extension IndexKey {
  func fingerprint(_ kind: IndexKind, _ digest: SHA256Digest) -> UInt64 {
    digest.withBytes { fingerprint(kind, $0) }
  }
}
