// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AuditTrail

@Suite struct IndexRemovalTests {
  @Test func `Nothing of a removed record is left in any row`() throws {
    let storage = MemoryStorage()
    var index = try storage.read { try FingerprintIndex(reading: $0) }
    // Fingerprints whose six bytes are found nowhere by chance; the first is its page's base and fence.
    let fingerprints = (1...40 as ClosedRange<UInt64>).map { 0x0D1E_F2A3_0000 + $0 << 32 | 0xB4C5 }.sorted()
    for (entry, fingerprint) in fingerprints.enumerated() {
      index.insert(.customer, fingerprint, UInt64(entry))
    }
    try storage.write { try index.flush(upTo: 40, in: $0) }
    for entry in [0, 39, 17, 1] {
      let removed = try storage.write {
        try index.remove(.customer, fingerprints[entry], UInt64(entry), in: $0)
      }
      #expect(removed)
      let run = try #require(try storage.read { try IndexCatalogue.read(in: $0) }.runs.first)
      let left = try storage.read { reader in
        #expect(try IndexAuditor(reading: reader).audit(.customer, at: try points()).damage == [])
        #expect(try index.newest(.customer, fingerprints[entry], in: reader) == nil)
        let fences = try IndexRows.words(at: run.fenceRow(0), in: reader)
        return (try IndexPage.read(0, of: run, in: reader), fences)
      }
      #expect(!left.0.records.contains { $0.fingerprint == fingerprints[entry] })
      #expect(left.0.base != fingerprints[entry] && !left.1.contains(fingerprints[entry]))
    }
    let again = try storage.write { try index.remove(.customer, fingerprints[17], 17, in: $0) }
    #expect(!again)
    // All the others, until the page is empty.
    for (entry, fingerprint) in fingerprints.enumerated() where ![0, 39, 17, 1].contains(entry) {
      let removed = try storage.write { try index.remove(.customer, fingerprint, UInt64(entry), in: $0) }
      #expect(removed)
    }
    let rows = try storage.read { reader in
      #expect(try IndexAuditor(reading: reader).audit(.customer, at: try points()).damage == [])
      return try reader.value(.pages, 1 << 24)?.dropFirst(8)
    }
    #expect(try #require(rows).allSatisfy { $0 == 0 })
  }

  @Test func `A record in memory can be removed, and the transaction be undone after`() throws {
    let storage = MemoryStorage()
    var index = try storage.read { try FingerprintIndex(reading: $0) }
    for entry in 0..<10 as Range<UInt64> { index.insert(.customer, entry % 2, entry) }
    #expect(try storage.write { try index.remove(.customer, 0, 8, in: $0) })
    index.rollback(to: 9)
    try storage.write { writer in
      #expect(try index.all(.customer, 0, in: writer) == [6, 4, 2, 0])
      #expect(try index.all(.customer, 1, in: writer) == [7, 5, 3, 1])
      try index.flush(upTo: 9, in: writer)
      #expect(try index.all(.customer, 0, in: writer) == [6, 4, 2, 0])
    }
  }

  @Test(arguments: IndexKind.allCases.filter { !$0.isPersonal })
  func `Records of other kinds, whose pages readers keep, are not removed`(_ kind: IndexKind) throws {
    let storage = MemoryStorage()
    var index = try storage.read { try FingerprintIndex(reading: $0) }
    index.insert(kind, 5, 8)
    for size in [0, 9] as [UInt64] {
      try storage.write { try index.flush(upTo: size, in: $0) }
      let error = try #require(throws: StorageError.self) {
        try storage.write { try index.remove(kind, 5, 8, in: $0) }
      }
      #expect(error.code == .unsupported)
      #expect(try storage.read { try index.newest(kind, 5, in: $0) } == 8)
    }
  }
}
