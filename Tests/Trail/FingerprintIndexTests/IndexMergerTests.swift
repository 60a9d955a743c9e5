// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import FingerprintIndex

/// An index with so many runs of one kind.
private func stored(runs: Int, of records: Int = 3_000, kind: IndexKind = .customer) throws -> (
  MemoryIndex, IndexEngine, IndexModel
) {
  let storage = MemoryIndex()
  var random = SeededGenerator(7)
  var index = try storage.open()
  var model = IndexModel()
  var entry: UInt64 = 0
  for _ in 0..<runs {
    for _ in 0..<records {
      let fingerprint = random.next() & IndexRecord.fingerprintMask
      index.insert(kind, fingerprint, entry)
      model.insert(kind, fingerprint, entry)
      entry += 1
    }
    try storage.flush(&index, upTo: entry)
  }
  return (storage, index, model)
}

private func records(_ kind: IndexKind, in storage: MemoryIndex) throws -> [IndexRecord] {
  try storage.read { reader, root in
    var records: [IndexRecord] = []
    let auditor = try IndexAuditor(root: root, in: reader)
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
    let catalogue = try storage.read { try IndexCatalogue($1, in: $0) }
    #expect(catalogue.runs.map(\.level) == [1])
    #expect(catalogue.runs.map(\.records) == [24_000])
    #expect(catalogue.merges == [] && catalogue.garbage == [])
    #expect(try records(.customer, in: storage) == model.records(.customer, below: .max))
    let changed = try storage.reload(&index)
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
    let claimed = try storage.read { try IndexCatalogue($1, in: $0) }.merges
    #expect(claimed.map(\.output.pages) == [9])
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
            let busy = try storage.read { try IndexCatalogue($1, in: $0) }.merges
            if busy.isEmpty { return }
            try await Task.sleep(for: .milliseconds(1))
          }
        }
      }
      try await group.waitForAll()
    }
    var merger = IndexMerger(storage: storage) { 5_000 }
    while try merger.step() {}
    let levels = try storage.read { try IndexCatalogue($1, in: $0) }.runs.map(\.level)
    #expect(levels == [2] + [UInt8](repeating: 0, count: 6))
    #expect(try records(.customer, in: storage) == model.records(.customer, below: .max))
  }

  @Test func `A snapshot goes on answering while runs are flushed, merged and removed`() throws {
    var (storage, index, model) = try stored(runs: 7)
    let sought = try #require(model.entries.keys.first { ($0.fingerprint & 1) == 0 })
    index.insert(.customer, sought.fingerprint, 21_000)
    let snapshot = index.snapshot(size: 21_001)
    index.insert(.customer, sought.fingerprint, 21_001)
    try storage.flush(&index, upTo: 21_002)
    var merger = IndexMerger(storage: storage) { 0 }
    while try merger.step() {}
    let found = try storage.read { reader, root in
      try snapshot.refreshed(to: root, in: reader).all(.customer, sought.fingerprint, in: reader)
    }
    #expect(found == [21_000] + model.candidates(.customer, sought.fingerprint))
  }

  @Test func `A removed record is not brought back by the merge that had read it`() throws {
    var (storage, index, model) = try stored(runs: 8)
    var merger = IndexMerger(storage: storage, pagesPerStep: 3) { 0 }
    for _ in 0..<5 { #expect(try merger.step()) }
    // Some have been written to the output by now, others have not. The last one that was is among them.
    let last = try #require(try storage.read { try IndexCatalogue($1, in: $0) }.merges.first?.progress.last)
    let all = model.records(.customer, below: .max)
    for batch in 0..<6 {
      var removed = all.enumerated().filter { $0.offset % 499 == batch }.map(\.element)
      if batch == 0, !removed.contains(last) { removed.append(last) }
      let count = try storage.change(&index) { try $0.remove(.customer, removed, in: $1) }
      #expect(count == removed.count)
      for record in removed { model.remove(.customer, record.fingerprint, record.index) }
      if batch % 2 == 0 { _ = try merger.step() }
      let merges = try storage.read { try IndexCatalogue($1, in: $0) }.merges
      #expect(merges.allSatisfy { $0.progress.last.map { !removed.contains($0) } ?? true })
    }
    while try merger.step() {}
    #expect(try records(.customer, in: storage) == model.records(.customer, below: .max))
  }
}
