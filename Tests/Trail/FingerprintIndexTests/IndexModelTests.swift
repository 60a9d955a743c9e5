// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FingerprintIndex

/// An index under random operations, faults and crashes beside its model.
private struct Trial {
  private var random: SeededGenerator
  private let storage: MemoryIndex
  private var index: IndexEngine
  private var merger: IndexMerger
  private var model = IndexModel()
  private var size: UInt64 = 0
  private let distinct: UInt64

  init(seed: UInt64) throws {
    random = SeededGenerator(seed)
    storage = MemoryIndex()
    index = try storage.open()
    merger = IndexMerger(storage: storage, pagesPerStep: 2) { 1 }
    distinct = [3, 40, 1_000_000][Int(seed % 3)]
  }

  /// Spread over all 48 bits; few distinct ones make chains over pages.
  private mutating func fingerprint() -> UInt64 {
    var generator = SeededGenerator(random.next() % distinct)
    return generator.next() & IndexRecord.fingerprintMask
  }

  mutating func run(_ operations: Int) throws {
    for _ in 0..<operations {
      switch random.next() % 12 {
      case 0..<5: try append(1 + random.next() % 500, flushing: false)
      case 5, 6: try append(1 + random.next() % 300, flushing: true)
      case 7: try merge()
      case 8: try removeSome()
      case 9: try look()
      case 10: try reopen()
      default: try failedAppend()
      }
    }
    while try merger.step() {}
    try look()
    try audit()
  }

  private mutating func append(_ count: UInt64, flushing: Bool) throws {
    _ = try storage.reload(&index)
    for entry in size..<size + count {
      for kind in IndexKind.allCases where random.next() % 4 > 0 {
        let fingerprint = fingerprint()
        index.insert(kind, fingerprint, entry)
        model.insert(kind, fingerprint, entry)
      }
    }
    size += count
    guard flushing else { return }
    let upTo = size - random.next() % 50 % size
    try storage.flush(&index, upTo: upTo)
    #expect(index.indexedSize >= upTo)
  }

  /// An append that fails at some operation, or just not.
  private mutating func failedAppend() throws {
    let fingerprints = (0..<100).map { _ in fingerprint() }
    for (offset, fingerprint) in fingerprints.enumerated() {
      index.insert(.receipt, fingerprint, size + UInt64(offset))
    }
    storage.fail(after: Int(random.next() % 12))
    defer { storage.fail(after: .max) }
    do {
      try storage.flush(&index, upTo: size + 100)
      for (offset, fingerprint) in fingerprints.enumerated() {
        model.insert(.receipt, fingerprint, size + UInt64(offset))
      }
      size += 100
    } catch is MemoryIndex.Fault {
      storage.fail(after: .max)
      try reopen()
    }
  }

  private mutating func merge() throws {
    storage.fail(after: Int(random.next() % 60))
    defer { storage.fail(after: .max) }
    do {
      for _ in 0..<random.next() % 8 where try merger.step() {}
    } catch is MemoryIndex.Fault {
      // As after a crash: somebody else takes the claim over.
      let now = 1_000 * (1 + random.next() % 1_000)
      merger = IndexMerger(storage: storage, pagesPerStep: 2) { now }
    }
  }

  private mutating func removeSome() throws {
    let personal = model.entries.keys.filter(\.kind.isPersonal).sorted { $0.fingerprint < $1.fingerprint }
    var removed: [IndexRecord] = []
    for _ in 0..<1 + random.next() % 40 {
      guard let sought = personal.randomElement(using: &random),
        let entry = model.entries[sought]?.randomElement(using: &random)
      else { continue }
      model.remove(sought.kind, sought.fingerprint, entry)
      removed.append(IndexRecord(fingerprint: sought.fingerprint, index: entry))
    }
    let count = try storage.change(&index) { try $0.remove(.customer, removed, in: $1) }
    #expect(count == removed.count)
  }

  /// A new process: what was in memory comes again from the entries.
  private mutating func reopen() throws {
    index = try storage.open()
    for kind in IndexKind.allCases {
      for record in model.records(kind, below: size).sorted(by: { $0.index < $1.index }) {
        index.insert(kind, record.fingerprint, record.index)
      }
    }
  }

  private mutating func look() throws {
    try storage.read { reader, root in
      try index.reloadIfChanged(to: root, in: reader)
      for _ in 0..<5 {
        let kind = IndexKind.allCases[Int(random.next() % 5)]
        let sought = model.entries.keys.randomElement(using: &random)?.fingerprint ?? 0
        let before = random.next() % (size + 2)
        #expect(try index.all(kind, sought, in: reader) == model.candidates(kind, sought))
        let newest = try index.newest(kind, sought, before: before, in: reader)
        #expect(newest == model.candidates(kind, sought, before: before).first)
      }
    }
  }

  private func audit() throws {
    try storage.read { reader, root in
      let auditor = try IndexAuditor(root: root, in: reader)
      #expect(try auditor.strayRows() == [])
      for kind in IndexKind.allCases {
        var records: [IndexRecord] = []
        let report = try auditor.audit(kind, at: try points()) { records.append($0) }
        #expect(report.damage == [])
        #expect(records == model.records(kind, below: auditor.indexedSize))
        var sum = MultisetHash()
        for record in records.shuffled() { sum.add(record, of: kind, at: try points()) }
        #expect(sum == report.sum)
      }
    }
  }
}

@Suite struct IndexModelTests {
  #if ADDRESS_SANITIZER
    // It takes five times as long: one seed for each number of distinct keys.
    private static let seeds = 0..<3 as Range<UInt64>
  #else
    private static let seeds = 0..<12 as Range<UInt64>
  #endif

  @Test(arguments: seeds)
  func `Random operations, faults and crashes leave what the model says`(seed: UInt64) throws {
    var trial = try Trial(seed: seed)
    try trial.run(60)
  }
}
