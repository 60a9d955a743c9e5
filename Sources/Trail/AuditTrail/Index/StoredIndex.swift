// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCrypto

/// The rows of the index in the tables of a trail.
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

/// The storage of the index, for the transactions that merge its runs.
struct StoredIndex: IndexStorage {
  let storage: any TrailStorage
  /// Returns the authentic root of a state.
  let root: @Sendable (any StorageReader) throws -> IndexRoot
  let seal: @Sendable (IndexRoot, any StorageWriter) throws -> Void

  func read<Result>(_ body: (any IndexReader, IndexRoot) throws -> Result) throws -> Result {
    try storage.read { try body(IndexRows(base: $0), root($0)) }
  }

  func write<Result>(_ body: (any IndexWriter, inout IndexRoot) throws -> Result) throws -> Result {
    try storage.writeUnsynchronized { writer in
      let old = try root(writer)
      var new = old
      let result = try body(WritableIndexRows(base: writer), &new)
      if new != old { try seal(new, writer) }
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

extension IndexError {
  var meaning: AuditError {
    let code: AuditError.Code =
      switch self.code {
      case .corrupt: .tampered
      case .unsupported: .notATrail
      case .outOfRoom: .storageFull
      }
    return AuditError(code, at: place, message)
  }
}
