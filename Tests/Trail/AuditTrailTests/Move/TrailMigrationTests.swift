// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import Foundation
import Testing
import TransparencyLog

@testable import AuditTrail

@Suite("Migration")
struct TrailMigrationTests {
  /// A trail with erased, large and anchored entries. No checkpoint covers the last entry.
  private func trail(
    entries: Int, in storage: any TrailStorage = MemoryStorage()
  ) async throws -> TrailFixture {
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    for start in stride(from: 0, to: entries, by: 200) {
      try await log.append(
        (start..<min(start + 200, entries)).map { number in
          var record = TrailFixture.record(number, token: "customer \(number % 7)")
          if number % 100 == 50 { record.receiptBytes = [UInt8](repeating: UInt8(number % 251), count: 9000) }
          return record
        })
    }
    if entries > 50 {
      try await log.erase(entry: 3)
      try await log.erase(entry: 50)
      try await log.anchor(original: "1004")
    }
    try log.publishCheckpoint()
    try await log.append([TrailFixture.record(1_000_000)])
    return fixture
  }

  private func migration(_ fixture: TrailFixture) -> TrailMigration {
    TrailMigration(
      from: fixture.storage, checkpoints: fixture.checkpoints, signer: fixture.signer)
  }

  private func root(_ fixture: TrailFixture, _ storage: any TrailStorage) throws -> TreeHash {
    try fixture.open(storage).withView { $0.root }
  }

  private func faults(
    _ fixture: TrailFixture, _ storage: any TrailStorage, _ checkpoints: any CheckpointStore
  ) throws -> [TrailFault] {
    try TrailChecker(storage: storage, verifier: fixture.signer.verifierKey, checkpoints: checkpoints).check()
      .faults
  }

  @Test(
    "gives the same entries, erasable parts and root, and the last checkpoint",
    arguments: [0, 1, 255, 256, 1300])
  func copies(entries: Int) async throws {
    let fixture = try await trail(entries: entries)
    let (target, checkpoints) = (MemoryStorage(), MemoryCheckpointStore())
    let published = try migration(fixture).run(to: target, checkpoints: checkpoints)
    #expect(checkpoints.load() == published.signed.encoded)
    #expect(try fixture.checkpoints.load() == published.signed.encoded)
    #expect(try faults(fixture, target, checkpoints) == [])
    #expect(try root(fixture, target) == root(fixture, fixture.storage))
    // Erasable parts are sealed anew.
    #expect(try rows(target, .tiles) == rows(fixture.storage, .tiles))
    let copied = try AuditLog.open(target, verifier: fixture.signer.verifierKey, checkpoints: checkpoints)
    try fixture.open().withView { view in
      try copied.withView { copy in
        #expect(copy.size == view.size)
        for index in 0..<view.size {
          let (entry, part) = (try copy.entry(at: index), try copy.erasablePart(at: index))
          let (original, originalPart) = (try view.entry(at: index), try view.erasablePart(at: index))
          #expect(entry == original && part == originalPart)
        }
      }
    }
    // It is written on like any other, and knows what was entered before.
    let log = try AuditLog.open(
      target, verifier: fixture.signer.verifierKey, signer: fixture.signer, checkpoints: checkpoints)
    #expect(try await log.append([TrailFixture.record(1_000_000)])[0].isRepeat)
    #expect(try await log.append([TrailFixture.record(2_000_000)])[0].isRepeat == false)
    try log.close()
  }

  @Test("goes from any storage to any other", arguments: StorageKind.all, StorageKind.all)
  func betweenStorages(source: StorageKind, target: StorageKind) async throws {
    let (from, to) = (try source.make(), try target.make())
    let fixture = try await trail(entries: 700, in: from.storage)
    let checkpoints = MemoryCheckpointStore()
    try migration(fixture).run(to: to.storage, checkpoints: checkpoints)
    #expect(try root(fixture, to.storage) == root(fixture, from.storage))
    #expect(try faults(fixture, to.storage, checkpoints) == [])
  }

  @Test("goes on where it was cut off")
  func resumes() async throws {
    let fixture = try await trail(entries: 1300)
    let (target, checkpoints) = (MemoryStorage(), MemoryCheckpointStore())
    var number = 0
    while true {
      number += 1
      let faulty = FaultInjectingStorage(target)
      faulty.fail(at: number, with: .init(.inputOutput))
      do {
        try migration(fixture).run(to: faulty, checkpoints: checkpoints)
        break
      } catch let error as StorageError {
        #expect(error.code == .inputOutput)
        #expect(checkpoints.load() == nil)
      }
    }
    #expect(number > 5)
    #expect(try faults(fixture, target, checkpoints) == [])
    // Once more changes nothing.
    try migration(fixture).run(to: target, checkpoints: checkpoints)
    #expect(try root(fixture, target) == root(fixture, fixture.storage))
    // Once it went on by itself, it is no copy any more.
    let log = try AuditLog.open(
      target, verifier: fixture.signer.verifierKey, signer: fixture.signer, checkpoints: checkpoints)
    try await log.append([TrailFixture.record(3_000_000)])
    #expect(code { try migration(fixture).run(to: target, checkpoints: checkpoints) } == .alreadyExists)
  }

