// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailSQLite
import FingerprintIndex
import Glibc
import Measuring
import ReceiptCrypto
import Synchronization

/// Measures the index of a trail alone, on the work that `index_peers.py` gives to other stores: of each entry it is
/// asked whether the receipt is known, and for the newest entry of its original transaction, which nine of ten have;
/// then the entry's receipt, original transaction, transaction and customer are entered. 1,024 entries are a batch.
enum IndexMeasurement {
  private static let batchCount = 1024

  static func run(directory: String, entries: Int) throws {
    let rows = try MeasuredIndex(SQLiteStorage(creatingAt: directory + "/index.trail"))
    var index = try rows.read { try IndexEngine(root: $1, in: $0) }
    var merger = IndexMerger(storage: rows) { 0 }
    var random = SystemRandomNumberGenerator()
    var originals: [UInt64] = []
    let start = (Clock.seconds(), Clock.seconds(CLOCK_PROCESS_CPUTIME_ID))
    var found = 0
    for first in stride(from: 0, to: entries, by: batchCount) {
      let batch = (0..<min(batchCount, entries - first)).map { _ in
        let isNew = originals.isEmpty || Int.random(in: 0..<10, using: &random) == 0
        let original =
          isNew ? random.next() >> 16 : originals[Int.random(in: originals.indices, using: &random)]
        if isNew { originals.append(original) }
        return (
          receipt: random.next() >> 16, original: original, transaction: random.next() >> 16,
          customer: random.next() >> 16
        )
      }
      let snapshot = index.snapshot(size: .max)
      try rows.read { reader, _ in
        for record in batch {
          var receipts = snapshot.candidates(.receipt, record.receipt, in: reader)
          if try receipts.next() != nil { found += 1 }
          if try snapshot.newest(.original, record.original, in: reader) != nil { found += 1 }
        }
      }
      index.withMemory { memory in
        for (position, record) in batch.enumerated() {
          let entry = UInt64(first + position)
          memory.insert(.receipt, record.receipt, entry)
          memory.insert(.original, record.original, entry)
          memory.insert(.transaction, record.transaction, entry)
          memory.insert(.customer, record.customer, entry)
        }
      }
      guard UInt64(first + batch.count) >= index.indexedSize + 65536 else { continue }
      try rows.write { writer, root in
        try index.flush(upTo: UInt64(first + batch.count), in: writer)
        root = index.root
      }
      while try merger.step() {}
      _ = try rows.read { try index.reloadIfChanged(to: $1, in: $0) }
    }
    let seconds = (Clock.seconds() - start.0, Clock.seconds(CLOCK_PROCESS_CPUTIME_ID) - start.1)
    print(
      "\(entries) entries, \(found) found: \(rounded(seconds.0 * 1e6 / Double(entries))) us an entry, "
        + "\(rounded(seconds.1 * 1e6 / Double(entries))) us of processors, "
        + "\(try rows.storage.byteCount() / UInt64(entries)) bytes stored, \(writtenBytes() / entries) written"
    )
  }

  /// Returns the number of bytes that this process has had written to disks (proc(5), `write_bytes`).
  private static func writtenBytes() -> Int {
    guard let file = unsafe fopen("/proc/self/io", "r") else { return 0 }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while unsafe fgets(&line, 256, file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix("write_bytes: ") { return Int(text.dropFirst(13).dropLast()) ?? 0 }
    }
    return 0
  }
}

/// The rows of an index in a file, with its root.
private struct MeasuredIndex: IndexStorage {
  let storage: SQLiteStorage

  init(_ storage: SQLiteStorage) { self.storage = storage }

  func read<Result>(_ body: (any IndexReader, IndexRoot) throws -> Result) throws -> Result {
    try storage.read { try body(Rows(base: $0), root(in: $0)) }
  }

  func write<Result>(_ body: (any IndexWriter, inout IndexRoot) throws -> Result) throws -> Result {
    try storage.write { writer in
      var root = try root(in: writer)
      let result = try body(WritableRows(base: writer), &root)
      try writer.put(.head, 0, root.bytes)
      return result
    }
  }

  private func root(in reader: any StorageReader) throws -> IndexRoot {
    try reader.value(.head, 0).flatMap { IndexRoot($0) } ?? .zero
  }

  private struct Rows: IndexReader {
    let base: any StorageReader

    func value(_ table: IndexTable, _ key: Int64) throws -> [UInt8]? { try base.value(table.stored, key) }
    func prefetch(_ table: IndexTable, _ keys: () -> [Int64]) throws {}
    func lastKey(_ table: IndexTable, in keys: ClosedRange<Int64>) throws -> Int64? {
      try base.lastKey(table.stored, in: keys)
    }
  }

  private struct WritableRows: IndexWriter {
    let base: any StorageWriter

    func value(_ table: IndexTable, _ key: Int64) throws -> [UInt8]? { try base.value(table.stored, key) }
    func prefetch(_ table: IndexTable, _ keys: () -> [Int64]) throws {}
    func lastKey(_ table: IndexTable, in keys: ClosedRange<Int64>) throws -> Int64? {
      try base.lastKey(table.stored, in: keys)
    }
    func put(_ table: IndexTable, _ key: Int64, _ value: [UInt8]) throws {
      try base.put(table.stored, key, value)
    }
    func remove(_ table: IndexTable, in keys: ClosedRange<Int64>) throws {
      try base.remove(table.stored, in: keys, erasing: table == .personal)
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
