// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import FoundationEssentials
import Testing
import TransparencyLog

@testable import AuditTrail

/// A new key is introduced by an entry that the old one signed. A verifier that trusts any of the keys follows the
/// trail from there on, and what a replaced key signs afterwards is not accepted.
@Suite struct KeyRotationTests {
  /// A trail whose key was replaced twice, with entries under each key.
  private struct Rotated {
    let fixture: TrailFixture
    let signers: [NoteSignerKey]
    let successions: [KeySuccession]
    let log: AuditLog
    /// The storage as it was before the first key was replaced.
    let before: MemoryStorage
    var first: NoteVerifierKey { signers[0].verifierKey }

    init() async throws {
      let storage = MemoryStorage()
      fixture = try TrailFixture(storage: storage)
      log = try fixture.create()
      try await log.append(TrailFixture.records(0..<300))
      try log.publishCheckpoint()
      before = storage.copy()
      var signers = [fixture.signer]
      var successions: [KeySuccession] = []
      for number in 1...2 {
        let next = try NoteSignerKey.generate(name: TrailFixture.origin)
        successions.append(try await log.rotateKey(to: next))
        signers.append(next)
        try await log.append(TrailFixture.records(300 * number..<300 * number + 300))
      }
      try log.publishCheckpoint()
      self.signers = signers
      self.successions = successions
    }

    func open(
      trusting key: NoteVerifierKey, signer: NoteSignerKey? = nil, _ storage: (any TrailStorage)? = nil
    ) throws(AuditError) -> AuditLog {
      try AuditLog.open(
        storage ?? fixture.storage, verifier: key, signer: signer, checkpoints: fixture.checkpoints,
        options: fixture.options)
    }

    func faults(trusting key: NoteVerifierKey, _ storage: (any TrailStorage)? = nil) throws -> [TrailFault] {
      try TrailChecker(
        storage: storage ?? fixture.storage, verifier: key, checkpoints: fixture.checkpoints
      ).check().faults
    }
  }

  @Test func everyKeyLeadsToTheOneThatSigns() async throws {
    let rotated = try await Rotated()
    #expect(rotated.successions.map(\.index) == [300, 601])
    for (number, signer) in rotated.signers.enumerated() {
      let log = try rotated.open(trusting: signer.verifierKey)
      #expect(log.keys.keys == rotated.signers[number...].map(\.verifierKey))
      try log.withView { view in
        #expect(view.size == 902)
        #expect(try view.entry(at: 300).entry.key == rotated.signers[1].verifierKey.text)
        let proof = try view.proof(of: 5)
        #expect(throws: Never.self) { try log.keys.verify(proof, entry: proof.extra ?? []) }
      }
      #expect(try rotated.faults(trusting: signer.verifierKey) == [])
    }
  }

  @Test func theFileOfAChainLeadsToTheSameKeys() async throws {
    let rotated = try await Rotated()
    let file = rotated.log.keys.encoded
    for (number, signer) in rotated.signers.enumerated() {
      let chain = try KeyChain(signer.verifierKey, parsing: file)
      #expect(chain.keys == rotated.signers[number...].map(\.verifierKey))
    }
    let stranger = try NoteSignerKey.generate(name: TrailFixture.origin).verifierKey
    #expect(try KeyChain(stranger, parsing: file).keys == [stranger])
    #expect(throws: LogFormatError.self) { try KeyChain(rotated.first, parsing: Array("keys\n".utf8)) }
  }

