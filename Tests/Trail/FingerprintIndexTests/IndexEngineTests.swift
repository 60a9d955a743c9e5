// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCrypto
import Testing

@testable import FingerprintIndex

@Suite struct IndexEngineTests {
  @Test func `A fingerprint is the beginning of SHA-256 of the kind, the key and the value`() throws {
    let key = try #require(IndexKey(Array(0..<16)))
    for length in [0, 1, 15, 16, 63, 200] {
      let value = (0..<length).map { UInt8($0) }
      let hash = SHA256Digest(of: ([IndexKind.original.rawValue] + Array(0..<16) + value).span).words
      let found = key.checkedFingerprint(.original, value.span)
      #expect(found.fingerprint == hash.0 >> 16)
      #expect(key.fingerprint(.original, value) == hash.0 >> 16)
      #expect(UInt32(bigEndian: found.check) == UInt32(hash.1 >> 32))
    }
    #expect(IndexKey(Array(0..<15)) == nil)
  }

  @Test func `Records with equal fingerprints are told apart by their checks`() throws {
    let storage = MemoryIndex()
    var index = try storage.open()
    for entry in 0..<900 as Range<UInt64> { index.insert(.original, 5, entry, check: UInt32(entry % 3)) }
    for flushed in [0, 600, 899] as [UInt64] {
      try storage.flush(&index, upTo: flushed)
      try storage.read { reader in
        #expect(try index.newest(.original, 5, check: 1, in: reader) == 898)
        #expect(try index.newest(.original, 5, check: 2, before: 300, in: reader) == 299)
        #expect(try index.newest(.original, 5, check: 3, in: reader) == nil)
        var candidates = index.candidates(.original, 5, check: 0, in: reader)
        var found: [UInt64] = []
        while let next = try candidates.next() { found.append(next) }
        #expect(found == stride(from: 897, through: 0, by: -3).map { UInt64($0) })
      }
    }
  }

  @Test func `A whole page of others with the same fingerprint hides nothing`() throws {
    let storage = MemoryIndex()
    var index = try storage.open()
    let pages = 3 * IndexPage.recordLimit(.original)
    for entry in 0..<pages { index.insert(.original, 5, UInt64(entry), check: entry < 10 ? 1 : 2) }
    try storage.flush(&index, upTo: UInt64(pages))
    try storage.read { reader in
      #expect(try index.newest(.original, 5, check: 1, in: reader) == 9)
      var candidates = index.candidates(.original, 5, check: 1, in: reader)
      var found: [UInt64] = []
      while let next = try candidates.next() { found.append(next) }
      #expect(found == (0..<10).reversed())
    }
  }

  @Test func `An index that covers less than before is refused, though its digests are right`() throws {
    let storage = MemoryIndex()
    var index = try storage.open()
    for entry in 0..<600 as Range<UInt64> { index.insert(.original, entry, entry) }
    try storage.flush(&index, upTo: 300)
    let older = storage.current
    try storage.flush(&index, upTo: 600)
    let snapshot = index.snapshot(size: 600)
    let newer = storage.current
    storage.current = older
    #expect { try storage.reload(&index) } throws: { ($0 as? IndexError)?.code == .corrupt }
    #expect { try storage.read { _ = try snapshot.refreshed(to: $1, in: $0) } } throws: {
      ($0 as? IndexError)?.code == .corrupt
    }
    storage.current = newer
    #expect(try storage.read { try index.all(.original, 400, in: $0) } == [400])
  }

  @Test func `What is found is the newest first, in memory and in runs`() throws {
    let storage = MemoryIndex()
    var index = try storage.open()
    for entry in 0..<1_000 as Range<UInt64> { index.insert(.original, entry % 7, entry) }
    try storage.flush(&index, upTo: 700)
    #expect(index.indexedSize == 700)
    try storage.read { reader in
      #expect(try index.newest(.original, 3, in: reader) == 997)
      #expect(try index.newest(.original, 3, before: 700, in: reader) == 696)
      #expect(try index.newest(.original, 3, before: 3, in: reader) == nil)
      #expect(try index.newest(.receipt, 3, in: reader) == nil)
      var candidates = index.candidates(.original, 3, in: reader)
      var found: [UInt64] = []
      while let next = try candidates.next() { found.append(next) }
      #expect(found == (0..<1_000).reversed().filter { $0 % 7 == 3 })
    }
  }
}
