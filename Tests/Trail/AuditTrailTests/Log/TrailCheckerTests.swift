// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import Dispatch
import Synchronization
import Testing
import TransparencyLog

@testable import AuditTrail

@Suite struct TrailCheckerTests {
  private func trail(entries: Int) async throws -> (TrailFixture, MemoryStorage) {
    let storage = MemoryStorage()
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    for start in stride(from: 0, to: entries, by: 100) {
      try await log.append(
        (start..<min(start + 100, entries)).map { TrailFixture.record($0, token: "c\($0 % 5)") })
    }
    try await log.erase(entry: 3)
    try await log.anchor(original: "1004")
    try log.publishCheckpoint()
    return (fixture, storage)
  }

  private func check(_ fixture: TrailFixture, _ storage: any TrailStorage) throws -> TrailCheckReport {
    try TrailChecker(storage: storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints)
      .check()
  }

  @Test("a trail that nobody touched is clean")
  func clean() async throws {
    let (fixture, storage) = try await trail(entries: 900)
    let report = try check(fixture, storage)
    #expect(report.faults == [])
    #expect(report.entryCount == 902)
    #expect(report.checkpointSize == 902)
  }

  @Test("a trail that is written while it is checked is clean", arguments: StorageKind.all)
  func writtenMeanwhile(kind: StorageKind) async throws {
    let place = try kind.make()
    let fixture = try TrailFixture(storage: place.storage)
    let log = try fixture.create()
    try await log.append((0..<900).map { TrailFixture.record($0, token: "c\($0 % 5)") })
    try log.publishCheckpoint()
    let isWritten = Atomic(false)
    let checker = TrailChecker(
      storage: place.storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints)
    @Sendable func check() throws -> TrailCheckReport {
      try checker.check { _, _ in
        guard !isWritten.exchange(true, ordering: .relaxed) else { return }
        // The bundles were read, and the entries after them were not.
        let isDone = DispatchSemaphore(value: 0)
        Task {
          defer { isDone.signal() }
          try await log.erase(entries: [5, 500])
          try await log.append((900..<1200).map { TrailFixture.record($0, token: "c\($0 % 5)") })
          try log.publishCheckpoint()
        }
        isDone.wait()
      }
    }
    // It waits for a task, and so must not hold one of the threads that tasks share.
    let report = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try check() }) }
    }
    #expect(report.faults == [])
    #expect(report.entryCount == 1202)
    #expect(report.checkpointSize == 1202)
    try log.close()
  }

  @Test("a flipped byte anywhere is found", arguments: [StorageTable.head, .notes, .bundles, .tail])
  func flips(table: StorageTable) async throws {
    let (fixture, storage) = try await trail(entries: 600)
    var rows: [(Int64, Int)] = []
    try storage.read { reader in
      try reader.forEach(table, in: .min ... .max) { key, value in
        rows.append((key, value.count))
        return true
      }
    }
    #expect(!rows.isEmpty)
    var random = SystemRandomNumberGenerator()
    for (key, count) in rows {
      for _ in 0..<8 {
        let copy = storage.copy()
        let offset = Int.random(in: 0..<count, using: &random)
        try copy.write { writer in
          var value = try #require(try writer.value(table, key))
          value[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
          try writer.put(table, key, value)
        }
        let report = try check(fixture, copy)
        #expect(!report.isClean, "\(table) \(key), byte \(offset)")
      }
    }
  }

  #if ADDRESS_SANITIZER
    // Every check costs several; the ordinary run flips each byte.
    private static let flipStride = 20
  #else
    private static let flipStride = 1
  #endif

  @Test("a flip of each byte of a short trail is found", arguments: [StorageTable.head, .notes, .tail])
  func everyFlip(table: StorageTable) async throws {
    let (fixture, storage) = try await trail(entries: 4)
    var rows: [(Int64, [UInt8])] = []
    try storage.read { reader in
      try reader.forEach(table, in: .min ... .max) { key, value in
        rows.append((key, value))
        return true
      }
    }
    for (key, value) in rows {
      // The rest of the row of entry 3 is its erased part: ciphertext without a key, which says nothing.
      let length = value.count > 5 ? value[1..<5].reduce(0) { $0 << 8 | Int($1) } : 0
      let end = table == .tail && key == 3 ? 5 + 32 + length : value.count
      for offset in stride(from: 0, to: end, by: Self.flipStride) {
        // Base64 in notes has bits that a lenient reader would leave out; flags and lengths are in front of rows.
        for bit in table == .notes || offset < 8 ? 0..<8 : offset % 8..<offset % 8 + 1 {
          var changed = value
          changed[offset] ^= 1 << UInt8(bit)
          let copy = storage.copy()
          try copy.write { try $0.put(table, key, changed) }
          #expect(try !check(fixture, copy).isClean, "\(table) \(key), byte \(offset), bit \(bit)")
        }
      }
    }
  }

  @Test(
    "an entry that commits to nothing has no erasable part, wherever it is said to be", arguments: [4, 300])
  func erasablePartOfNothing(count: Int) async throws {
    let storage = MemoryStorage()
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    // Without receipts.
    try await log.append(TrailFixture.records(0..<count).map { AuditRecord($0.facts) })
    try log.publishCheckpoint()
    #expect(try check(fixture, storage).isClean)
    try storage.write { writer in
      if count < 256 {
        try writer.overwrite(.tail, 3, at: 0, with: [1])
      } else {
        // After the hashes of the entries, the roots of their groups, and the lengths of the entries.
        let lengths = 256 * 32 + 8 * 32 + 256 * 2
        try writer.overwrite(.bundles, 0, at: lengths + 2 * 3, with: [255, 255])
      }
    }
    #expect(
      try check(fixture, storage).faults.map { [$0.code.rawValue, $0.index.map(String.init) ?? ""] }
        == [["altered-erasable-part", "3"]])
  }

  @Test(
    "an altered entry is named, in a bundle and after the last one", arguments: [UInt64(100), 300, 520, 599])
  func named(index: UInt64) async throws {
    let (fixture, storage) = try await trail(entries: 600)
    try storage.write { writer in
      let (table, key) = index < 512 ? (StorageTable.bundles, Int64(index / 256)) : (.tail, Int64(index))
      var row = try #require(try writer.value(table, key))
      let word = Array("transaction \(20_000 + index)\n".utf8)
      let place = try #require(
        (0..<row.count - word.count).first { row[$0..<$0 + word.count].elementsEqual(word) })
      row[place + word.count - 2] ^= 1
      try writer.put(table, key, row)
    }
    let faults = try check(fixture, storage).faults
    #expect(faults.contains { $0.code == .alteredEntry && $0.index == index })
  }

  @Test("entries that changed places, or are gone, are found and named")
  func places() async throws {
    let (fixture, storage) = try await trail(entries: 600)
    let swapped = storage.copy()
    try swapped.write { writer in
      let first = try #require(try writer.value(.bundles, 0))
      let second = try #require(try writer.value(.bundles, 1))
      try writer.put(.bundles, 0, second)
      try writer.put(.bundles, 1, first)
    }
    #expect(!(try check(fixture, swapped).isClean))
    let removed = storage.copy()
    try removed.write { try $0.remove(.tail, in: 550...550, erasing: false) }
    let report = try check(fixture, removed)
    #expect(report.faults.contains { $0.code == .missingEntry && $0.index == 550 })
  }

  @Test("an erasable part that no bundle has room for is found, and opening refuses it", arguments: [0, 1])
  func erasablePartWithoutRoom(mark: UInt8) async throws {
    let (fixture, storage) = try await trail(entries: 300)
    for added in [1, 4097, 70_000] {
      let altered = storage.copy()
      try altered.write { writer in
        var row = try #require(try writer.value(.tail, 299))
        row[0] = mark
        row += [UInt8](repeating: 7, count: added)
        try writer.put(.tail, 299, row)
      }
      #expect(try check(fixture, altered).faults.contains { $0.index == 299 })
      guard mark == 1 || added > 1 else { continue }
      #expect { try fixture.open(altered) } throws: { ($0 as? AuditError)?.code == .tampered }
    }
  }

  @Test("entries that contradict those before them are named, however rightly they are signed")
  func contradictions() throws {
    func faults(_ entries: [AuditEntry]) throws -> [[String]] {
      var checked = CheckedEntries(first: 0)
      for entry in entries {
        let bytes = try entry.encoded()
        checked.add(bytes.span)
      }
      var checker = EntryLineChecker()
      return (checked.faults + checker.add(checked) + checker.finish(sawErasableParts: true))
        .map { [$0.code.rawValue, $0.index.map(String.init) ?? ""] }
    }
    func entry(previous: UInt64?) -> AuditEntry {
      AuditEntry(EntryFacts(time: 0, kind: .verdict, original: "1000"), previous: previous)
    }
    func anchor(newest: UInt64, count: UInt64) -> AuditEntry {
      AuditEntry(
        EntryFacts(time: 0, kind: .anchor, original: "1000", size: 2, newest: newest, count: count),
        previous: 1)
    }
    let line = [entry(previous: nil), entry(previous: 0)]
    #expect(try faults(line + [anchor(newest: 1, count: 2)]) == [])
    #expect(try faults([line[0], line[0]]) == [["broken-line", "1"]])
    #expect(try faults(line + [anchor(newest: 1, count: 3)]) == [["wrong-anchor", "2"]])
    #expect(try faults(line + [anchor(newest: 0, count: 2)]) == [["wrong-anchor", "2"]])
    // It says so, and the erasable part is there.
    let erasure = AuditEntry(EntryFacts(time: 0, kind: .erasure, erased: 1))
    #expect(try faults(line + [erasure]) == [["unrecorded-erasure", "1"]])
  }

  @Test(
    "a row that belongs to nothing is found", arguments: [StorageTable.bundles, .tail, .tiles, .payloads])
  func strayRow(table: StorageTable) async throws {
    let (fixture, storage) = try await trail(entries: 300)
    try storage.write { try $0.put(table, 9999, [1]) }
    #expect(
      try check(fixture, storage).faults.contains { $0.code == .strayRow && $0.place == "\(table) 9999" })
  }

  @Test("an altered tile above the bundles is found", arguments: [true, false])
  func alteredTile(isThere: Bool) async throws {
    let (fixture, storage) = try await trailWithATile()
    try storage.write { writer in
      guard isThere else { return try writer.remove(.tiles, in: 1 << 48...1 << 48, erasing: false) }
      var row = try #require(try writer.value(.tiles, 1 << 48))
      row[5_000] ^= 1
      try writer.put(.tiles, 1 << 48, row)
    }
    let faults = try check(fixture, storage).faults
    #expect(faults.map(\.code) == [.alteredTile])
    #expect(faults.first?.place == TileCoordinates(1, 0, 256).path)
    let message = isThere ? "The tile does not have" : "The tile is missing"
    #expect(faults.first?.message.hasPrefix(message) == true)
  }

  /// A trail of 65,536 entries, made quickly: a bundle 256 times.
  private func trailWithATile() async throws -> (TrailFixture, MemoryStorage) {
    let storage = MemoryStorage()
    var fixture = try TrailFixture(storage: storage)
    // None of the index is in runs.
    fixture.options.flushInterval = 1 << 40
    // Entries that may stand anywhere: of one time, and with nothing that leads to another.
    let records = (0..<256).map {
      AuditRecord(EntryFacts(time: 1, kind: .verdict, transaction: "\($0)", verdict: .valid))
    }
    try await fixture.create().append(records)
    let keys = try storage.read {
      try TrailKeys(reading: $0, trusting: fixture.signer.verifierKey, signer: fixture.signer)
    }
    try storage.write { writer in
      let bundle = try #require(try writer.value(.bundles, 0))
      for number in 1..<256 as Range<Int64> { try writer.put(.bundles, number, bundle) }
      var head = try keys.head(in: writer)
      let hashes = [TreeHash](repeating: head.root, count: 256)
      try writer.put(
        .tiles, StoredTiles.key(TileCoordinates(1, 0, 256)), TileCoordinates.encode(hashes))
      (head.size, head.root) = (65_536, TreeHash.root(ofComplete: hashes[...]))
      try keys.write(head, in: writer)
    }
    return (fixture, storage)
  }

  @Test("an old copy is refused, by opening and by the check")
  func rolledBack() async throws {
    let storage = MemoryStorage()
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<10))
    let old = storage.copy()
    try await log.append(TrailFixture.records(10..<20))
    try log.publishCheckpoint()
    #expect { try fixture.open(old) } throws: { ($0 as? AuditError)?.code == .rolledBack }
    #expect(try check(fixture, old).faults.contains { $0.code == .rolledBack })
    // Going on from the old copy makes another history.
    var forked = fixture
    forked.options = AuditLog.Options()
    let other = MemoryCheckpointStore()
    let checkpoint = try #require(try old.read { try $0.value(.notes, 1) })
    _ = other.replace(nil, with: checkpoint)
    let fork = try AuditLog.open(
      old, verifier: fixture.signer.verifierKey, signer: fixture.signer, checkpoints: other)
    try await fork.append(TrailFixture.records(100..<120))
    #expect { try fixture.open(old) } throws: { ($0 as? AuditError)?.code == .forked }
    #expect(try check(fixture, old).faults.contains { $0.code == .checkpoint })
  }
}
