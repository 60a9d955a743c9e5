// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import FoundationEssentials
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import Testing
import TransparencyLog

@testable import AuditTrail

/// Every kind of stored row (<doc:StoredForm>) is vouched for: a row that is altered, removed or added is found.
@Suite struct StoredRowTests {
  private struct Trail {
    let fixture: TrailFixture
    let log: AuditLog
    let signers: [NoteSignerKey]
    let policies: [VerificationPolicy]

    /// A trail with rows of every kind but tiles, which take 65,536 entries.
    init(in storage: any TrailStorage) async throws {
      fixture = try TrailFixture(storage: storage)
      log = try fixture.create()
      policies = ["com.example.one", "com.example.two"].map {
        VerificationPolicy(bundleIds: .oneOf([$0]), environments: [.production])
      }
      for policy in policies { try log.keep(policy: policy) }
      let digests = policies.map { SHA256Digest(of: $0) }
      // In two parts: an append makes runs of the index records that there are before it.
      for numbers in [0..<300, 300..<600] {
        try await log.append(
          numbers.map { number in
            var record = TrailFixture.record(number, token: "customer \(number % 5)")
            record.facts.policy = digests[number % 2]
            if number == 590 { record.receiptBytes = sampleBytes(5_000) }
            return record
          })
      }
      try await log.erase(entries: [3])
      try log.publishCheckpoint()
      let next = try NoteSignerKey.generate(name: TrailFixture.origin)
      try await log.rotateKey(to: next)
      signers = [fixture.signer, next]
    }

    /// By the first key and by the last, or by the last alone.
    func faults(byAllKeys: Bool = true) throws -> [[TrailFault]] {
      try signers.suffix(byAllKeys ? 2 : 1).map { signer in
        try TrailChecker(
          storage: fixture.storage, verifier: signer.verifierKey, checkpoints: fixture.checkpoints
        ).check().faults
      }
    }

    var digests: [SHA256Digest] { policies.map { SHA256Digest(of: $0) } }

    func open() throws -> AuditLog {
      try AuditLog.open(
        fixture.storage, verifier: fixture.signer.verifierKey, signer: signers[1],
        checkpoints: fixture.checkpoints, options: fixture.options)
    }
  }

  /// The rows that are edited: all of the small tables, some of the others.
  private func rows(_ storage: any TrailStorage) throws -> [(StorageTable, Int64)] {
    try StorageTable.allCases.flatMap { table in
      let keys = try storage.keys(table)
      let chosen: [Int64] =
        table == .tail
        ? keys.suffix(2) : keys.count > 8 ? [keys[0], keys[keys.count / 2], keys[keys.count - 1]] : keys
      return chosen.map { (table, $0) }
    }
  }

