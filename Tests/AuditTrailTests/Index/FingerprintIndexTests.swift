// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AuditTrail

@Suite struct FingerprintIndexTests {
  @Test func `A fingerprint is SipHash-2-4 of the kind and the value`() throws {
    // The reference vectors are over the bytes 0, 1, 2 … with the key 0, 1, … 15; kind 0 is the first byte.
    let key = try #require(IndexKey(Array(0..<16)))
    let expected: [(Int, UInt64)] = [
      (1, 0x74f8_39c5_93dc_67fd), (7, 0xab02_00f5_8b01_d137), (8, 0x93f5_f579_9a93_2462),
      (15, 0xa129_ca61_49be_45e5), (16, 0x3f2a_cc7f_57c2_9bdb), (63, 0x958a_324c_eb06_4572),
    ]
    for (length, hash) in expected {
      #expect(key.fingerprint(.receipt, Array(1..<UInt8(length))) == hash & IndexRecord.fingerprintMask)
    }
    #expect(IndexKey(Array(0..<15)) == nil)
  }

  @Test func `What is found is the newest first, in memory and in runs`() throws {
    let storage = MemoryStorage()
    var index = try storage.read { try FingerprintIndex(reading: $0) }
    for entry in 0..<1_000 as Range<UInt64> { index.insert(.original, entry % 7, entry) }
    try storage.write { try index.flush(upTo: 700, in: $0) }
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
