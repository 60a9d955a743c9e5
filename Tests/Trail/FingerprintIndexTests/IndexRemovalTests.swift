// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import FingerprintIndex

@Suite struct IndexRemovalTests {
  @Test func `Nothing of a removed record is left in any row`() throws {
    let storage = MemoryIndex()
    var index = try storage.open()
    // Fingerprints whose six bytes are found nowhere by chance; the first is its page's base and fence.
    let fingerprints = (1...40 as ClosedRange<UInt64>).map { 0x0D1E_F2A3_0000 + $0 << 32 | 0xB4C5 }.sorted()
    for (entry, fingerprint) in fingerprints.enumerated() {
      index.insert(.customer, fingerprint, UInt64(entry))
    }
    try storage.flush(&index, upTo: 40)
    func remove(_ entries: [Int]) throws -> Int {
      let records = entries.map { IndexRecord(fingerprint: fingerprints[$0], index: UInt64($0)) }
      return try storage.change(&index) { try $0.remove(.customer, records, in: $1) }
    }
    /// Returns `true` if any row has the fingerprint as a number, or its bytes.
    func isStored(_ entry: Int) throws -> Bool {
      let run = try #require(try storage.read { try IndexCatalogue($1, in: $0) }.runs.first)
      let resident = try storage.read { try ResidentRun(run, in: $0) }
      var records: [IndexRecord] = []
      if !resident.fences.isEmpty(0) {
        try storage.read { reader in
          var page = try resident.page(0, in: reader)
          records = try page.records()
        }
      }
      var bytes = Data()
      for shift in stride(from: 40 as UInt64, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: fingerprints[entry] >> shift))
      }
      let isInRow = storage.current.rows.values.flatMap(\.values).contains { row in
        Data(row).range(of: bytes) != nil
      }
      return isInRow || records.contains { $0.fingerprint == fingerprints[entry] }
        || resident.fences.fingerprints.contains(fingerprints[entry])
    }
    #expect(try (0..<40).allSatisfy { try isStored($0) })
    for entries in [[0], [39, 17], [1]] {
      #expect(try remove(entries) == entries.count)
      for entry in entries {
        #expect(try !isStored(entry))
        #expect(try storage.read { try index.newest(.customer, fingerprints[entry], in: $0) } == nil)
      }
      let report = try storage.read { try IndexAuditor(root: $1, in: $0).audit(.customer, at: try points()) }
      #expect(report.damage == [])
    }
    #expect(try remove([17]) == 0)
    // All the others, until the page is empty.
    #expect(try remove(Array(0..<40)) == 36)
    #expect(try !(0..<40).contains { try isStored($0) })
    #expect(storage.current.rows[.personal]?[1 << 24] == nil)
    try storage.read { reader, root in
      let auditor = try IndexAuditor(root: root, in: reader)
      #expect(try auditor.audit(.customer, at: try points()).damage == [])
      #expect(try auditor.strayRows() == [])
    }
  }

  @Test func `Records with equal fingerprints go from whichever page they are in`() throws {
    let storage = MemoryIndex()
    var index = try storage.open()
    let size = UInt64(3 * IndexPage.recordLimit(.customer))
    for entry in 0..<size { index.insert(.customer, entry == size - 1 ? 9 : 5, entry) }
    try storage.flush(&index, upTo: size)
    var left = Array((0..<size - 1).reversed())
    // The middle page as a whole, then every seventh entry, then the first page.
    let limit = UInt64(IndexPage.recordLimit(.customer))
    for removed in [Array(limit..<2 * limit), Array(stride(from: 0, to: size - 1, by: 7)), Array(0..<limit)] {
      let records = removed.map { IndexRecord(fingerprint: 5, index: $0) }
      let expected = left.filter { removed.contains($0) }
      #expect(try storage.change(&index) { try $0.remove(.customer, records, in: $1) } == expected.count)
      left.removeAll { removed.contains($0) }
      #expect(try storage.read { try index.all(.customer, 5, in: $0) } == left)
      #expect(try storage.read { try storage.open().all(.customer, 5, in: $0) } == left)
      #expect(try storage.read { try index.all(.customer, 9, in: $0) } == [size - 1])
    }
  }

  @Test func `A removal writes each page and each row of fences once`() throws {
    let storage = MemoryIndex()
    var index = try storage.open()
    for entry in 0..<10_000 as Range<UInt64> { index.insert(.customer, entry &* 0x9E37_79B9_7F4A, entry) }
    try storage.flush(&index, upTo: 10_000)
    let records = (0..<10_000 as Range<UInt64>).filter { $0 % 20 == 0 }.map {
      IndexRecord(fingerprint: $0 &* 0x9E37_79B9_7F4A, index: $0)
    }
    let run = try #require(try storage.read { try IndexCatalogue($1, in: $0) }.runs.first)
    // Each page, a row of fences, the catalogue, and the commit.
    storage.fail(after: run.pages + 3)
    #expect(try storage.change(&index) { try $0.remove(.customer, records, in: $1) } == 500)
    storage.fail(after: .max)
  }

  @Test func `Another process drops a removed record from its memory when it is told`() throws {
    let storage = MemoryIndex()
    var (index, other) = (try storage.open(), try storage.open())
    for entry in 0..<9 as Range<UInt64> {
      index.insert(.customer, entry % 2, entry)
      other.insert(.customer, entry % 2, entry)
    }
    let removed = [IndexRecord(fingerprint: 0, index: 4), IndexRecord(fingerprint: 1, index: 7)]
    #expect(try storage.change(&index) { try $0.remove(.customer, removed, in: $1) } == 2)
    for _ in 0..<2 { other.withMemory { $0.remove(.customer, of: [4, 7]) } }
    try storage.flush(&other, upTo: 9)
    #expect(try storage.read { try other.all(.customer, 0, in: $0) } == [8, 6, 2, 0])
    #expect(try storage.read { try other.all(.customer, 1, in: $0) } == [5, 3, 1])
  }

  @Test func `A record in memory can be removed, and does not come back with a flush`() throws {
    let storage = MemoryIndex()
    var index = try storage.open()
    for entry in 0..<10 as Range<UInt64> { index.insert(.customer, entry % 2, entry) }
    let record = IndexRecord(fingerprint: 0, index: 8)
    #expect(try storage.change(&index) { try $0.remove(.customer, [record], in: $1) } == 1)
    try storage.change(&index) { index, writer in
      #expect(try index.all(.customer, 0, in: writer) == [6, 4, 2, 0])
      #expect(try index.all(.customer, 1, in: writer) == [9, 7, 5, 3, 1])
      try index.flush(upTo: 10, in: writer)
      #expect(try index.all(.customer, 0, in: writer) == [6, 4, 2, 0])
    }
  }

  @Test(arguments: IndexKind.allCases.filter { !$0.isPersonal })
  func `Records of other kinds, whose pages readers keep, are not removed`(_ kind: IndexKind) throws {
    let storage = MemoryIndex()
    var index = try storage.open()
    index.insert(kind, 5, 8)
    for size in [0, 9] as [UInt64] {
      try storage.flush(&index, upTo: size)
      let error = try #require(throws: IndexError.self) {
        try storage.change(&index) {
          try $0.remove(kind, [IndexRecord(fingerprint: 5, index: 8)], in: $1)
        }
      }
      #expect(error.code == .unsupported)
      #expect(try storage.read { try index.newest(kind, 5, in: $0) } == 8)
    }
  }
}