  @Test(
    "a row of any kind that is altered or removed is found, and is right again when it is put back",
    arguments: StorageKind.all)
  func alteredOrRemoved(kind: StorageKind) async throws {
    let place = try kind.make()
    let trail = try await Trail(in: place.storage)
    #expect(try trail.faults() == [[], []])
    let rows = try rows(place.storage)
    #expect(Set(rows.map(\.0)) == Set(StorageTable.allCases).subtracting([.tiles]))
    for (table, key) in rows {
      let row = try #require(try place.storage.stored(table, key))
      var altered = row
      // Of a row of keys the first is in use; a page of the index begins with what its fence vouches for; a note with its
      // text, before signatures by several keys.
      altered[[.keys, .pages, .personal, .runs, .notes].contains(table) ? 5 : row.count / 2] ^= 1
      for edited in [altered, nil] {
        try place.storage.write { writer in
          guard let edited else { return try writer.remove(table, in: key...key, erasing: false) }
          try writer.put(table, key, edited)
        }
        let faults = try trail.faults(byAllKeys: table == .notes)
        #expect(
          faults.allSatisfy { !$0.isEmpty },
          "\(table) \(key) \(edited == nil ? "removed" : "altered"): \(faults)")
        try place.storage.put(table, key, row)
      }
    }
    #expect(try trail.faults() == [[], []])
  }

  @Test("a row of any kind that is added is found", arguments: StorageKind.all)
  func added(kind: StorageKind) async throws {
    let place = try kind.make()
    let trail = try await Trail(in: place.storage)
    let text = Array(
      PolicyDescription(VerificationPolicy(bundleIds: .any, environments: [.production])).text.utf8)
    var rows: [(StorageTable, Int64, [UInt8])] = [
      (.notes, TrailNotes.policy(SHA256Digest(of: text)), text),
      (.notes, TrailNotes.policies.lowerBound, text),
      (.notes, TrailNotes.policyList - 1, text),
    ]
    for table in StorageTable.allCases {
      let keys = try place.storage.keys(table)
      let row = try keys.last.flatMap { try place.storage.stored(table, $0) } ?? [1, 2, 3]
      for key in [(keys.last ?? 0) + 1, 1 << 20] where key < TrailNotes.policies.lowerBound {
        rows.append((table, key, row))
      }
    }
    for (table, key, row) in rows {
      try place.storage.put(table, key, row)
      #expect(try trail.faults().allSatisfy { !$0.isEmpty }, "\(table) \(key)")
      try place.storage.write { try $0.remove(table, in: key...key, erasing: false) }
    }
    #expect(try trail.faults() == [[], []])
  }

  /// Edits of the texts of policies, and of what vouches for them.
  private static let edits: [(String, @Sendable (any StorageWriter, [SHA256Digest]) throws -> Void)] = [
    ("altered", { try $0.put(.notes, TrailNotes.policy($1[0]), Array("another text\n".utf8)) }),
    (
      "exchanged",
      { writer, digests in
        let texts = try digests.map { try writer.value(.notes, TrailNotes.policy($0)) ?? [] }
        for (digest, text) in zip(digests, texts.reversed()) {
          try writer.put(.notes, TrailNotes.policy(digest), text)
        }
      }
    ),
    (
      "removed",
      { try $0.remove(.notes, in: TrailNotes.policy($1[0])...TrailNotes.policy($1[0]), erasing: false) }
    ),
    (
      "all removed",
      { writer, _ in try writer.remove(.notes, in: TrailNotes.policies, erasing: false) }
    ),
    (
      "one added",
      { writer, _ in
        let text = Array("receiptkit.dev/verification-policy@v1\nbundle-rule any\n".utf8)
        try writer.put(.notes, TrailNotes.policy(SHA256Digest(of: text)), text)
      }
    ),
    (
      "the list removed",
      { writer, _ in
        try writer.remove(.notes, in: TrailNotes.policyList...TrailNotes.policyList, erasing: false)
      }
    ),
    (
      "one added to the list too",
      { writer, digests in
        let text = Array("receiptkit.dev/verification-policy@v1\nbundle-rule any\n".utf8)
        try writer.put(.notes, TrailNotes.policy(SHA256Digest(of: text)), text)
        let all = (digests + [SHA256Digest(of: text)]).map(\.bytes).sorted {
          $0.lexicographicallyPrecedes($1)
        }
        try writer.put(.notes, TrailNotes.policyList, all.flatMap(\.self))
      }
    ),
  ]

  @Test(
    "the texts of policies are those that were kept, or nothing is told and nothing is published of them",
    arguments: StorageKind.all, edits.indices)
  func policies(kind: StorageKind, edit: Int) async throws {
    let place = try kind.make()
    let trail = try await Trail(in: place.storage)
    let (name, apply) = Self.edits[edit]
    let path = FileManager.default.temporaryDirectory.path + "/policies-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let directory = TileDirectory(path: path)
    try trail.log.export(to: directory)
    let published = FileManager.default.contents(atPath: path + "/policies")
    #expect(published.map { StoredPolicies.texts(in: Array($0)).count } == 2)
    try place.storage.write { try apply($0, trail.digests) }
    #expect(try trail.faults().allSatisfy { !$0.isEmpty }, "\(name)")
    let target = MemoryStorage()
    let opened = try trail.open()
    for log in [trail.log, opened] {
      for (policy, digest) in zip(trail.policies, trail.digests) {
        let text = Result { try log.withView { try $0.policy(digest) } }
        if case .success(let text) = text { #expect(text == PolicyDescription(policy).text, "\(name)") }
      }
      #expect { try log.export(to: directory) } throws: { ($0 as? AuditError)?.code == .tampered }
      #expect(FileManager.default.contents(atPath: path + "/policies") == published)
    }
    let migration = TrailMigration(
      from: place.storage, checkpoints: trail.fixture.checkpoints, signer: trail.signers[1])
    #expect { try migration.run(to: target, checkpoints: MemoryCheckpointStore()) } throws: {
      ($0 as? AuditError)?.code == .tampered
    }
    // Keeping the policies again repairs every edit but the last, whose list names a policy that was not kept.
    let more = VerificationPolicy(bundleIds: .oneOf(["com.example.three"]), environments: [.production])
    guard edit != 6 else {
      #expect { try opened.keep(policy: more) } throws: { ($0 as? AuditError)?.code == .tampered }
      return
    }
    for policy in trail.policies + [more] { try opened.keep(policy: policy) }
    #expect(try trail.faults() == [[], []], "\(name)")
    try migration.run(to: target, checkpoints: MemoryCheckpointStore())
    for (policy, digest) in zip(trail.policies, trail.digests) {
      #expect(try opened.withView { try $0.policy(digest) } == PolicyDescription(policy).text)
    }
    #expect(try opened.withView { try $0.policy(SHA256Digest(of: [])) } == nil)
    try opened.export(to: directory)
    #expect(FileManager.default.contents(atPath: path + "/policies") == published)
  }

  @Test("an export has the texts of the policies that its entries name, and no others", arguments: 0..<4)
  func exportedPolicies(edit: Int) async throws {
    let trail = try await Trail(in: MemoryStorage())
    // Nothing was recorded under this one yet.
    try trail.log.keep(policy: VerificationPolicy(bundleIds: .any, environments: [.production]))
    let path = FileManager.default.temporaryDirectory.path + "/policies-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let directory = TileDirectory(path: path)
    try trail.log.export(to: directory, includingErasableParts: true)
    let checker = TileDirectoryChecker(directory: directory, verifier: trail.fixture.signer.verifierKey)
    #expect(try checker.check().faults == [])
    let texts = trail.policies.map { PolicyDescription($0).text }
    var file = Array(try #require(FileManager.default.contents(atPath: path + "/policies")))
    #expect(Set(StoredPolicies.texts(in: file)) == Set(texts))
    switch edit {
    case 0: file[60] ^= 1
    case 1: file += Array("receiptkit.dev/verification-policy@v1\nbundle-rule any\n\n".utf8)
    case 2: file += StoredPolicies.file([texts[0]])
    default: file.removeLast()
    }
    try #require(FileManager.default.createFile(atPath: path + "/policies", contents: Data(file)))
    #expect(try checker.check().faults.map(\.code) == [.policyText])
    #expect {
      try TrailImport(
        directory: directory, configuration: TrailConfiguration(origin: TrailFixture.origin),
        signer: trail.signers[1], checkpoints: MemoryCheckpointStore()
      ).run(into: MemoryStorage())
    } throws: { ($0 as? AuditError)?.code == .tampered }
    try trail.log.export(to: directory, includingErasableParts: true)
    let (storage, checkpoints) = (MemoryStorage(), MemoryCheckpointStore())
    try TrailImport(
      directory: directory, configuration: TrailConfiguration(origin: TrailFixture.origin),
      signer: trail.signers[1], checkpoints: checkpoints
    ).run(into: storage)
    let imported = TrailChecker(
      storage: storage, verifier: trail.signers[1].verifierKey, checkpoints: checkpoints)
    #expect(try imported.check().faults == [])
  }
}
