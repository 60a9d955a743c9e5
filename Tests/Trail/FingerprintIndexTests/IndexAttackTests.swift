// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import FingerprintIndex

/// An index with runs of every kind, merges under way, removed records, and runs that await their removal; beside every
/// content that its rows ever had.
private struct Victim {
  let storage = MemoryIndex()
  private(set) var model = IndexModel()
  private(set) var size: UInt64 = 0
  /// The rows as they were at several times.
  private(set) var history: [MemoryIndex.Rows] = []

  init() throws {
    var random = SeededGenerator(21)
    var index = try storage.open()
    for round in 0..<12 {
      for _ in 0..<130 {
        for kind in IndexKind.allCases {
          // Some fingerprints have several entries.
          let fingerprint = (random.next() & IndexRecord.fingerprintMask) >> (random.next() % 9 == 0 ? 44 : 0)
          index.insert(kind, fingerprint, size)
          model.insert(kind, fingerprint, size)
        }
        size += 1
      }
      try storage.flush(&index, upTo: size)
      history.append(storage.current.rows)
      if round == 8 {
        // One a kind: of the last the merge is complete, and some of the rows of its inputs are removed.
        for steps in [3, 3, 2, 2, 5] {
          var merger = IndexMerger(storage: storage, pagesPerStep: 1) { 0 }
          for _ in 0..<steps { _ = try merger.step() }
        }
        history.append(storage.current.rows)
      }
      let removed = model.records(.customer, below: size).enumerated().filter { $0.offset % 41 == round }
        .map(\.element)
      for record in removed { model.remove(.customer, record.fingerprint, record.index) }
      #expect(try storage.change(&index) { try $0.remove(.customer, removed, in: $1) } == removed.count)
      history.append(storage.current.rows)
    }
    let catalogue = try storage.read { try IndexCatalogue($1, in: $0) }
    #expect(catalogue.merges.map(\.output.pages) == [2, 2, 1, 1])
    #expect(!catalogue.garbage.isEmpty)
    #expect(catalogue.merges.contains { $0.progress.filterPart != .zero })
  }
}

private enum Edit: CaseIterable {
  case flip, zero, truncate, extend, delete, add, swap, replay, replayAll, dropRecord, dropRecordEverywhere
}

@Suite struct IndexAttackTests {
  #if ADDRESS_SANITIZER
    // Each costs several; the ordinary run makes all of them.
    private static let count = 110
  #else
    /// 3,000 with RECEIPTKIT_FULL_SWEEPS=1.
    private static let count =
      ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == "1" ? 3_000 : 300
  #endif

  @Test func `Write access to the rows, but not to the root, gives no wrong answer`() throws {
    let victim = try Victim()
    let genuine = victim.storage.current
    let opened = try victim.storage.open()
    var random = SeededGenerator(UInt64.random(in: 0...UInt64.max))
    var sought: [IndexModel.Sought] = []
    for kind in IndexKind.allCases {
      let known = victim.model.entries.keys.filter { $0.kind == kind }.map(\.fingerprint).sorted()
      sought += stride(from: 0, to: known.count, by: known.count / 12).map {
        IndexModel.Sought(kind: kind, fingerprint: known[$0])
      }
      sought.append(IndexModel.Sought(kind: kind, fingerprint: random.next() & IndexRecord.fingerprintMask))
    }
    #expect(try isSound(victim.storage.copy(), opened, sought, victim))
    var noticed: [Edit: Int] = [:]
    for number in 0..<Self.count {
      let edit = Edit.allCases[number % Edit.allCases.count]
      var state = genuine
      try Self.apply(edit, to: &state, victim.history, &random)
      #expect(state.root == genuine.root)
      if try !isSound(MemoryIndex(state), opened, sought, victim) { noticed[edit, default: 0] += 1 }
    }
    // The edits that go unnoticed are in rows that nothing reads any more.
    for edit in Edit.allCases { #expect(noticed[edit, default: 0] > 0, "\(edit)") }
  }

  /// Returns `true` if every operation on the index succeeds. Each answer that it gives is expected to be right.
  private func isSound(
    _ storage: MemoryIndex, _ opened: IndexEngine, _ sought: [IndexModel.Sought], _ victim: Victim
  ) throws -> Bool {
    var isSound = true
    func attempt(_ body: () throws -> Void) throws {
      do { try body() } catch let error as IndexError {
        #expect(error.code == .corrupt)
        isSound = false
      }
    }
    func look(_ index: IndexEngine) throws {
      for sought in sought {
        let expected = victim.model.candidates(sought.kind, sought.fingerprint)
        try attempt {
          let newest = try storage.read { try index.newest(sought.kind, sought.fingerprint, in: $0) }
          #expect(newest == expected.first)
          #expect(try storage.read { try index.all(sought.kind, sought.fingerprint, in: $0) } == expected)
        }
      }
    }
    // A process that had the trail open before, and one that opens it now.
    try look(opened)
    try attempt { try look(try storage.open()) }
    let snapshot = opened.snapshot(size: victim.size)
    try attempt {
      // A change makes a root of its own: what it goes by must be authentic.
      var index = try storage.open()
      let removed = try #require(sought.first { $0.kind == .customer })
      let entries = victim.model.candidates(removed.kind, removed.fingerprint)
      let records = entries.map { IndexRecord(fingerprint: removed.fingerprint, index: $0) }
      let count = try storage.change(&index) { try $0.remove(.customer, records, in: $1) }
      #expect(count == entries.count)
      for offset in entries.indices {
        index.insert(.customer, removed.fingerprint, victim.size + UInt64(offset))
      }
      try storage.flush(&index, upTo: victim.size + UInt64(entries.count))
      #expect(
        try storage.read { try index.all(.customer, removed.fingerprint, in: $0) }
          == (0..<UInt64(entries.count)).reversed().map { victim.size + $0 })
    }
    try attempt {
      var merger = IndexMerger(storage: storage, pagesPerStep: 3) { 5_000 }
      while try merger.step() {}
    }
    for kind in [IndexKind.receipt, .original] {
      for sought in sought where sought.kind == kind {
        let expected = victim.model.candidates(kind, sought.fingerprint)
        try attempt {
          let found = try storage.read {
            try snapshot.refreshed(to: $1, in: $0).all(kind, sought.fingerprint, in: $0)
          }
          #expect(found == expected)
        }
      }
    }
    try attempt {
      try storage.read { reader, root in
        let auditor = try IndexAuditor(root: root, in: reader)
        for kind in [IndexKind.receipt, .product] {
          var records: [IndexRecord] = []
          let report = try auditor.audit(kind, at: try points()) { records.append($0) }
          guard report.damage.isEmpty else {
            isSound = false
            continue
          }
          #expect(records == victim.model.records(kind, below: victim.size))
        }
        if try !auditor.strayRows().isEmpty { isSound = false }
      }
    }
    return isSound
  }

