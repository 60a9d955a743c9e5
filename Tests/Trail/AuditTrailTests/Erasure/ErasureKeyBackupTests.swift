// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import Testing
import TransparencyLog

@testable import AuditTrail

/// A copy that holds no keys, and the keys that make a whole trail of it again.
@Suite struct ErasureKeyBackupTests {
  private let storage = MemoryStorage()
  private let fixture: TrailFixture

  init() throws { fixture = try TrailFixture(storage: storage) }

  private func trail() async throws -> AuditLog {
    let log = try fixture.create()
    for start in stride(from: 0, to: 700, by: 100) {
      try await log.append(
        (start..<start + 100).map { TrailFixture.record($0, token: "customer \($0 % 5)") })
    }
    try await log.erase(entries: [3, 650])
    try log.publishCheckpoint()
    return log
  }

  /// Makes a backup: everything but the keys, and the keys apart.
  private func backUp() throws -> (copy: MemoryStorage, keys: ErasureKeyBackup) {
    let copy = storage.copy()
    let keys = try copy.read { try ErasureKeyBackup(reading: $0) }
    try copy.write { try $0.remove(.keys, in: .min ... .max, erasing: true) }
    return (copy, keys)
  }

  private func code(_ body: () throws -> Void) -> AuditError.Code? {
    do {
      try body()
      return nil
    } catch { return AuditError(error).code }
  }

  @Test("a copy without keys says so, and with its keys it is the trail again")
  func restores() async throws {
    let log = try await trail()
    let (copy, keys) = try backUp()
    let keyless = try fixture.open(copy)
    #expect(code { try keyless.withView { _ = try $0.entries(customer: "customer 1") } } == .keysMissing)
    #expect(code { try keyless.withView { _ = try $0.erasablePart(at: 4) } } == .keysMissing)
    await #expect(throws: AuditError.self) { try await keyless.append([TrailFixture.record(9_000)]) }
    #expect(code { _ = try copy.read { try ErasureKeyBackup(reading: $0) } } == .keysMissing)

    try ErasureKeyBackup(parsing: keys.encoded).restore(to: copy)
    let restored = try fixture.open(copy)
    for number: UInt64 in [0, 3, 4, 300, 649, 650] {
      let part = try log.withView { try $0.erasablePart(at: number) }
      #expect(try restored.withView { try $0.erasablePart(at: number) } == part)
      #expect((part == nil) == [3, 650].contains(number))
    }
    let found = try restored.withView { try $0.entries(customer: "customer 3").map(\.index) }
    let theirs: [UInt64] = (0..<700).reversed().filter { $0 % 5 == 3 && $0 != 3 }
    #expect(found == theirs)
    let report = try TrailChecker(
      storage: copy, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints
    ).check()
    #expect(report.faults == [])
    #expect(code { try keys.restore(to: copy) } == .alreadyExists)
  }

  @Test("keys of before an erasure do not open a copy of after it, and nothing is changed")
  func olderKeys() async throws {
    let log = try await trail()
    let older = try backUp().keys
    try await log.erase(entry: 5)
    let (copy, keys) = try backUp()
    #expect(code { try older.restore(to: copy) } == .wrongKey)
    #expect(try copy.keys(.keys).isEmpty)
    try keys.restore(to: copy)
    try fixture.open(copy).withView { view in
      let (erased, kept) = (try view.erasablePart(at: 5), try view.erasablePart(at: 6))
      #expect(erased == nil && kept != nil)
    }
  }

  @Test("keys of before an erasure are refused too where the rows that they open were put back with them")
  func olderKeysAndCovers() async throws {
    let log = try await trail()
    let before = storage.copy()
    let older = try backUp().keys
    try await log.erase(entry: 5)
    let (copy, _) = try backUp()
    try before.read { reader in try copy.write { try $0.replace([.covers], byThoseOf: reader) } }
    let error = #expect(throws: AuditError.self) { try older.restore(to: copy) }
    #expect(error?.code == .wrongKey && error?.place == "entry 5")
    #expect(try copy.keys(.keys).isEmpty)
    // A bundle that is damaged keeps nobody from reading the others.
    let (damaged, keys) = try backUp()
    try damaged.put(.bundles, 1, [1, 2, 3])
    try keys.restore(to: damaged)
  }

