// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import Testing
import TransparencyLog

@testable import AuditTrail

/// An index that is made anew finds what the one before it found, and nobody who was erased.
@Suite struct TrailReindexingTests {
  private let storage = MemoryStorage()
  private let fixture: TrailFixture

  init() throws { fixture = try TrailFixture(storage: storage) }

  private func trail() async throws -> AuditLog {
    let log = try fixture.create()
    for start in stride(from: 0, to: 1_100, by: 100) {
      try await log.append(
        (start..<start + 100).map { TrailFixture.record($0, token: "customer \($0 % 5)") })
    }
    try await log.erase(entries: [3, 1_050])
    try log.publishCheckpoint()
    return log
  }

  private func answers(_ log: AuditLog) throws -> [[UInt64]] {
    try log.withView { view in
      var found = try (0..<5).map { try view.entries(customer: "customer \($0)").map(\.index) }
      found += try (0..<10).map { try view.history(original: "\(1_000 + $0)").map(\.index) }
      found.append(try view.entries(product: "com.example.1").map(\.index))
      for number in [0, 500, 1_099] {
        found.append(try view.entries(transaction: "\(20_000 + number)").map(\.index))
        let receipt = try #require(TrailFixture.record(number).receipt)
        found.append(try view.entries(receipt: receipt).map(\.index))
      }
      return found
    }
  }

  private func faults() throws -> [TrailFault] {
    try TrailChecker(
      storage: storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints
    ).check().faults
  }

  @Test(
    "whatever is left of the index, a new one answers as the old one did",
    arguments: zip(
      [[], [StorageTable.pages], [.personal], [.runs], [.runs, .pages, .personal]],
      [256, 512, 65_536, 256, 512] as [UInt64]))
  func remakes(lost: [StorageTable], sliceCount: UInt64) async throws {
    let log = try await trail()
    let expected = try answers(log)
    try storage.write { for table in lost { try $0.remove(table, in: .min ... .max, erasing: false) } }
    if !lost.isEmpty { #expect(throws: (any Error).self) { try answers(fixture.open()) } }
    let indexed = try TrailReindexing(
      storage, checkpoints: fixture.checkpoints, signer: fixture.signer, sliceCount: sliceCount
    ).run()
    #expect(indexed == 1_024)
    for log in [log, try fixture.open()] { #expect(try answers(log) == expected) }
    #expect(try faults() == [])
    let acknowledged = try await fixture.open().append(TrailFixture.records(0..<1_100))
    #expect(acknowledged == (0..<1_100).map { AuditAcknowledgement(index: $0, isRepeat: true) })
  }

  @Test("an entry that was altered is not indexed, and the index in use stays")
  func alteredEntry() async throws {
    let expected = try answers(await trail())
    let genuine = try #require(try storage.stored(.bundles, 1))
    var row = genuine
    row[row.count / 2] ^= 1
    try storage.put(.bundles, 1, row)
    #expect {
      try TrailReindexing(storage, checkpoints: fixture.checkpoints, signer: fixture.signer, sliceCount: 256)
        .run()
    } throws: {
      ($0 as? AuditError)?.code == .tampered
    }
    try storage.put(.bundles, 1, genuine)
    #expect(try answers(fixture.open()) == expected)
  }

  @Test("an old copy that was put back, or one that went on by itself, gets no new signature")
  func oldCopy() async throws {
    let log = try await trail()
    let old = storage.copy()
    try await log.append([TrailFixture.record(5_000)])
    try log.publishCheckpoint()
    let fork = old.copy()
    let other = try TrailFixture(
      storage: fork, checkpoints: MemoryCheckpointStore(old.stored(.notes, 1)), signer: fixture.signer)
    try await other.open().append(TrailFixture.records(6_000..<6_003))
    for (copy, code) in [(old, AuditError.Code.rolledBack), (fork, .forked)] {
      let head = try copy.stored(.head, 0)
      let reindexing = try TrailReindexing(
        copy, checkpoints: fixture.checkpoints, signer: fixture.signer, sliceCount: 256)
      let error = #expect(throws: AuditError.self) { try reindexing.run() }
      #expect(error?.code == code)
      #expect(try copy.stored(.head, 0) == head)
    }
    let nowhere = try TrailReindexing(storage, checkpoints: MemoryCheckpointStore(), signer: fixture.signer)
    #expect(throws: AuditError.self) { try nowhere.run() }
    try TrailReindexing(storage, checkpoints: fixture.checkpoints, signer: fixture.signer).run()
  }

  @Test("without keys, or with keys that nobody's erasure explains, no index is made")
  func keys() async throws {
    _ = try await trail()
    let genuine = storage.copy()
    let reindexing = try TrailReindexing(
      storage, checkpoints: fixture.checkpoints, signer: fixture.signer, sliceCount: 256)
    func code() -> AuditError.Code? {
      do {
        try reindexing.run()
        return nil
      } catch { return error.code }
    }
    try storage.write { try ErasureKeys.forget([77], in: $0) }
    #expect(code() == .tampered)
    try storage.set(to: genuine)
    // The keys of before an erasure put back: not for want of a quiet moment.
    try await fixture.open().erase(entry: 5)
    try genuine.read { reader in try storage.write { try $0.replace([.covers, .keys], byThoseOf: reader) } }
    #expect(code() == .tampered)
    try storage.set(to: genuine)
    try storage.write { try $0.remove(.keys, in: .min ... .max, erasing: true) }
    #expect(code() == .keysMissing)
  }
}
