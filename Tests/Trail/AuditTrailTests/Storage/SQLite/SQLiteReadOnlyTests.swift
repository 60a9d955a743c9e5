// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailSQLite
import FoundationEssentials
import Testing
import TransparencyLog

/// A trail that may only be read.
@Suite struct SQLiteReadOnlyTests {
  private func withTrail(_ body: (TrailFixture, String) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/read only %3f-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/trail"
    try await body(try TrailFixture(storage: SQLiteStorage(creatingAt: path)), path)
  }

  private func files(beside path: String) throws -> [String] {
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  @Test func aTrailThatNobodyUsesIsReadWithoutAnythingBesideIt() async throws {
    try await withTrail { fixture, path in
      let log = try fixture.create()
      try await log.append(TrailFixture.records(0..<600))
      try log.close()
      let before = try #require(FileManager.default.contents(atPath: path))
      let reading = try fixture.openReadOnly(path)
      #expect(try reading.withView { try $0.entry(at: 599).entry.transaction } == "20599")
      #expect(try reading.withView { try $0.history(original: "1003").count } == 60)
      #expect(try reading.withView { try $0.proof(of: 5).index } == 5)
      let error = #expect(throws: AuditError.self) { try reading.publishCheckpoint() }
      #expect(error?.code == .readOnly)
      try reading.close()
      #expect(FileManager.default.contents(atPath: path) == before)
      #expect(try files(beside: path).first == "trail")
    }
  }

  @Test func whatAnotherAppendsIsSeen() async throws {
    try await withTrail { fixture, path in
      let log = try fixture.create()
      try await log.append(TrailFixture.records(0..<10))
      let reading = try fixture.openReadOnly(path)
      #expect(try reading.withView { $0.size } == 10)
      try await log.append(TrailFixture.records(10..<20))
      #expect(try reading.withView { $0.size } == 20)
    }
  }

  @Test func nothingIsWritten() async throws {
    try await withTrail { fixture, path in
      try fixture.create().close()
      let storage = try SQLiteStorage(readingAt: path)
      #expect(throws: AuditError.self) { try storage.write { try $0.put(.notes, 1, []) } }
      #expect(throws: AuditError.self) { try storage.scrub() }
      let log = try fixture.open(storage)
      let error = await #expect(throws: AuditError.self) { try await log.append(TrailFixture.record(1)) }
      #expect(error?.code == .readOnly)
      #expect(try storage.structuralFaults() == [])
    }
  }

  @Test func whatIsNoTrailIsRefused() async throws {
    try await withTrail { _, path in
      #expect(throws: StorageError.self) { try SQLiteStorage(readingAt: path + ".missing") }
      _ = FileManager.default.createFile(atPath: path + ".text", contents: Data("no database at all".utf8))
      let error = #expect(throws: StorageError.self) {
        try SQLiteStorage(readingAt: path + ".text")
      }
      #expect(error?.code == .notATrail)
    }
  }

  @Test func aPathOpensTheTrailWithTheFilesBesideIt() async throws {
    try await withTrail { fixture, path in
      let place = FileCheckpointStore(path: path + ".checkpoint")
      let log = try AuditLog.create(
        in: fixture.storage, configuration: TrailConfiguration(origin: TrailFixture.origin),
        signer: fixture.signer, checkpoints: place, options: fixture.options)
      #expect(try await log.append(TrailFixture.record(1)).index == 0)
      #expect(try await log.append(TrailFixture.record(1)).isRepeat)
      try log.close()
      #expect(throws: AuditError.self) { try SQLiteStorage.openTrail(at: path) }
      try Data((fixture.signer.verifierKey.text + "\n").utf8).write(to: URL(filePath: path + ".pub"))
      let reading = try SQLiteStorage.openTrail(at: path)
      #expect(try reading.withView { $0.size } == 1)
      await #expect(throws: AuditError.self) { try await reading.append(TrailFixture.record(2)) }
      try reading.close()
      try Data(fixture.signer.pem().utf8).write(to: URL(filePath: path + ".key"))
      let writing = try SQLiteStorage.openTrail(at: path)
      #expect(try await writing.append(TrailFixture.record(2)).index == 1)
      #expect(try await writing.checkpoint().checkpoint.size == 2)
      try writing.close()
      let readOnly = try SQLiteStorage.openTrail(at: path, readOnly: true)
      await #expect(throws: AuditError.self) { try await readOnly.append(TrailFixture.record(3)) }
    }
  }
}

extension TrailFixture {
  fileprivate func openReadOnly(_ path: String) throws -> AuditLog {
    try AuditLog.open(
      SQLiteStorage(readingAt: path), verifier: signer.verifierKey, checkpoints: checkpoints,
      options: options)
  }
}