  @Test("a file that is not whole is refused")
  func cutFiles() async throws {
    _ = try await trail()
    let file = try backUp().keys.encoded
    #expect(try ErasureKeyBackup(parsing: file).encoded == file)
    for count in [0, 1, 30, 35, 36, 100, file.count - 1] {
      #expect(code { _ = try ErasureKeyBackup(parsing: Array(file.prefix(count))) } == .invalidRecord)
    }
    #expect(code { _ = try ErasureKeyBackup(parsing: [0] + file.dropFirst()) } == .invalidRecord)
    #expect(code { _ = try ErasureKeyBackup(parsing: file + [0]) } == .invalidRecord)
  }

  @Test func theKeysOfSiblingsDiffer() {
    let parent = ErasureKeyTree.Node(height: ErasureKeyTree.height, number: 0, secret: (1, 2, 3, 4))
    #expect(parent.left.secret.0 != parent.right.secret.0)
  }

  @Test("an erased entry whose key came back with something else than its part is erased again")
  func erasedAgainAltered() async throws {
    let log = try fixture.create()
    try await log.append(
      (0..<10).map { number in
        var record = TrailFixture.record(number, token: "customer \(number % 5)")
        record.receiptBytes = [UInt8](repeating: UInt8(number), count: 5_000)
        return record
      })
    try log.publishCheckpoint()
    let before = storage.copy()
    try await log.erase(entries: [3, 4])
    try before.read { reader in
      try storage.write { try $0.replace([.covers, .keys], byThoseOf: reader) }
    }
    try storage.put(.payloads, 3, sampleBytes(5_100))
    try storage.write { try $0.remove(.payloads, in: 4...4, erasing: true) }
    let opened = try fixture.open()
    #expect(try opened.withView { try $0.entriesToErase(sharingPartsWith: [3, 4]) } == [])
    #expect(try await opened.erase(entries: [3, 4]).map(\.isRepeat) == [true, true])
    try opened.publishCheckpoint()
    let report = try TrailChecker(
      storage: storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints
    ).check()
    #expect(report.faults == [])
  }

  @Test("an erased entry whose key came back is erased again, without another entry", arguments: [650, 3])
  func erasedAgain(entry: UInt64) async throws {
    let log = try fixture.create()
    try await log.append((0..<700).map { TrailFixture.record($0, token: "customer \($0 % 5)") })
    try log.publishCheckpoint()
    let before = storage.copy()
    let erasures = try await log.erase(entries: [3, 650])
    // Both tables of keys from an older copy: what was erased could be read.
    try before.read { reader in
      try storage.write { try $0.replace([.covers, .keys], byThoseOf: reader) }
    }
    let opened = try fixture.open()
    #expect(code { try opened.withView { _ = try $0.erasablePart(at: entry) } } == .tampered)
    // `entriesToErase` returns the entries that share parts with it, too.
    let customer = (0..<700 as Range<UInt64>).filter { $0 % 5 == entry % 5 }
    let shared = try opened.withView { try $0.entriesToErase(sharingPartsWith: [entry]) }
    #expect(Set(shared).isSuperset(of: customer.filter { ![3, 650].contains($0) }))
    let size = try opened.withView { $0.size }
    let again = try await opened.erase(entries: [3, 650, 4])
    #expect(again.map(\.isRepeat) == [true, true, false])
    #expect(again.prefix(2).map(\.index) == erasures.map(\.index))
    for log in [opened, try fixture.open()] {
      try log.withView { view in
        #expect(view.size == size + 1)
        let part = try view.erasablePart(at: entry)
        #expect(part == nil)
        let found = try view.entries(customer: "customer \(entry % 5)").map(\.index)
        #expect(found == (0..<700).reversed().filter { $0 % 5 == entry % 5 && ![3, 4, 650].contains($0) })
      }
    }
    let key = try storage.read { reader in
      var keys = ErasureKeys(reader)
      return try keys.key(of: entry)
    }
    #expect(key == nil)
    try opened.publishCheckpoint()
    let report = try TrailChecker(
      storage: storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints
    ).check()
    #expect(report.faults == [])
  }
}
