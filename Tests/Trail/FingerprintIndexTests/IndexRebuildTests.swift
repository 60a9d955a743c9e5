// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FingerprintIndex

/// An index of two runs, and a rebuild beside it that has its records again.
private func rebuilding() throws -> (MemoryIndex, IndexRebuild) {
  let storage = MemoryIndex()
  var index = try storage.open()
  for entry in 0..<40 as Range<UInt64> {
    index.insert(.customer, entry * 7, entry)
    index.insert(.receipt, entry * 9, entry)
  }
  try storage.flush(&index, upTo: 40)
  var rebuild = try storage.read { try IndexRebuild(beside: $1, in: $0) }
  for end in [20, 40] as [UInt64] {
    let start = rebuild.indexedSize
    try storage.write { writer, _ in
      try rebuild.addEntries(upTo: end, in: writer) { memory in
        for entry in start..<end {
          memory.insert(.customer, entry * 7, entry)
          memory.insert(.receipt, entry * 9, entry)
        }
      }
    }
  }
  return (storage, rebuild)
}

private func auditor<Result>(_ storage: MemoryIndex, _ body: (IndexAuditor) throws -> Result) throws -> Result
{
  try storage.read { try body(IndexAuditor(root: $1, in: $0)) }
}

private func removeUnfinished(_ storage: MemoryIndex) throws {
  while try storage.write({ try IndexRebuild.removeUnfinished(beside: $1, in: $0) }) {}
}

@Suite struct IndexRebuildTests {
  @Test func `Rows of a rebuild are told from stray rows, and are removed without the others`() throws {
    let (storage, _) = try rebuilding()
    #expect(try auditor(storage) { try $0.strayRows() } == [])
    #expect(try auditor(storage) { try $0.hasUnfinishedRebuild() })
    try removeUnfinished(storage)
    #expect(try auditor(storage) { try !$0.hasUnfinishedRebuild() })
    #expect(try storage.read { try storage.open().all(.customer, 21, in: $0) } == [3])
  }

  @Test func `A rebuild that lost some rows or all is not whole`() throws {
    let (storage, rebuild) = try rebuilding()
    #expect(try storage.read { try rebuild.isWhole(in: $0) })
    let before = storage.current
    for table in IndexTable.allCases {
      for run in (before.rows[table] ?? [:]).keys.map(IndexRun.number) where run > 1 << 20 {
        storage.current = before
        let last = before.rows[table]?.keys.filter { IndexRun.number($0) == run }.max()
        storage.current.rows[table]?[try #require(last)] = nil
        #expect(try storage.read { try !rebuild.isWhole(in: $0) }, "\(table) \(run)")
      }
    }
    storage.current = before
    try removeUnfinished(storage)
    #expect(try storage.read { try !rebuild.isWhole(in: $0) })
  }

  @Test func `What took the place of an index leaves its rows to the merger`() throws {
    let (storage, rebuild) = try rebuilding()
    try storage.write { writer, root in root = try #require(try rebuild.replace(root, in: writer)) }
    #expect(try auditor(storage) { try $0.strayRows() } == [])
    #expect(try auditor(storage) { try !$0.hasUnfinishedRebuild() })
    #expect(storage.current.rows[.personal]?.keys.contains { IndexRun.number($0) < 1 << 20 } == true)
    var merger = IndexMerger(storage: storage) { 0 }
    while try merger.step() {}
    #expect(storage.current.rows[.personal]?.keys.contains { IndexRun.number($0) < 1 << 20 } == false)
    #expect(try auditor(storage) { try $0.strayRows() } == [])
    #expect(try storage.read { try storage.open().all(.customer, 21, in: $0) } == [3])
  }
}
