// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailSQLite
import AuditTrailTesting
import FoundationEssentials
import Testing
import TransparencyLog

/// Erased parts are gone, and everything else stays.
@Suite struct ErasureTests {
  private static func token(_ number: Int) -> String {
    "the customer of entry \(number), a name that is searched for"
  }

  private static func receipt(_ number: Int) -> [UInt8] {
    Array("the receipt of entry \(number), searched for too".utf8)
  }

  private func records(_ range: Range<Int>) -> [AuditRecord] {
    range.map {
      var record = TrailFixture.record($0, token: Self.token($0))
      record.receiptBytes = Self.receipt($0)
      return record
    }
  }

  @Test("any set of entries is erased, at once or one after the other, and no other")
  func sets() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    // Several blocks of 4,096.
    let size = 9_000
    for start in stride(from: 0, to: size, by: 1000) {
      try await log.append(records(start..<min(start + 1000, size)))
    }
    var random = SystemRandomNumberGenerator()
    var erased: Set<UInt64> = [0, 4095, 4096, 8191, 8192, UInt64(size - 1)]
    try await log.erase(entries: Array(erased))
    let some = Set((0..<300).map { _ in UInt64.random(in: 0..<UInt64(size), using: &random) })
    try await log.erase(entries: Array(some))
    erased.formUnion(some)
    for _ in 0..<5 {
      let index = UInt64.random(in: 0..<UInt64(size), using: &random)
      try await log.erase(entry: index)
      erased.insert(index)
    }
    try await log.append(records(size..<size + 300))
    for log in [log, try fixture.open()] {
      try log.withView { view in
        #expect(view.size == UInt64(size + erased.count + 300))
        for number in 0..<size where number % 7 == 0 || erased.contains(UInt64(number)) {
          let token = try view.erasablePart(at: UInt64(number))?.customerToken
          #expect(token == (erased.contains(UInt64(number)) ? nil : Self.token(number)))
          let found = try view.entries(customer: Self.token(number)).map(\.index)
          #expect(found == (erased.contains(UInt64(number)) ? [] : [UInt64(number)]))
        }
      }
    }
    try log.publishCheckpoint()
    let checker = TrailChecker(
      storage: fixture.storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints)
    #expect(try checker.check().faults == [])
  }

  @Test("a key that is gone without an entry that says so is an error, and one that is back too")
  func keysAgainstTheRecord() async throws {
    let storage = MemoryStorage()
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    try await log.append(records(0..<600))
    let before = storage.copy()
    try await log.erase(entry: 5)
    try log.publishCheckpoint()
    func rows(_ table: StorageTable, of storage: MemoryStorage) throws -> [(Int64, [UInt8])] {
      var rows: [(Int64, [UInt8])] = []
      try storage.read { reader in
        try reader.forEach(table, in: .min ... .max) { key, value in
          rows.append((key, value))
          return true
        }
      }
      return rows
    }
    // The keys of before the erasure are put back.
    let restored = storage.copy()
    try restored.write { writer in
      for table in [StorageTable.covers, .keys] {
        try writer.remove(table, in: .min ... .max, erasing: false)
        for (key, value) in try rows(table, of: before) { try writer.put(table, key, value) }
      }
    }
    #expect { try fixture.open(restored).withView { _ = try $0.erasablePart(at: 5) } } throws: {
      ($0 as? AuditError)?.code == .tampered
    }
    // The keys of after it, without the entry that says so.
    let unrecorded = before.copy()
    try unrecorded.write { writer in
      for table in [StorageTable.covers, .keys] {
        try writer.remove(table, in: .min ... .max, erasing: false)
        for (key, value) in try rows(table, of: storage) { try writer.put(table, key, value) }
      }
    }
    #expect { try fixture.open(unrecorded).withView { _ = try $0.erasablePart(at: 5) } } throws: {
      ["tampered", "rolled-back"].contains(($0 as? AuditError)?.code.rawValue)
    }
  }

  @Test("after an erasure neither the token, nor the receipt, nor a key of it is in any of the files")
  func files() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/erasure-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let storage = try SQLiteStorage(creatingAt: "\(directory)/trail")
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    try await log.append(records(0..<700))
    func keys() throws -> [[UInt8]] {
      let row = try storage.read { try $0.value(.keys, 0) } ?? []
      return stride(from: 0, to: row.count, by: 32).map { Array(row[$0..<$0 + 32]) }
    }
    func isInAFile(_ secret: [UInt8]) throws -> Bool {
      for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
        let bytes = FileManager.default.contents(atPath: "\(directory)/\(name)") ?? Data()
        if bytes.firstRange(of: Data(secret)) != nil { return true }
      }
      return false
    }
    for index: UInt64 in [3, 300, 699] {
      let before = try keys()
      #expect(try isInAFile(before[0]))
      try await log.erase(entry: index)
      let replaced = try zip(before, keys()).filter { $0 != $1 }.map(\.0)
      #expect(!replaced.isEmpty)
      for key in replaced { #expect(try !isInAFile(key)) }
      #expect(try !isInAFile(Array(Self.token(Int(index)).utf8)))
      #expect(try !isInAFile(Self.receipt(Int(index))))
    }
    try log.withView { view in
      let (kept, erased) = (try view.erasablePart(at: 4), try view.erasablePart(at: 300))
      #expect(kept?.customerToken == Self.token(4) && erased == nil)
    }
  }
}