  private static func apply(
    _ edit: Edit, to state: inout MemoryIndex.State, _ history: [MemoryIndex.Rows],
    _ random: inout SeededGenerator
  ) throws {
    func below(_ limit: Int) -> Int { Int(random.next() % UInt64(max(1, limit))) }
    let table = IndexTable.allCases[below(3)]
    let keys = (state.rows[table] ?? [:]).keys.sorted()
    // The catalogue is the first row of its table.
    let key = keys[below(8) == 0 ? 0 : below(keys.count)]
    var row = state.rows[table]?[key] ?? []
    switch edit {
    case .flip: row[below(row.count)] ^= 1 << UInt8(below(8))
    case .zero:
      let start = below(row.count)
      for offset in start..<min(start + 32, row.count) { row[offset] = 0 }
    case .truncate: row.removeLast(1 + below(row.count))
    case .extend: row += row.prefix(8 * (1 + below(200)))
    case .delete:
      state.rows[table]?[key] = nil
      return
    case .add:
      state.rows[table]?[key + Int64(1 + below(1_000_000))] = row
      return
    case .swap:
      let other = keys[below(keys.count)]
      let moved = state.rows[table]?[other]
      state.rows[table]?[key] = moved
      state.rows[table]?[other] = row
      return
    case .replay: row = history[below(history.count)][table]?[key] ?? []
    case .replayAll:
      state.rows = history[below(history.count)]
      return
    case .dropRecord, .dropRecordEverywhere:
      try dropRecord(edit == .dropRecordEverywhere, &state, &random)
      return
    }
    state.rows[table]?[key] = row
  }

  /// Rebuilds a page without one of its records, with digests that are right; and the fences and the catalogue with it.
  private static func dropRecord(
    _ everywhere: Bool, _ state: inout MemoryIndex.State, _ random: inout SeededGenerator
  ) throws {
    let storage = MemoryIndex(state)
    try storage.write { writer, root in
      var catalogue = try IndexCatalogue(root, in: writer)
      let number = Int(random.next() % UInt64(catalogue.runs.count))
      let resident = try ResidentRun(catalogue.runs[number], in: writer)
      let pages = (0..<resident.run.pages).filter { !resident.fences.isEmpty($0) }
      let page = pages[Int(random.next() % UInt64(pages.count))]
      var old = try resident.page(page, in: writer)
      var records = try old.records()
      guard records.count > 1 else { return }
      records.remove(at: Int(random.next() % UInt64(records.count)))
      let (row, digest) = IndexPage.encode(records[...], of: resident.run)
      try writer.put(resident.run.page(page).table, resident.run.page(page).key, row)
      guard everywhere else { return }
      var fences = resident.fences
      fences.replace(page, by: (records[0].fingerprint, digest))
      try fences.rewrite([page], of: &catalogue.runs[number], in: writer)
      catalogue.runs[number].records -= 1
      _ = try catalogue.write(in: writer)
    }
    // All rows are the attacker's; the root is not.
    state.rows = storage.current.rows
  }
}
