// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import FoundationEssentials
import ReceiptCrypto
import Testing
import TransparencyLog

@testable import AuditTrail

/// An opened log must not answer from an edit that it refused, or that was undone.
@Suite struct OpenLogAttackTests {
  private func code(_ body: () throws -> Void) -> AuditError.Code? {
    do {
      try body()
      return nil
    } catch { return AuditError(error).code }
  }

  @Test(
    "a tile that was refused is not kept: the answers are right again when its row is", arguments: [100, 599])
  func refusedTile(position: Int) async throws {
    let storage = MemoryStorage()
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<600))
    try log.publishCheckpoint()
    try await log.append(TrailFixture.records(600..<900))
    let genuine = try log.withView { try treeAnswers($0, position) }
    let reader = try AuditLog.open(
      storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints)
    let bundle = Int64(position >> 8)
    let row = try #require(try storage.stored(.bundles, bundle))
    // Of the tree of 600 entries the last tile is partial; in that of 900 its bundle is full.
    var altered = row
    altered[32 * (position & 255)] ^= 1
    try storage.put(.bundles, bundle, altered)
    #expect(code { try reader.withView { _ = try $0.root(size: UInt64(position + 1)) } } == .tampered)
    try storage.put(.bundles, bundle, row)
    #expect(try reader.withView { try treeAnswers($0, position) } == genuine)
  }

  private func treeAnswers(_ view: TrailView, _ position: Int) throws -> [[UInt8]] {
    let roots = try [600, UInt64(position + 1)].map { try view.root(size: $0) }
    let consistency = try view.consistencyProof(from: 590, to: 600)
    return [try view.proof(of: 590).encoded] + (roots + consistency).map { Array($0.base64.utf8) }
  }

  @Test("another configuration that the same key signed is not taken for the trail's")
  func configuration() async throws {
    let storage = MemoryStorage()
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<10))
    try log.publishCheckpoint()
    let own = log.configuration
    let other = try TrailConfiguration(origin: own.origin, once: .seconds(1), indexKey: own.indexKey)
    let note = try SignedNote.sign(Array(other.text.utf8), by: [fixture.signer]).encoded
    try storage.put(.notes, TrailNotes.configuration, note)
    #expect(code { _ = try fixture.open() } == .tampered)
  }

  @Test(
    "an older copy is refused for as long as it is there, and the right one is read again",
    arguments: [true, false])
  func olderCopy(forWriting: Bool) async throws {
    let trail = try await AttackedTrail.shared.value
    let storage = trail.genuine.copy()
    let log = try trail.open(storage, forWriting: forWriting)
    let older = try #require(trail.earlier.last)
    try await #require(log.read { $0.size } == trail.size)
    try storage.set(to: older)
    for _ in 0..<3 { #expect(code { try log.withView { _ = $0.size } } == .rolledBack) }
    if forWriting {
      await #expect(throws: AuditError.self) { try await log.append([TrailFixture.record(9_000)]) }
      #expect(try storage.stored(.head, 0) == older.stored(.head, 0))
    } else {
      try storage.set(to: trail.genuine)
      #expect(try await log.read { $0.size } == trail.size)
    }
  }

  @Test("a fork of the trail is refused, of as many entries and of more", arguments: [1, 2])
  func fork(count: Int) async throws {
    let storage = MemoryStorage()
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<10))
    let fork = storage.copy()
    try await log.append(TrailFixture.records(10..<11))
    // Of the same key, as when two machines go on from one backup.
    let checkpoint = try #require(try fork.stored(.notes, TrailNotes.checkpoint))
    let other = try TrailFixture(
      storage: fork, checkpoints: MemoryCheckpointStore(checkpoint), signer: fixture.signer
    ).open()
    try await other.append(TrailFixture.records(20..<20 + count))
    try storage.set(to: fork)
    #expect(code { try log.withView { _ = $0.size } } == (count == 1 ? .rolledBack : .tampered))
    #expect(code { try log.withView { _ = $0.size } } == .rolledBack)
  }

  @Test("an older index of the same entries, which covers less of them, hides nothing")
  func olderIndex() async throws {
    let storage = MemoryStorage()
    var fixture = try TrailFixture(storage: storage)
    fixture.options.flushInterval = 1 << 40
    try await fixture.create().append(TrailFixture.records(0..<600))
    let older = storage.copy()
    // The same entries, with more of them in runs.
    try TrailReindexing(storage, checkpoints: fixture.checkpoints, signer: fixture.signer).run()
    let log = try fixture.open()
    let history = try log.withView { try $0.history(original: "1005").map(\.index) }
    #expect(history == stride(from: 595, through: 5, by: -10).map { UInt64($0) })
    try storage.set(to: older)
    #expect(code { try log.withView { _ = try $0.history(original: "1005") } } == .tampered)
    await #expect(throws: AuditError.self) { try await log.append([TrailFixture.record(5)]) }
    #expect(try storage.stored(.head, 0) == older.stored(.head, 0))
  }

  /// An entry in a bundle with the old hashes, in a bundle with new ones, and after the last bundle.
  @Test(
    "an altered entry that no checkpoint covers is refused when the trail is opened, and when it is followed",
    arguments: [(100, false), (100, true), (550, true)] as [(UInt64, Bool)])
  func alteredEntry(index: UInt64, withHashes: Bool) async throws {
    let storage = MemoryStorage()
    var fixture = try TrailFixture(storage: storage)
    // All of the index is in memory: it is made of the entries whenever the trail is opened.
    fixture.options.flushInterval = 1 << 40
    let log = try fixture.create()
    let opened = try fixture.open()
    try await log.append(TrailFixture.records(0..<600))
    try storage.write { try forge(index, withHashes: withHashes, in: $0) }
    #expect(code { _ = try fixture.open() } == .tampered)
    #expect(code { try opened.withView { _ = $0.size } } == .tampered)
  }

  @Test("a bundle with an altered entry is neither listed, exported, indexed anew nor copied")
  func alteredBundle() async throws {
    let storage = MemoryStorage()
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    for first in [0, 600] { try await log.append(TrailFixture.records(first..<first + 600)) }
    try log.publishCheckpoint()
    let path = FileManager.default.temporaryDirectory.path + "/altered-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    // Its index is in runs: opening does not read it.
    try storage.write { try forge(100, withHashes: false, in: $0) }
    let head = try storage.stored(.head, 0)
    _ = try fixture.open()
    #expect(code { try log.withView { try $0.forEachRow { _ in } } } == .tampered)
    #expect(code { try log.export(to: TileDirectory(path: path)) } == .tampered)
    #expect(
      code { try TrailReindexing(storage, checkpoints: fixture.checkpoints, signer: fixture.signer).run() }
        == .tampered)
    let migration = TrailMigration(
      from: storage, checkpoints: fixture.checkpoints, signer: fixture.signer)
    let (target, place) = (MemoryStorage(), MemoryCheckpointStore())
    #expect(code { try migration.run(to: target, checkpoints: place) } == .tampered)
    #expect(place.load() == nil)
    #expect(try storage.stored(.head, 0) == head)
  }

  /// Gives an entry another transaction, and makes the stored hashes right among themselves or leaves them.
  private func forge(_ index: UInt64, withHashes: Bool, in writer: any StorageWriter) throws {
    try StoredRows(reader: writer).forEach(in: index..<index + 1) { _, stored, bundle in
      let text = String(decoding: stored.entry, as: UTF8.self)
      var forged = stored
      forged.entry = Array(text.replacing("transaction 20", with: "transaction 30").utf8)
      #expect(forged.entry != stored.entry)
      guard !bundle.isEmpty else { return try writer.put(.tail, Int64(index), TailRow.encode(forged)) }
      var forgedBundle = bundle
      forgedBundle[Int(index & 255)] = forged
      var entries = BundleEntries()
      let forgedHashes = forgedBundle.map { entries.append($0) }
      let hashes = withHashes ? forgedHashes : bundle.map { TreeHash.leaf($0.entry) }
      let tile = GroupedTile(hashes: hashes, groupRoots: GroupedTile.groupRoots(of: hashes))
      try writer.put(.bundles, Int64(index >> 8), BundleRow.encode(tile, entries))
    }
  }

  @Test("who opened a trail without its keys does not find customers by halves when they are back")
  func keysPutBack() async throws {
    let trail = try await AttackedTrail.shared.value
    let storage = trail.genuine.copy()
    try storage.write { try $0.remove(.keys, in: .min ... .max, erasing: true) }
    let log = try trail.open(storage, forWriting: false)
    try storage.set(to: trail.genuine)
    #expect(code { try log.withView { _ = try $0.entries(customer: "regular") } } == .keysMissing)
    let opened = try trail.open(storage, forWriting: false)
    let found = try await opened.read { try $0.entries(customer: "regular").map(\.index) }
    let regulars: [Int] = stride(from: 2_280, through: 0, by: -120).filter { $0 != 360 }
    #expect(found == regulars.map { trail.places[$0] })
  }

  @Test("rows at the ends of all tables end no process: what is written and erased is there")
  func rowsAtTheEnds() async throws {
    let trail = try await AttackedTrail.shared.value
    let storage = trail.genuine.copy()
    try storage.write { writer in
      for table in StorageTable.allCases {
        try writer.put(table, table.keys.upperBound, sampleBytes(4_096))
        if table != .bundles { try writer.put(table, table.keys.lowerBound, sampleBytes(4_096)) }
      }
    }
    let log = try trail.open(storage, forWriting: true)
    let kept = trail.places[1_000]
    let erasure = try await log.erase(entry: kept)
    #expect(erasure == AuditAcknowledgement(index: trail.size, isRepeat: false))
    let part = try log.withView { try $0.erasablePart(at: kept) }
    #expect(part == nil)
    let repeated = try await log.append([AttackedTrail.record(31)])
    #expect(repeated == [AuditAcknowledgement(index: trail.places[31], isRepeat: true)])
  }

  @Test(
    "an export does not leave out what nobody erased, and has nothing that was", arguments: [true, false])
  func exportedParts(isForgotten: Bool) async throws {
    let trail = try await AttackedTrail.shared.value
    let storage = trail.genuine.copy()
    let log = try trail.open(storage, forWriting: false)
    let path = FileManager.default.temporaryDirectory.path + "/parts-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try log.export(to: TileDirectory(path: path + "/genuine"), includingErasableParts: true)
    let before = try #require(trail.earlier.last)
    try storage.write { writer in
      if isForgotten {
        try ErasureKeys.forget([trail.places[31]], in: writer)
      } else {
        try before.read { try writer.replace([.covers, .keys], byThoseOf: $0) }
      }
    }
    #expect(
      code { try log.export(to: TileDirectory(path: path + "/edited"), includingErasableParts: true) }
        == .tampered)
  }
}