  @Test func onlyTheKeyThatSignsNowOpensForWriting() async throws {
    let rotated = try await Rotated()
    for signer in rotated.signers.dropLast() {
      let error = #expect(throws: AuditError.self) {
        try rotated.open(trusting: rotated.first, signer: signer)
      }
      #expect(error?.code == .wrongKey && error?.message.contains("was replaced") == true)
    }
    let log = try rotated.open(trusting: rotated.first, signer: rotated.signers[2])
    try await log.append(TrailFixture.records(900..<901))
  }

  @Test func whoHasTheTrailOpenReadsOnAndWritesNoMore() async throws {
    let fixture = try TrailFixture()
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<10))
    let writer = try fixture.open()
    let reader = try AuditLog.open(
      fixture.storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints)
    let next = try NoteSignerKey.generate(name: TrailFixture.origin)
    try await log.rotateKey(to: next)
    try await log.append(TrailFixture.records(10..<20))
    try log.publishCheckpoint()
    #expect(try reader.withView { $0.size } == 21)
    let error = await #expect(throws: AuditError.self) {
      try await writer.append(TrailFixture.records(20..<21))
    }
    #expect(error?.code == .wrongKey)
    #expect(throws: AuditError.self) { try writer.publishCheckpoint() }
    #expect(try writer.withView { $0.size } == 21)
  }

  @Test func aKeyOfAnotherNameOrInUseBeforeIsRefused() async throws {
    let rotated = try await Rotated()
    for key in [try NoteSignerKey.generate(name: "example.com/other")] + rotated.signers {
      let error = await #expect(throws: AuditError.self) { try await rotated.log.rotateKey(to: key) }
      #expect(error?.code == .wrongKey)
    }
    #expect(try rotated.faults(trusting: rotated.first) == [])
  }

  @Test func nobodyElseEntersAKey() async throws {
    let log = try TrailFixture().create()
    let record = AuditRecord(EntryFacts(time: 1, kind: .key, key: "example.com/test+00000000+AA=="))
    let error = await #expect(throws: AuditError.self) { try await log.append([record]) }
    #expect(error?.code == .invalidRecord)
  }

  /// Somebody has the key that was replaced, and the storage.
  @Test func aReplacedKeyVouchesForTheEntriesUpToTheOneThatReplacedIt() async throws {
    let rotated = try await Rotated()
    let keys = rotated.log.keys
    for (signer, succession) in zip(rotated.signers, rotated.successions) {
      #expect(keys.isTrusted(signer.verifierKey, forSize: succession.index + 1))
      #expect(!keys.isTrusted(signer.verifierKey, forSize: succession.index + 2))
    }
  }

  @Test func aReplacedKeyVouchesForNothingNew() async throws {
    let rotated = try await Rotated()
    let old = rotated.signers[0]
    // The trail goes on from before, as if the key had never been replaced.
    let forged = TrailFixtureCopy(rotated.before, checkpoints: MemoryCheckpointStore())
    forged.checkpoints.set(try #require(try rotated.before.read { try $0.value(.notes, 1) }))
    let fork = try AuditLog.open(
      forged.storage, verifier: old.verifierKey, signer: old, checkpoints: forged.checkpoints,
      options: rotated.fixture.options)
    try await fork.append(TrailFixture.records(2000..<3000))
    try fork.publishCheckpoint()
    // Against the place of the last checkpoint, which the new key signed.
    #expect(throws: AuditError.self) { try rotated.open(trusting: rotated.first, forged.storage) }
    let forgedHead = try #require(try forged.storage.read { try $0.value(.head, 0) })
    let forgedCheckpoint = try SignedCheckpoint(parsing: #require(forged.checkpoints.load()))
    // A head, in the trail that went on.
    let storage = (rotated.fixture.storage as? MemoryStorage)?.copy() ?? MemoryStorage()
    try storage.write { try $0.put(.head, 0, forgedHead) }
    let error = #expect(throws: AuditError.self) { try rotated.open(trusting: rotated.first, storage) }
    #expect(error?.code == .tampered)
    // A checkpoint, for who knows that the key was replaced.
    #expect(throws: NoteError.self) { try rotated.log.keys.verify(forgedCheckpoint) }
    #expect(throws: Never.self) { try KeyChain(rotated.first).verify(forgedCheckpoint) }
  }

  @Test("a head that a replaced key signed is refused, however right the entries are")
  func headOfAReplacedKey() async throws {
    let rotated = try await Rotated()
    let storage = try #require(rotated.fixture.storage as? MemoryStorage).copy()
    let log = try rotated.open(trusting: rotated.first, signer: rotated.signers[2], storage)
    let reader = try rotated.open(trusting: rotated.first, storage)
    // After the last checkpoint.
    try await log.append(TrailFixture.records(900..<910))
    let head = try SignedNote(parsing: #require(try storage.stored(.head, 0)))
    for signer in rotated.signers.dropLast() {
      try storage.put(.head, 0, SignedNote.sign(head.text, by: [signer]).encoded)
      let error = #expect(throws: AuditError.self) { try rotated.open(trusting: rotated.first, storage) }
      #expect(error?.code == .tampered && error?.message.contains("replaced before") == true)
      #expect { try reader.withView { $0.size } } throws: { ($0 as? AuditError)?.code == .tampered }
    }
    try storage.put(.head, 0, head.encoded)
    #expect(try reader.withView { $0.size } == 912)
  }

  @Test("a key of another name does not take over, though the key before it signed the entry")
  func successorOfAnotherName() throws {
    let old = try NoteSignerKey.generate(name: "example.com/Ren\u{E9}")
    func succession(to name: String) throws -> KeySuccession? {
      let key = try NoteSignerKey.generate(name: name).verifierKey
      let entry = try AuditEntry(EntryFacts(time: 1, kind: .key, key: key.text), previous: nil).encoded()
      let checkpoint = try Checkpoint(origin: old.name, size: 1, root: .leaf(entry)).signed(by: old)
      let proof = try LogProof(extra: entry, index: 0, inclusionProof: [], checkpoint: checkpoint)
      return try KeySuccession(proof, by: old.verifierKey)
    }
    #expect(try succession(to: old.name)?.key.name == old.name)
    for name in ["example.com/other", "example.com/Rene\u{301}"] {
      #expect(try succession(to: name) == nil)
    }
  }

  @Test("a proof of a key that is missing, altered, moved or repeated", arguments: 0..<5)
  func alteredSuccession(edit: Int) async throws {
    let rotated = try await Rotated()
    let storage = (rotated.fixture.storage as? MemoryStorage)?.copy() ?? MemoryStorage()
    try storage.write { writer in
      var first = try #require(try writer.value(.notes, 2))
      let second = try #require(try writer.value(.notes, 3))
      switch edit {
      case 0: try writer.remove(.notes, in: 3...3, erasing: false)
      case 1: try writer.remove(.notes, in: 2...2, erasing: false)
      case 2:
        first[first.count / 2] ^= 1
        try writer.put(.notes, 2, first)
      case 3:
        try writer.put(.notes, 2, second)
        try writer.put(.notes, 3, first)
      default: try writer.put(.notes, 4, first)
      }
    }
    #expect(try !rotated.faults(trusting: rotated.first, storage).isEmpty)
    guard edit != 4 else { return }
    #expect(throws: AuditError.self) { try rotated.open(trusting: rotated.first, storage) }
  }

  @Test(
    "a checkpoint that was seen before is followed to the key that signs now, from any key but the unknown first"
  )
  func checkpointsOfReplacedKeys() async throws {
    let rotated = try await Rotated()
    let path = FileManager.default.temporaryDirectory.path + "/rotated-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let directory = TileDirectory(path: path)
    try rotated.log.export(to: directory)
    for (number, signer) in rotated.signers.enumerated() {
      let checker = TileDirectoryChecker(directory: directory, verifier: signer.verifierKey)
      for (seen, succession) in rotated.successions.enumerated() {
        guard seen > 0 || number == 0 else {
          #expect(throws: NoteError.self) { try checker.verify(succession.proof.checkpoint) }
          continue
        }
        let older = try checker.verify(succession.proof.checkpoint)
        #expect(try checker.check(continuing: older).faults == [])
      }
      let last = try SignedCheckpoint(parsing: #require(try rotated.fixture.checkpoints.load()))
      #expect(try checker.check(continuing: checker.verify(last)).faults == [])
    }
    let stranger = try NoteSignerKey.generate(name: TrailFixture.origin).verifierKey
    let checker = TileDirectoryChecker(directory: directory, verifier: stranger)
    #expect(throws: NoteError.self) { try checker.verify(rotated.successions[1].proof.checkpoint) }
  }

  /// The edits of the proofs of two successions.
  private static let edits: [(String, @Sendable ([LogProof]) throws -> [LogProof])] = [
    ("no proofs", { _ in [] }), ("the last one missing", { [$0[0]] }), ("the first one missing", { [$0[1]] }),
    ("doubled", { [$0[0], $0[0], $0[1]] }), ("exchanged", { [$0[1], $0[0]] }),
    (
      "of another tree",
      { proofs in
        let stranger = try NoteSignerKey.generate(name: TrailFixture.origin)
        let entry = try #require(proofs[0].extra)
        let checkpoint = try Checkpoint(
          origin: TrailFixture.origin, size: 301, root: .leaf(entry)
        ).signed(by: stranger)
        return [
          try LogProof(extra: entry, index: 300, inclusionProof: [], checkpoint: checkpoint), proofs[1],
        ]
      }
    ),
    (
      "of another entry",
      { proofs in
        let other = try NoteSignerKey.generate(name: TrailFixture.origin).verifierKey.text
        let entry = try AuditEntry(EntryFacts(time: 1, kind: .key, key: other), previous: nil).encoded()
        let proof = proofs[0]
        return [
          try LogProof(
            extra: entry, index: proof.index, inclusionProof: proof.inclusionProof,
            checkpoint: proof.checkpoint),
          proofs[1],
        ]
      }
    ),
  ]

  @Test(
    "a file of keys that is not the trail's is found by any key, and is not imported",
    arguments: edits.indices)
  func alteredFileOfKeys(edit: Int) async throws {
    let rotated = try await Rotated()
    let path = FileManager.default.temporaryDirectory.path + "/rotated-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let directory = TileDirectory(path: path)
    try rotated.log.export(to: directory, includingErasableParts: true)
    let proofs = try Self.edits[edit].1(rotated.successions.map(\.proof))
    try #require(
      FileManager.default.createFile(atPath: path + "/keys", contents: Data(proofs.flatMap(\.encoded))))
    if proofs.isEmpty { try FileManager.default.removeItem(atPath: path + "/keys") }
    for signer in rotated.signers {
      let checker = TileDirectoryChecker(directory: directory, verifier: signer.verifierKey)
      #expect(try !checker.check().isClean, "\(Self.edits[edit].0)")
    }
    #expect {
      try TrailImport(
        directory: directory, configuration: TrailConfiguration(origin: TrailFixture.origin),
        signer: rotated.signers[2], checkpoints: MemoryCheckpointStore()
      ).run(into: MemoryStorage())
    } throws: { ["tampered", "forked"].contains(($0 as? AuditError)?.code.rawValue) }
    // An export puts the file right.
    try rotated.log.export(to: directory, includingErasableParts: true)
    #expect(try TileDirectoryChecker(directory: directory, verifier: rotated.first).check().faults == [])
  }

  @Test(
    "stored proofs that are not the trail's are found by any key, and are not exported",
    arguments: edits.indices)
  func alteredStoredProofs(edit: Int) async throws {
    let rotated = try await Rotated()
    let storage = (rotated.fixture.storage as? MemoryStorage)?.copy() ?? MemoryStorage()
    let log = try rotated.open(trusting: rotated.signers[2].verifierKey, storage)
    let proofs = try Self.edits[edit].1(rotated.successions.map(\.proof))
    try storage.write { writer in
      try writer.remove(.notes, in: 2...3, erasing: false)
      try TrailKeys.store(proofs, in: writer)
    }
    for signer in rotated.signers {
      #expect(try !rotated.faults(trusting: signer.verifierKey, storage).isEmpty, "\(Self.edits[edit].0)")
    }
    let path = FileManager.default.temporaryDirectory.path + "/rotated-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect { try log.export(to: TileDirectory(path: path)) } throws: {
      ($0 as? AuditError)?.code == .tampered
    }
    let migration = TrailMigration(
      from: storage, checkpoints: rotated.fixture.checkpoints, signer: rotated.signers[2])
    #expect { try migration.run(to: MemoryStorage(), checkpoints: MemoryCheckpointStore()) } throws: {
      ($0 as? AuditError)?.code == .tampered
    }
  }

  @Test func copiesKeepTheKeys() async throws {
    let rotated = try await Rotated()
    let (target, checkpoints) = (MemoryStorage(), MemoryCheckpointStore())
    try TrailMigration(
      from: rotated.fixture.storage, checkpoints: rotated.fixture.checkpoints, signer: rotated.signers[2]
    ).run(to: target, checkpoints: checkpoints)
    for signer in rotated.signers {
      let checker = TrailChecker(storage: target, verifier: signer.verifierKey, checkpoints: checkpoints)
      #expect(try checker.check().faults == [])
    }
    let path = FileManager.default.temporaryDirectory.path + "/rotated-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let directory = TileDirectory(path: path)
    try rotated.log.export(to: directory, includingErasableParts: true)
    for signer in rotated.signers {
      #expect(
        try TileDirectoryChecker(directory: directory, verifier: signer.verifierKey).check().faults == [])
    }
    let (imported, place) = (MemoryStorage(), MemoryCheckpointStore())
    try TrailImport(
      directory: directory, configuration: TrailConfiguration(origin: TrailFixture.origin),
      signer: rotated.signers[2], checkpoints: place
    ).run(into: imported)
    for signer in rotated.signers {
      let checker = TrailChecker(storage: imported, verifier: signer.verifierKey, checkpoints: place)
      #expect(try checker.check().faults == [])
    }
  }
}

/// A copy of a trail with a place of its own for the last checkpoint.
private struct TrailFixtureCopy {
  let storage: MemoryStorage
  let checkpoints: MemoryCheckpointStore

  init(_ storage: MemoryStorage, checkpoints: MemoryCheckpointStore) {
    self.storage = storage
    self.checkpoints = checkpoints
  }
}

extension MemoryCheckpointStore {
  fileprivate func set(_ checkpoint: [UInt8]) { _ = replace(nil, with: checkpoint) }
}
