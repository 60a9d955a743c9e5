// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import AuditTrail

/// An index with so many runs of one kind.
private func stored(runs: Int, of records: Int = 3_000, kind: IndexKind = .customer) throws -> (
  MemoryStorage, FingerprintIndex, IndexModel
) {
  let storage = MemoryStorage()
  var random = SeededGenerator(7)
  var index = try storage.read { try FingerprintIndex(reading: $0) }
  var model = IndexModel()
  var entry: UInt64 = 0
  for _ in 0..<runs {
    for _ in 0..<records {
      let fingerprint = random.next() & IndexRecord.fingerprintMask
      index.insert(kind, fingerprint, entry)
      model.insert(kind, fingerprint, entry)
      entry += 1
    }
    try storage.write { try index.flush(upTo: entry, in: $0) }
  }
  return (storage, index, model)
}

private func records(_ kind: IndexKind, in storage: MemoryStorage) throws -> [IndexRecord] {
  try storage.read { reader in
    var records: [IndexRecord] = []
    let auditor = try IndexAuditor(reading: reader)
    #expect(try auditor.audit(kind, at: try points()) { records.append($0) }.damage == [])
    #expect(try auditor.strayRows() == [])
    return records
  }
}

@Suite struct IndexMergerTests {
  @Test func `Eight runs become one, and nothing is left of them`() throws {
    var (storage, index, model) = try stored(runs: 8)
    var merger = IndexMerger(storage: storage) { 0 }
    while try merger.step() {}
    let catalogue = try storage.read { try IndexCatalogue.read(in: $0) }
    #expect(catalogue.runs.map(\.level) == [1])
    #expect(catalogue.runs.map(\.records) == [24_000])
    #expect(catalogue.merges == [] && catalogue.garbage == [])
    #expect(try records(.customer, in: storage) == model.records(.customer, below: .max))
    let changed = try storage.read { try index.reloadIfChanged(in: $0) }
    #expect(changed)
    #expect(index.runCount == 1)
  }

  @Test func `A claim is another's after ten minutes, who goes on where it stood`() throws {
    let (storage, _, model) = try stored(runs: 8, kind: .receipt)
    var first = IndexMerger(storage: storage, pagesPerStep: 3) { 5_000 }
    for _ in 0..<4 { #expect(try first.step()) }
    var early = IndexMerger(storage: storage, pagesPerStep: 3) { 5_599 }
    #expect(try !early.step())
    var late = IndexMerger(storage: storage, pagesPerStep: 3) { 5_600 }
    #expect(try late.step())
    let claimed = try storage.read { try IndexCatalogue.read(in: $0) }.merges
    #expect(claimed.map(\.progress.pages) == [9])
    // The first one is back: the claim is not its own any more.
    #expect(try !first.step())
    while try late.step() {}
    #expect(try records(.receipt, in: storage) == model.records(.receipt, below: .max))
  }

  @Test func `A released claim is taken over at once`() throws {
    let (storage, _, _) = try stored(runs: 8)
    var first = IndexMerger(storage: storage, pagesPerStep: 3) { 5_000 }
    #expect(try first.step())
    try first.release()
    var second = IndexMerger(storage: storage, pagesPerStep: 3) { 5_000 }
    #expect(try second.step())
  }

  @Test func `Workers of several processes do not merge the same`() async throws {
    let (storage, _, model) = try stored(runs: 70, of: 500)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var merger = IndexMerger(storage: storage, pagesPerStep: 2) { 5_000 }
          while true {
            guard try !merger.step() else { continue }
            let busy = try storage.read { try IndexCatalogue.read(in: $0) }.merges
            if busy.isEmpty { return }
            try await Task.sleep(for: .milliseconds(1))
          }
        }
      }
      try await group.waitForAll()
    }
    var merger = IndexMerger(storage: storage) { 5_000 }
    while try merger.step() {}
    let levels = try storage.read { try IndexCatalogue.read(in: $0) }.runs.map(\.level)
    #expect(levels == [2] + [UInt8](repeating: 0, count: 6))
    #expect(try records(.customer, in: storage) == model.records(.customer, below: .max))
  }

  @Test func `A snapshot goes on answering while runs are flushed, merged and removed`() throws {
    var (storage, index, model) = try stored(runs: 7)
    let sought = try #require(model.entries.keys.first { ($0.fingerprint & 1) == 0 })
    index.insert(.customer, sought.fingerprint, 21_000)
    let snapshot = index.snapshot(size: 21_001)
    index.insert(.customer, sought.fingerprint, 21_001)
    try storage.write { try index.flush(upTo: 21_002, in: $0) }
    var merger = IndexMerger(storage: storage) { 0 }
    while try merger.step() {}
    let found = try storage.read { reader in
      try snapshot.refreshed(in: reader).all(.customer, sought.fingerprint, in: reader)
    }
    #expect(found == [21_000] + model.candidates(.customer, sought.fingerprint))
  }

  @Test func `A removed record is not brought back by the merge that had read it`() throws {
    var (storage, index, model) = try stored(runs: 8)
    var merger = IndexMerger(storage: storage, pagesPerStep: 3) { 0 }
    for _ in 0..<5 { #expect(try merger.step()) }
    // Some have been written to the output by now, others have not.
    for record in model.records(.customer, below: .max).enumerated() where record.offset % 499 == 0 {
      let removed = try storage.write {
        try index.remove(.customer, record.element.fingerprint, record.element.index, in: $0)
      }
      #expect(removed)
      model.remove(.customer, record.element.fingerprint, record.element.index)
      if record.offset % 2 == 0 { _ = try merger.step() }
    }
    while try merger.step() {}
    #expect(try records(.customer, in: storage) == model.records(.customer, below: .max))
  }
}
