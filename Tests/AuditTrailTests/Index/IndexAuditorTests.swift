// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AuditTrail

/// A small index with several runs of every sort, one merge under way.
private func sample(_ perRun: Int = 40) throws -> (MemoryStorage, IndexModel) {
  let storage = MemoryStorage()
  var random = SeededGenerator(11)
  var model = IndexModel()
  var index = try storage.read { try FingerprintIndex(reading: $0) }
  var entry: UInt64 = 0
  for _ in 0..<9 {
    for _ in 0..<perRun {
      for kind in [IndexKind.receipt, .customer] {
        let fingerprint = random.next() & IndexRecord.fingerprintMask
        index.insert(kind, fingerprint, entry)
        model.insert(kind, fingerprint, entry)
      }
      entry += 1
    }
    try storage.write { try index.flush(upTo: entry, in: $0) }
    if index.runCount == 18 {
      var merger = IndexMerger(storage: storage, pagesPerStep: 1) { 0 }
      for _ in 0..<12 { _ = try merger.step() }
    }
  }
  return (storage, model)
}

private func rows(of storage: MemoryStorage) throws -> [(table: StorageTable, key: Int64, bytes: [UInt8])] {
  try storage.read { reader in
    var rows: [(table: StorageTable, key: Int64, bytes: [UInt8])] = []
    for table in [StorageTable.runs, .pages] {
      try reader.forEach(table, in: .min ... .max) {
        rows.append((table, $0, $1))
        return true
      }
    }
    return rows
  }
}

/// All damage found; that of the catalogue, which is thrown, too.
private func damage(in storage: MemoryStorage) throws -> [String] {
  try storage.read { reader in
    do {
      let auditor = try IndexAuditor(reading: reader)
      let found = try IndexKind.allCases.flatMap { try auditor.audit($0, at: try points()).damage }
      return (try found + auditor.strayRows()).map(\.description)
    } catch let error as StorageError where error.code == .corrupt {
      return [error.description]
    }
  }
}

@Suite struct IndexAuditorTests {
  @Test func `Every flipped byte of the catalogue, filters, fences and pages is found`() throws {
    let (storage, _) = try sample()
    #expect(try damage(in: storage) == [])
    let live = try storage.read { try IndexCatalogue.read(in: $0) }.runs
    for (table, key, bytes) in try rows(of: storage)
    where key == 0 || live.contains(where: { IndexRun.keys($0.number).contains(key) }) {
      // Every byte of the catalogue and of one run; of the others, one in 31.
      let step = key == 0 || key >> 24 == Int64(live[0].number) ? 1 : 31
      for offset in stride(from: 0, to: bytes.count, by: step) {
        var changed = bytes
        changed[offset] ^= UInt8(1 << (offset % 8))
        let copy = storage.copy()
        try copy.write { try $0.put(table, key, changed) }
        let found = try damage(in: copy)
        #expect(!found.isEmpty, "\(table) \(key) byte \(offset)")
        let place = key == 0 ? "index catalogue" : "index run \(key >> 24)"
        #expect(found.contains { $0.contains(place) }, "\(found)")
      }
    }
  }

