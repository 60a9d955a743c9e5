// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FingerprintIndex

/// A small index with several runs of every sort, one merge under way.
private func sample(_ perRun: Int = 40) throws -> (MemoryIndex, IndexModel) {
  let storage = MemoryIndex()
  var random = SeededGenerator(11)
  var model = IndexModel()
  var index = try storage.open()
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
    try storage.flush(&index, upTo: entry)
    if index.runCount == 18 {
      var merger = IndexMerger(storage: storage, pagesPerStep: 1) { 0 }
      for _ in 0..<12 { _ = try merger.step() }
    }
  }
  return (storage, model)
}

private typealias Row = (table: IndexTable, key: Int64, bytes: [UInt8])

private func rows(of storage: MemoryIndex) -> [Row] {
  IndexTable.allCases.flatMap { table in
    (storage.current.rows[table] ?? [:]).sorted { $0.key < $1.key }.map { (table, $0.key, $0.value) }
  }
}

/// All damage found; that of the catalogue, which is thrown, too.
private func damage(in storage: MemoryIndex) throws -> [String] {
  try storage.read { reader, root in
    do {
      let auditor = try IndexAuditor(root: root, in: reader)
      let found = try IndexKind.allCases.flatMap { try auditor.audit($0, at: try points()).damage }
      return (try found + auditor.strayRows()).map(\.description)
    } catch let error as IndexError where error.code == .corrupt {
      return [error.description]
    }
  }
}

@Suite struct IndexAuditorTests {
  @Test func `Every flipped byte of the catalogue, filters, fences and pages is found`() throws {
    let (storage, _) = try sample()
    #expect(try damage(in: storage) == [])
    let catalogue = try storage.read { try IndexCatalogue($1, in: $0) }
    let live = catalogue.runs + catalogue.merges.map(\.output)
    for (table, key, bytes) in rows(of: storage)
    where key == 0 || live.contains(where: { IndexRun.keys($0.number).contains(key) }) {
      // Every byte of the catalogue and of one run; of the others, one in 31.
      let step = key == 0 || key >> 24 == Int64(live[0].number) ? 1 : 31
      // A merge's part of a filter is verified when the merge goes on.
      if table == .runs, catalogue.merges.contains(where: { $0.output.filterRow(0).key == key }) { continue }
      for offset in stride(from: 0, to: bytes.count, by: step) {
        let copy = storage.copy()
        copy.current.rows[table]?[key]?[offset] ^= UInt8(1 << (offset % 8))
        let found = try damage(in: copy)
        #expect(!found.isEmpty, "\(table) \(key) byte \(offset)")
        let place = key == 0 ? "index catalogue" : "index run \(key >> 24)"
        #expect(found.contains { $0.contains(place) }, "\(found)")
      }
    }
  }

  @Test func `Rows that are missing, cut, swapped or left over are found`() throws {
    let (storage, _) = try sample()
    let live = try storage.read { try IndexCatalogue($1, in: $0) }.runs
    for run in live {
      for place in [run.page(0), run.fenceRow(0)] + (run.filterBlocks > 0 ? [run.filterRow(0)] : []) {
        let copy = storage.copy()
        copy.current.rows[place.table]?[place.key] = nil
        #expect(try damage(in: copy).contains { $0.contains("index run \(run.number)") })
        let cut = storage.copy()
        cut.current.rows[place.table]?[place.key]?.removeLast(8)
        #expect(try damage(in: cut).contains { $0.contains("index run \(run.number)") })
      }
    }
    let swapped = storage.copy()
    let pages = live.filter { !$0.kind.isPersonal }.map { $0.page(0).key }
    let (first, second) = (pages[0], try #require(pages.dropFirst().first))
    let rows = storage.current.rows[.pages]
    swapped.current.rows[.pages]?[first] = rows?[second]
    swapped.current.rows[.pages]?[second] = rows?[first]
    #expect(try damage(in: swapped).count >= 2)
    let left = storage.copy()
    left.current.rows[.pages]?[5_000 << 24] = [1]
    #expect(try damage(in: left).contains { $0.contains("belongs to no run") })
  }

  @Test func `Damage names the run, the page and the record`() throws {
    let (storage, _) = try sample()
    var catalogue = try storage.read { try IndexCatalogue($1, in: $0) }
    let number = try #require(catalogue.runs.indices.last)
    let kind = catalogue.runs[number].kind
    // A writer that entered the fifth record twice: all digests are right.
    try storage.write { writer, root in
      let resident = try ResidentRun(catalogue.runs[number], in: writer)
      var page = try resident.page(0, in: writer)
      var records = try page.records()
      records[5] = records[4]
      let (row, digest) = IndexPage.encode(records[...], of: resident.run)
      try writer.put(resident.run.page(0).table, resident.run.page(0).key, row)
      var fences = resident.fences
      fences.replace(0, by: (records[0].fingerprint, digest))
      try fences.rewrite([0], of: &catalogue.runs[number], in: writer)
      root = try catalogue.write(in: writer)
    }
    let report = try storage.read { try IndexAuditor(root: $1, in: $0).audit(kind, at: try points()) }
    #expect(report.damage.map(\.place) == ["index run \(catalogue.runs[number].number), page 0, record 5"])
  }

  @Test(arguments: [-1, 1])
  func `A run that has not as many records as its writer said is found`(difference: Int) throws {
    let (storage, _) = try sample()
    var catalogue = try storage.read { try IndexCatalogue($1, in: $0) }
    let number = try #require(catalogue.runs.indices.last)
    let (kind, count) = (catalogue.runs[number].kind, Int(catalogue.recordCount(catalogue.runs[number].kind)))
    // All digests are right.
    catalogue.runs[number].records = UInt64(Int(catalogue.runs[number].records) + difference)
    try storage.write { writer, root in root = try catalogue.write(in: writer) }
    let report = try storage.read { try IndexAuditor(root: $1, in: $0).audit(kind, at: try points()) }
    #expect(report.records == UInt64(count))
    #expect(report.damage.map(\.code) == [.corrupt])
    let message = "have \(count) records, not \(count + difference)."
    #expect(report.damage.first?.message.hasSuffix(message) == true)
  }

  @Test func `A sum tells sets of records apart, in whatever order they come`() throws {
    let records = (0..<100 as Range<UInt64>).map { IndexRecord(fingerprint: $0 * 77, index: $0) }
    func sum(_ records: [IndexRecord], _ kind: IndexKind = .receipt) throws -> MultisetHash {
      var sum = MultisetHash()
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
    #expect(MultisetHash.Points([1]) == nil)
  }

  /// With the arithmetic of the standard library, which is too slow for more than a test.
  @Test func `A sum is the value of the polynomial whose roots are the records`() throws {
    var random = SystemRandomNumberGenerator()
    let modulus = UInt128(1) << 61 - 1
    for _ in 0..<200 {
      let words = (0..<6).map { _ in UInt64.random(in: 0...UInt64.max, using: &random) }
      let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
      let points = try #require(MultisetHash.Points(bytes))
      var sum = MultisetHash()
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