  /// Returns which of the entries still have a key, a sealed part or a payload in a storage.
  private func left(of entries: Set<UInt64>, in storage: any TrailStorage) throws -> [String: [UInt64]] {
    try storage.read { reader in
      var keys = ErasureKeys(reader)
      let rows = StoredRows(reader: reader)
      return [
        "keys": try entries.filter { try keys.key(of: $0) != nil }.sorted(),
        "sealed parts": try entries.filter { try !rows.erasable(at: $0).isEmpty }.sorted(),
        "payloads": try reader.keys(.payloads).map(UInt64.init).filter(entries.contains),
      ]
    }
  }

  private static let nothing: [String: [UInt64]] = ["keys": [], "sealed parts": [], "payloads": []]

  @Test(
    "a migration that was cut off at 20 places, with erasures in between, brings nothing back that was erased",
    arguments: StorageKind.all)
  func erasedBetweenCuts(kind: StorageKind) async throws {
    let (from, to) = (try kind.make(), try kind.make())
    let fixture = try await trail(entries: 1300, in: from.storage)
    let log = try fixture.open()
    let checkpoints = MemoryCheckpointStore()
    var random = SampleNumbers(seed: UInt64.random(in: 0...UInt64.max))
    var erased: Set<UInt64> = [3, 50]
    var replaced: Set<[UInt8]> = []
    func run(_ target: any TrailStorage) throws {
      try TrailMigration(
        from: from.storage, checkpoints: fixture.checkpoints, signer: fixture.signer, batchByteCount: 20_000
      ).run(to: target, checkpoints: checkpoints)
    }
    var cuts = 0
    while cuts < 20 {
      let faulty = FaultInjectingStorage(to.storage)
      faulty.fail(at: .random(in: 1...70, using: &random), with: .init(.inputOutput, lasts: true))
      #expect(throws: StorageError.self) { try run(faulty) }
      #expect(checkpoints.load() == nil)
      cuts += 1
      replaced.formUnion(try wrappingKeys(to.storage))
      // Of these, more and more were copied already; now and then one is erased again.
      let some = (0..<3).map { _ in UInt64.random(in: 0..<1300, using: &random) }
      try await log.erase(entries: some)
      erased.formUnion(some)
      try log.publishCheckpoint()
    }
    try run(to.storage)
    #expect(try left(of: erased, in: to.storage) == Self.nothing)
    #expect(try faults(fixture, to.storage, checkpoints) == [])
    #expect(try root(fixture, to.storage) == root(fixture, from.storage))
    // Not even in the files are the keys that opened what was erased.
    replaced.subtract(try wrappingKeys(to.storage))
    let contents = try to.contents().map { Data($0) }
    let found = replaced.filter { key in contents.contains { $0.range(of: Data(key)) != nil } }
    #expect(found.isEmpty)
    let copied = try AuditLog.open(
      to.storage, verifier: fixture.signer.verifierKey, checkpoints: checkpoints)
    try copied.withView { view in
      for index in erased {
        let part = try view.erasablePart(at: index)
        #expect(part == nil)
      }
      for customer in 0..<7 {
        let expected = (0..<1300).filter { $0 % 7 == customer && !erased.contains($0) }
        let found = try view.entries(customer: "customer \(customer)").map(\.index)
        #expect(found == expected.reversed())
      }
    }
  }

  @Test(
    "a migration that was cut off after it had handed the checkpoint over can be ended after an erasure",
    arguments: StorageKind.all)
  func erasedAfterHandingOver(kind: StorageKind) async throws {
    let (from, to) = (try kind.make(), try kind.make())
    let fixture = try await trail(entries: 300, in: from.storage)
    let checkpoints = MemoryCheckpointStore()
    let handedOver = try migration(fixture).run(to: to.storage, checkpoints: checkpoints)
    let log = try fixture.open()
    try await log.erase(entries: [3, 280])
    try log.publishCheckpoint()
    let published = try migration(fixture).run(to: to.storage, checkpoints: checkpoints)
    #expect(published.checkpoint.size > handedOver.checkpoint.size)
    #expect(checkpoints.load() == published.signed.encoded)
    #expect(try left(of: [3, 280], in: to.storage) == Self.nothing)
    #expect(try faults(fixture, to.storage, checkpoints) == [])
    #expect(try root(fixture, to.storage) == root(fixture, from.storage))
  }

