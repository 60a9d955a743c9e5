// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FingerprintIndex

@Suite struct PageCacheTests {
  private let storage = MemoryIndex()

  /// Makes a run of 2,000 records and of this kind.
  private func makeRun(_ kind: IndexKind) throws -> IndexRun {
    var index = try storage.open()
    for entry in 0..<2_000 as Range<UInt64> { index.insert(kind, entry << 20, entry, check: UInt32(entry)) }
    try storage.flush(&index, upTo: 2_000)
    return try #require(try storage.read { try IndexCatalogue($1, in: $0) }.runs.first { $0.kind == kind })
  }

  /// Looks all records up; how many pages that read.
  private func lookUpAll(_ resident: ResidentRun, _ reader: any IndexReader) throws -> Int {
    let before = storage.pageReads
    for entry in 0..<2_000 as Range<UInt64> {
      var found: [UInt64] = []
      let check = resident.run.kind.hasCheck ? UInt32(entry) : 0
      try resident.forEach(entry << 20, check: check, before: .max, in: reader) {
        found.append($0)
        return true
      }
      #expect(found == [entry])
    }
    return storage.pageReads - before
  }

  @Test(arguments: [IndexKind.receipt, .original]) func `A page is read once`(_ kind: IndexKind) throws {
    let run = try makeRun(kind)
    try storage.read { reader in
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
    try storage.read { reader in
      let resident = try ResidentRun(run, in: reader, memory: IndexMemory())
      #expect(try lookUpAll(resident, reader) >= 2_000)
      #expect(try lookUpAll(resident, reader) >= 2_000)
    }
  }

  @Test func `As many pages are kept as there is memory for, and all of it is given back`() throws {
    let run = try makeRun(.original)
    let limit = 3 * PageCache.pageByteCount + (BlockedFilter.blockCount(records: 2_000) * 64)
    let memory = IndexMemory(limit: limit)
    try storage.read { reader in
      let resident = try ResidentRun(run, in: reader, memory: memory)
      let read = try lookUpAll(resident, reader)
      #expect(read > run.pages)
      #expect(try lookUpAll(resident, reader) == read - 3)
      #expect(!memory.isExceeded)
      // A filter is not refused: pages give way to it.
      memory.take(PageCache.pageByteCount)
      #expect(memory.isExceeded)
      resident.forgetPages()
      #expect(!memory.isExceeded)
      memory.release(PageCache.pageByteCount)
    }
    #expect(memory.takeIfLeft(limit))
    #expect(!memory.takeIfLeft(1))
  }
}
