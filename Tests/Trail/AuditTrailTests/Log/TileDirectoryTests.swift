// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import FoundationEssentials
import Testing
import TransparencyLog

@Suite struct TileDirectoryTests {
  private func withExport(
    entries: Int, _ body: (TrailFixture, AuditLog, TileDirectory) async throws -> Void
  ) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/tiles-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let fixture = try TrailFixture()
    let log = try fixture.create()
    for start in stride(from: 0, to: entries, by: 500) {
      try await log.append(
        (start..<min(start + 500, entries)).map { TrailFixture.record($0, token: "customer \($0 % 3)") })
    }
    try await log.erase(entry: 1)
    try await log.anchor(original: "1002")
    try log.publishCheckpoint()
    let directory = TileDirectory(path: path)
    try log.export(to: directory, includingErasableParts: true)
    try await body(fixture, log, directory)
  }

  private func check(
    _ directory: TileDirectory, _ fixture: TrailFixture, since older: VerifiedCheckpoint? = nil
  ) throws -> TrailCheckReport {
    try TileDirectoryChecker(directory: directory, verifier: fixture.signer.verifierKey).check(
      continuing: older)
  }

  @Test(
    "a stranger finds an export sound, and its tiles are those of C2SP tlog-tiles",
    arguments: [2, 255, 256, 700])
  func sound(entries: Int) async throws {
    try await withExport(entries: entries) { fixture, log, directory in
      let report = try check(directory, fixture)
      #expect(report.faults == [])
      #expect(report.entryCount == UInt64(entries + 2))
      let size = UInt64(entries + 2)
      for level in 0..<2 {
        var number: UInt64 = 0
        while let tile = TileCoordinates(level: level, number: number, inTreeOfSize: size) {
          let bytes = try #require(FileManager.default.contents(atPath: "\(directory.path)/\(tile.path)"))
          #expect(bytes.count == 32 * tile.width)
          number += 1
        }
      }
    }
  }

  @Test("what is exported again is what is new, and continues what was seen before")
  func again() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/tiles-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let fixture = try TrailFixture()
    let log = try fixture.create()
    let directory = TileDirectory(path: path)
    var seen: VerifiedCheckpoint?
    for start in stride(from: 0, to: 900, by: 100) {
      try await log.append(TrailFixture.records(start..<start + 100))
      try log.publishCheckpoint()
      let checkpoint = try log.export(to: directory)
      let report = try check(directory, fixture, since: seen)
      #expect(report.faults == [])
      seen = checkpoint
    }
  }

  @Test("an import has the same root, entries and erasable parts")
  func imports() async throws {
    try await withExport(entries: 700) { fixture, log, directory in
      let storage = MemoryStorage()
      let configuration = try TrailConfiguration(origin: TrailFixture.origin)
      try TrailImport(
        directory: directory, configuration: configuration, signer: fixture.signer,
        checkpoints: fixture.checkpoints
      ).run(into: storage)
      let copy = try fixture.open(storage)
      let root = try log.withView { $0.root }
      try copy.withView { view in
        #expect(view.root == root)
        #expect(try view.erasablePart(at: 1) == nil)
        #expect(try view.erasablePart(at: 2)?.customerToken == "customer 2")
        let anchor = try view.history(original: "1002", limit: 1)
        #expect(anchor.first?.entry.count == 70)
        let found = try view.entries(customer: "customer 0")
        #expect(found.count == 234)
      }
      let report = try TrailChecker(
        storage: storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints
      ).check()
      #expect(report.faults == [])
    }
  }

  @Test(
    "a part that an entry of the export says was erased is not taken back", arguments: StorageKind.all,
    [20, 300])
  func olderErasableParts(kind: StorageKind, entries: Int) async throws {
    try await withExport(entries: entries) { fixture, log, directory in
      let older = directory.path + "-older"
      defer { try? FileManager.default.removeItem(atPath: older) }
      try FileManager.default.copyItem(atPath: directory.path, toPath: older)
      try await log.erase(entry: 7)
      try log.publishCheckpoint()
      try log.export(to: directory, includingErasableParts: true)
      let name = "erasable/" + (entries > 256 ? "000" : "000.p/\(entries + 3)")
      let old = "\(older)/erasable/" + (entries > 256 ? "000" : "000.p/\(entries + 2)")
      var parts = try #require(FileManager.default.contents(atPath: old))
      // An empty part for the entry that records the erasure.
      if entries < 256 { parts += Data([0, 0, 0, 0]) }
      try #require(FileManager.default.createFile(atPath: "\(directory.path)/\(name)", contents: parts))
      let (place, checkpoints) = (try kind.make(), MemoryCheckpointStore())
      let error = #expect(throws: AuditError.self) {
        try TrailImport(
          directory: directory, configuration: TrailConfiguration(origin: TrailFixture.origin),
          signer: fixture.signer, checkpoints: checkpoints
        ).run(into: place.storage)
      }
      #expect(error?.code == .tampered && error?.place == "entry 7")
      #expect(checkpoints.load() == nil)
    }
  }

  @Test("an export that is older than the last checkpoint is not imported")
  func oldExport() async throws {
    try await withExport(entries: 20) { fixture, log, directory in
      try await log.anchor(original: "1003")
      try log.publishCheckpoint()
      #expect {
        try TrailImport(
          directory: directory, configuration: TrailConfiguration(origin: TrailFixture.origin),
          signer: fixture.signer, checkpoints: fixture.checkpoints
        ).run(into: MemoryStorage())
      } throws: { ($0 as? AuditError)?.code == .rolledBack }
    }
  }

  @Test("any change to the files is found, or makes no difference to what they say")
  func tampering() async throws {
    try await withExport(entries: 600) { fixture, _, directory in
      var files: [String] = []
      let found = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
      for name in found.sorted() where !name.hasPrefix("erasable") {
        var isDirectory = false
        _ = FileManager.default.fileExists(atPath: "\(directory.path)/\(name)", isDirectory: &isDirectory)
        if !isDirectory { files.append("\(directory.path)/\(name)") }
      }
      #expect(files.count >= 7)
      for file in files {
        let bytes = Array(try #require(FileManager.default.contents(atPath: file)))
        defer { _ = FileManager.default.createFile(atPath: file, contents: Data(bytes)) }
        for _ in 0..<12 {
          var changed = bytes
          changed[Int.random(in: 0..<bytes.count)] ^= 1 << UInt8.random(in: 0..<8)
          _ = FileManager.default.createFile(atPath: file, contents: Data(changed))
          let report = try check(directory, fixture)
          #expect(!report.isClean, "\(file)")
        }
        _ = FileManager.default.createFile(atPath: file, contents: Data(bytes.dropLast()))
        let cut = try check(directory, fixture)
        #expect(!cut.isClean, "\(file) cut")
        try FileManager.default.removeItem(atPath: file)
        let removed = try check(directory, fixture)
        #expect(!removed.isClean, "\(file) removed")
      }
    }
  }
}