  @Test("a checkpoint that the source never had is not replaced, though the source's key signed it")
  func foreignCheckpoint() async throws {
    let fixture = try await trail(entries: 300)
    let another = try TrailFixture(signer: fixture.signer)
    let log = try another.create()
    try await log.append((5_000..<5_010).map { TrailFixture.record($0) })
    try log.publishCheckpoint()
    let foreign = try #require(try another.checkpoints.load())
    let checkpoints = MemoryCheckpointStore(foreign)
    #expect(
      code { try migration(fixture).run(to: MemoryStorage(), checkpoints: checkpoints) } == .alreadyExists)
    #expect(checkpoints.load() == foreign)
  }

  /// The keys that are in use for the rows of covers.
  private func wrappingKeys(_ storage: any TrailStorage) throws -> Set<[UInt8]> {
    try storage.read { reader in
      Set(
        try reader.keys(.covers).compactMap { row in
          try reader.value(.keys, row / 128, bytes: Int(row % 128) * 32..<Int(row % 128) * 32 + 32)
        })
    }
  }

  @Test("parts that were erased and whose keys were put back are not moved", arguments: StorageKind.all)
  func keysPutBack(kind: StorageKind) async throws {
    let (from, to) = (try kind.make(), try kind.make())
    let fixture = try TrailFixture(storage: from.storage)
    let log = try fixture.create()
    try await log.append(
      (0..<300).map { number in
        var record = TrailFixture.record(number, token: "customer \(number % 7)")
        if number == 280 { record.receiptBytes = [UInt8](repeating: 1, count: 9000) }
        return record
      })
    let before = try from.storage.copied()
    try await log.erase(entries: [3, 280, 290])
    try log.publishCheckpoint()
    try before.read { reader in
      try from.storage.write { try $0.replace([.covers, .keys, .payloads], byThoseOf: reader) }
    }
    let checkpoints = MemoryCheckpointStore()
    #expect(try faults(fixture, from.storage, fixture.checkpoints).map(\.index) == [3, 280, 290])
    try migration(fixture).run(to: to.storage, checkpoints: checkpoints)
    #expect(try left(of: [3, 280, 290], in: to.storage) == Self.nothing)
    #expect(try faults(fixture, to.storage, checkpoints) == [])
  }

  @Test("a target that is the source under another name is refused at once", arguments: StorageKind.durable)
  func ontoItself(kind: StorageKind) async throws {
    let place = try kind.make()
    let fixture = try await trail(entries: 10, in: place.storage)
    let open = try #require(place.another)
    let another = try open()
    #expect(
      code { try migration(fixture).run(to: another, checkpoints: fixture.checkpoints) } == .alreadyExists)
    #expect(try faults(fixture, place.storage, fixture.checkpoints) == [])
  }

  @Test("keeps the place of the checkpoint where it is to stay")
  func samePlace() async throws {
    let fixture = try await trail(entries: 10)
    let target = MemoryStorage()
    try migration(fixture).run(to: target, checkpoints: fixture.checkpoints)
    #expect(try root(fixture, target) == root(fixture, fixture.storage))
  }

  @Test("takes over no checkpoint for a trail that is not what the checkpoint says")
  func refusals() async throws {
    let fixture = try await trail(entries: 600)
    let other = try await trail(entries: 10)
    let taken = try #require(try other.checkpoints.load())
    let checkpoints = MemoryCheckpointStore()
    func refusal(
      from source: any TrailStorage, place: (any CheckpointStore)? = nil,
      to target: any TrailStorage = MemoryStorage(),
      _ newPlace: any CheckpointStore
    ) -> AuditError.Code? {
      let migration = TrailMigration(
        from: source, checkpoints: place ?? fixture.checkpoints, signer: fixture.signer)
      return code { try migration.run(to: target, checkpoints: newPlace) }
    }
    #expect(refusal(from: fixture.storage, MemoryCheckpointStore(taken)) == .alreadyExists)
    #expect(refusal(from: fixture.storage, to: other.storage, checkpoints) == .alreadyExists)
    #expect(refusal(from: other.storage, checkpoints) == .wrongKey)
    #expect(refusal(from: MemoryStorage(), checkpoints) == .notATrail)
    #expect(refusal(from: fixture.storage, place: MemoryCheckpointStore(), checkpoints) == .rolledBack)
    #expect(refusal(from: fixture.storage, place: other.checkpoints, checkpoints) == .tampered)

    func altered(_ table: StorageTable, _ key: Int64, at offset: Int) throws -> any TrailStorage {
      let copy = try #require(fixture.storage as? MemoryStorage).copy()
      try copy.write { writer in
        var row = try #require(try writer.value(table, key))
        row[offset] ^= 1
        try writer.put(table, key, row)
      }
      return copy
    }
    // An entry, an erasable part, the root.
    for (table, offset) in [(StorageTable.bundles, 9300), (.bundles, -1), (.head, 30), (.payloads, 2000)] {
      let key: Int64 = table == .payloads ? 150 : 0
      let count = try #require(try fixture.storage.stored(table, key)).count
      let source = try altered(table, key, at: offset < 0 ? count + offset : offset)
      #expect(refusal(from: source, checkpoints) == .tampered, "\(table) \(offset)")
    }
    #expect(checkpoints.load() == nil)
  }

  private func rows(_ storage: any TrailStorage, _ table: StorageTable) throws -> [Int64: [UInt8]] {
    var rows: [Int64: [UInt8]] = [:]
    try storage.read { reader in
      try reader.forEach(table, in: .min ... .max) { key, value in
        rows[key] = value
        return true
      }
    }
    return rows
  }

  private func code(_ body: () throws -> VerifiedCheckpoint) -> AuditError.Code? {
    do {
      _ = try body()
      return nil
    } catch { return (error as? AuditError)?.code }
  }
}
