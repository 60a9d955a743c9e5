// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AuditTrail

@Suite struct KeptPagesTests {
  private let storage = MemoryStorage()

  /// Makes a run of 2,000 records and of this kind.
  private func makeRun(_ kind: IndexKind) throws -> IndexRun {
    var index = try storage.read { try FingerprintIndex(reading: $0) }
    for entry in 0..<2_000 as Range<UInt64> { index.insert(kind, entry << 20, entry, check: UInt32(entry)) }
    try storage.write { try index.flush(upTo: 2_000, in: $0) }
    return try #require(try storage.read { try IndexCatalogue.read(in: $0) }.runs.first { $0.kind == kind })
  }

  /// Looks all records up; how many pages that read.
  private func lookUpAll(_ resident: ResidentRun, _ reader: CountingReader) throws -> Int {
    let before = reader.pages
    for entry in 0..<2_000 as Range<UInt64> {
      var found: [UInt64] = []
      try resident.collect(
        entry << 20, check: resident.run.kind.hasCheck ? UInt32(entry) : 0, before: .max, limit: 9,
        in: reader, into: &found)
      #expect(found == [entry])
    }
    return reader.pages - before
  }

  @Test(arguments: [IndexKind.receipt, .original]) func `A page is read once`(_ kind: IndexKind) throws {
    let run = try makeRun(kind)
    try storage.read { state in
      let reader = CountingReader(state)
      let memory = IndexMemory()
      let resident = try ResidentRun(run, in: reader, memory: memory)
      #expect(try lookUpAll(resident, reader) == run.pages)
      #expect(try lookUpAll(resident, reader) == 0)
      resident.forgetPages()
      #expect(try lookUpAll(resident, reader) == run.pages)
    }
  }

  @Test func `Pages whose records can be removed are read every time`() throws {
    let run = try makeRun(.customer)
    try storage.read { state in
      let reader = CountingReader(state)
      let resident = try ResidentRun(run, in: reader, memory: IndexMemory())
      #expect(try lookUpAll(resident, reader) >= 2_000)
      #expect(try lookUpAll(resident, reader) >= 2_000)
    }
  }

  @Test func `As many pages are kept as there is memory for, and all of it is given back`() throws {
    let run = try makeRun(.original)
    let limit = 3 * KeptPages.pageByteCount + (BlockedFilter.blockCount(records: 2_000) * 64)
    let memory = IndexMemory(limit: limit)
    try storage.read { state in
      let reader = CountingReader(state)
      let resident = try ResidentRun(run, in: reader, memory: memory)
      let read = try lookUpAll(resident, reader)
      #expect(read > run.pages)
      #expect(try lookUpAll(resident, reader) == read - 3)
      #expect(!memory.isExceeded)
      // A filter is not refused: pages give way to it.
      memory.take(KeptPages.pageByteCount)
      #expect(memory.isExceeded)
      resident.forgetPages()
      #expect(!memory.isExceeded)
      memory.giveBack(KeptPages.pageByteCount)
    }
    #expect(memory.takeIfLeft(limit))
    #expect(!memory.takeIfLeft(1))
  }
}

/// Counts the pages that are read.
private final class CountingReader: StorageReader {
  private let reader: any StorageReader
  private(set) var pages = 0

  init(_ reader: any StorageReader) { self.reader = reader }

  func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? {
    if table == .pages { pages += 1 }
    return try reader.value(table, key)
  }

  func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]? {
    try reader.value(table, key, bytes: range)
  }

  func forEach(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
  ) throws { try reader.forEach(table, in: keys, body) }

  func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64? {
    try reader.lastKey(table, in: keys)
  }
}