  @Test func `Rows that are missing, cut, swapped or left over are found`() throws {
    let (storage, _) = try sample()
    let live = try storage.read { try IndexCatalogue.read(in: $0) }.runs
    let pages = live.map { $0.page(0).key }
    for run in live {
      for place in [run.page(0), run.fenceRow(0)] + (run.filterBlocks > 0 ? [run.filterRow(0)] : []) {
        let copy = storage.copy()
        try copy.write { try $0.remove(place.table, in: place.key...place.key, erasing: false) }
        #expect(try damage(in: copy).contains { $0.contains("index run \(run.number)") })
        let cut = storage.copy()
        try cut.write { writer in
          let bytes = try #require(try writer.value(place.table, place.key))
          try writer.put(place.table, place.key, Array(bytes.dropLast(8)))
        }
        #expect(try damage(in: cut).contains { $0.contains("index run \(run.number)") })
      }
    }
    let swapped = storage.copy()
    try swapped.write { writer in
      let (first, second) = (
        try #require(try writer.value(.pages, pages[0])), try writer.value(.pages, pages[1])
      )
      try writer.put(.pages, pages[0], try #require(second))
      try writer.put(.pages, pages[1], first)
    }
    #expect(try damage(in: swapped).count >= 2)
    let left = storage.copy()
    try left.write { try $0.put(.pages, 5_000 << 24, [1]) }
    #expect(try damage(in: left).contains { $0.contains("belongs to no run") })
  }

  @Test func `Damage names the run, the page and the record`() throws {
    let (storage, _) = try sample()
    let run = try #require(try storage.read { try IndexCatalogue.read(in: $0) }.runs.last)
    try storage.write { writer in
      let page = try IndexPage.read(0, of: run, in: writer)
      var row = page.bytes
      // The fifth record twice, under a right checksum.
      row.replaceSubrange(56..<64, with: row[48..<56])
      IndexChecksum.seal(&row, at: run.page(0))
      try writer.put(.pages, run.page(0).key, row)
    }
    let report = try storage.read { try IndexAuditor(reading: $0).audit(run.kind, at: try points()) }
    #expect(report.damage.map(\.run) == [run.number])
    #expect(report.damage.map(\.page) == [0])
    #expect(report.damage.map(\.record) == [5])
  }

  @Test func `Rows forged under right checksums crash nothing`() throws {
    let (storage, model) = try sample(20)
    let rows = try rows(of: storage)
    var random = SeededGenerator(3)
    for _ in 0..<400 {
      let (table, key, bytes) = rows[random.next() % 3 == 0 ? 0 : Int(random.next() % UInt64(rows.count))]
      var forged = bytes
      for _ in 0...random.next() % 3 {
        let word = 8 * Int(random.next() % UInt64(forged.count / 8))
        switch random.next() % 3 {
        case 0: forged[word + Int(random.next() % 8)] ^= UInt8(truncatingIfNeeded: random.next())
        case 1: forged.replaceSubrange(word..<word + 8, with: [UInt8](repeating: 0xFF, count: 8))
        default: forged[word + 7] = UInt8(truncatingIfNeeded: random.next() % 40)
        }
      }
      let copy = storage.copy()
      try copy.write { writer in
        IndexChecksum.seal(&forged, at: IndexPlace(table: table, key: key))
        try writer.put(table, key, forged)
      }
      try exercise(copy, model)
    }
  }

  @Test func `A catalogue with any number in any place crashes nothing`() throws {
    let (storage, model) = try sample(20)
    let words = try storage.read { try IndexRows.words(at: .catalogue, in: $0) }
    for position in words.indices {
      for number in [0, 1, 1 << 22, 1 << 48, 1 << 63, UInt64.max] {
        var forged = words
        forged[position] = number
        let copy = storage.copy()
        try copy.write { try IndexRows.put(forged, at: .catalogue, in: $0) }
        try exercise(copy, model)
      }
    }
  }

  /// Whatever can be done with an index; only errors of the storage may come of it.
  private func exercise(_ storage: MemoryStorage, _ model: IndexModel) throws {
    func attempt(_ body: () throws -> Void) throws {
      do { try body() } catch let error as StorageError {
        #expect([.corrupt, .unsupported].contains(error.code))
      }
    }
    _ = try damage(in: storage)
    try attempt {
      var index = try storage.read { try FingerprintIndex(reading: $0) }
      for sought in model.entries.keys.prefix(3) {
        try attempt { _ = try storage.read { try index.all(sought.kind, sought.fingerprint, in: $0) } }
      }
      for sought in model.entries.keys.filter(\.kind.isPersonal).prefix(3) {
        let entry = model.entries[sought]?.first ?? 0
        try attempt {
          _ = try storage.write { try index.remove(sought.kind, sought.fingerprint, entry, in: $0) }
        }
      }
      index.insert(.customer, 1, index.indexedSize)
      try attempt { try storage.write { try index.flush(upTo: index.indexedSize + 1, in: $0) } }
    }
    try attempt {
      var merger = IndexMerger(storage: storage, pagesPerStep: 1) { 10_000 }
      for _ in 0..<20 where try merger.step() {}
    }
  }

  @Test func `A sum tells sets of records apart, in whatever order they come`() throws {
    let records = (0..<100 as Range<UInt64>).map { IndexRecord(fingerprint: $0 * 77, index: $0) }
    func sum(_ records: [IndexRecord], _ kind: IndexKind = .receipt) throws -> IndexSum {
      var sum = IndexSum()
      for record in records { sum.add(record, of: kind, at: try points()) }
      return sum
    }
    #expect(try sum(records) == sum(records.reversed()))
    #expect(try sum(records) != sum(records, .original))
    var swapped = records
    (swapped[1].index, swapped[2].index) = (swapped[2].index, swapped[1].index)
    #expect(try sum(records) != sum(swapped))
    #expect(try sum(records) != sum(records + [records[0]]))
    var halves = try sum(Array(records[..<50]))
    halves.add(try sum(Array(records[50...])))
    #expect(halves == (try sum(records)))
    #expect(IndexSum.Points([1]) == nil)
  }

  /// With the arithmetic of the standard library, which is too slow for more than a test.
  @Test func `A sum is the value of the polynomial whose roots are the records`() throws {
    var random = SystemRandomNumberGenerator()
    let modulus = UInt128(1) << 61 - 1
    for _ in 0..<200 {
      let words = (0..<6).map { _ in UInt64.random(in: 0...UInt64.max, using: &random) }
      let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
      let points = try #require(IndexSum.Points(bytes))
      var sum = IndexSum()
      var expected: [UInt128] = [1, 1]
      for number in 0..<Int.random(in: 0...9, using: &random) {
        let kind = IndexKind.allCases[number % IndexKind.allCases.count]
        let record = IndexRecord(
          fingerprint: number == 0 ? .max : UInt64.random(in: 0...UInt64.max, using: &random),
          index: number == 1 ? .max : UInt64.random(in: 0...UInt64.max, using: &random),
          check: number == 2 ? .max : UInt32.random(in: 0...UInt32.max, using: &random))
        sum.add(record, of: kind, at: points)
        for point in 0..<2 {
          let (main, index, check) = (words[3 * point], words[3 * point + 1], words[3 * point + 2])
          let root =
            UInt128(kind.rawValue) << 48 + UInt128(record.fingerprint)
            + UInt128(index) % modulus * (UInt128(record.index) % modulus)
            + UInt128(check) % modulus * UInt128(record.check)
          expected[point] = expected[point] * ((UInt128(main) + modulus - root % modulus) % modulus) % modulus
        }
      }
      #expect(UInt128(sum.first) == expected[0])
      #expect(UInt128(sum.second) == expected[1])
    }
  }
}
