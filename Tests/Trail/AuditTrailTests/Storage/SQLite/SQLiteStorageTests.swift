// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Foundation
import SQLite
import Synchronization
import Testing
import TransparencyLog

@testable import AuditTrailSQLite

@Suite("SQLite storage")
struct SQLiteStorageTests {
  let folder: StorageFolder
  let path: String

  init() throws {
    folder = try StorageFolder()
    path = folder.file("trail.sqlite")
  }

  @Test("is created whole, for its owner alone, and leaves one file when it is closed")
  func creation() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    try storage.put(.head, 0, [1])
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    try storage.close()
    #expect(try folder.names() == ["trail.sqlite"])
    #expect(try SQLiteStorage(openingAt: path).stored(.head, 0) == [1])
  }

  @Test("is not created over anything")
  func creationOverSomething() throws {
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(storageCode { _ = try SQLiteStorage(creatingAt: path) } == .notATrail)
    #expect(storageCode { _ = try SQLiteStorage(creatingAt: folder.path) } == .notATrail)
    #expect(
      storageCode { _ = try SQLiteStorage(creatingAt: folder.file("no/such/folder")) } == .inputOutput)
    #expect(storageCode { _ = try SQLiteStorage(creatingAt: "") } == .notFound)
    #expect(storageCode { _ = try SQLiteStorage(creatingAt: path + "\0x") } == .notFound)
    #expect(try folder.names() == ["trail.sqlite"])
    #expect(try folder.bytes("trail.sqlite") == [])
  }

  @Test(
    "takes odd names for what they are",
    arguments: ["with space ü.sqlite", ":memory:", "file:x?mode=ro", "a%20b"])
  func oddNames(name: String) throws {
    let storage = try SQLiteStorage(creatingAt: folder.file(name))
    try storage.put(.head, 0, [1])
    try storage.close()
    #expect(try folder.names() == [name])
    #expect(try SQLiteStorage(openingAt: folder.file(name)).stored(.head, 0) == [1])
  }

  @Test("opens nothing but a trail")
  func openingSomethingElse() throws {
    #expect(storageCode { _ = try SQLiteStorage(openingAt: path) } == .notFound)
    #expect(try folder.names() == [])
    #expect(storageCode { _ = try SQLiteStorage(openingAt: folder.path) } == .notATrail)
    for contents in [[], Array("no database, but long enough for its header: ".utf8), sampleBytes(100_000)] {
      try Data(contents).write(to: URL(fileURLWithPath: path))
      #expect(storageCode { _ = try SQLiteStorage(openingAt: path) } == .notATrail)
      #expect(try folder.bytes("trail.sqlite") == contents)
    }
    let other = folder.file("other.sqlite")
    try change(other, "CREATE TABLE head(key INTEGER PRIMARY KEY, value BLOB)")
    #expect(storageCode { _ = try SQLiteStorage(openingAt: other) } == .notATrail)
  }

  @Test(
    "opens no trail whose layout it does not know",
    arguments: [
      ("PRAGMA user_version = 2", StorageError.Code.unsupported), ("PRAGMA user_version = 4", .unsupported),
      ("PRAGMA application_id = 7", .notATrail),
      ("DROP TABLE tiles", .corrupt), ("CREATE TABLE more(a)", .corrupt),
      ("ALTER TABLE head ADD COLUMN more ANY", .corrupt),
    ])
  func openingOtherLayouts(change sql: String, code: StorageError.Code) throws {
    try SQLiteStorage(creatingAt: path).close()
    try change(path, sql)
    #expect(storageCode { _ = try SQLiteStorage(openingAt: path) } == code)
  }

  @Test("refuses a write and a closing within a write, which would wait for themselves")
  func reentrance() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    try storage.write { (writer) throws in
      try writer.put(.head, 0, [1])
      #expect(storageCode { try storage.put(.head, 0, [2]) } == .busy)
      #expect(storageCode { try storage.close() } == .busy)
      #expect(try storage.stored(.head, 0) == nil)
    }
    try storage.read { (reader) throws in
      #expect(try reader.value(.head, 0) == [1])
      try storage.put(.head, 0, [3])
      #expect(try reader.value(.head, 0) == [1])
      #expect(try storage.stored(.head, 0) == [3])
    }
  }

  @Test("refuses a reader or writer that was kept after its end")
  func keptAccess() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    let reader = try storage.read { $0 }
    let writer = try storage.write { $0 }
    #expect(storageCode { _ = try reader.value(.head, 0) } == .closed)
    #expect(storageCode { _ = try reader.value(.head, 0, bytes: 0..<1) } == .closed)
    #expect(storageCode { try writer.put(.head, 0, [1]) } == .closed)
    #expect(try storage.keys(.head) == [])
  }

  @Test("is closed after the reads that are under way")
  func closingDuringRead() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    try storage.put(.head, 0, [1])
    try storage.read { (reader) throws in
      try storage.close()
      #expect(try reader.value(.head, 0) == [1])
      #expect(storageCode { _ = try storage.stored(.head, 0) } == .closed)
    }
    #expect(try folder.names() == ["trail.sqlite"])
  }

  @Test("says so when others hold it for too long")
  func busy() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    let impatient = try SQLiteStorage(openingAt: path, busyTimeout: .milliseconds(50))
    try storage.write { _ in #expect(storageCode { try impatient.put(.head, 0, [1]) } == .busy) }
    try impatient.put(.head, 0, [1])
    try storage.read { (reader) throws in
      #expect(try reader.value(.head, 0) == [1])
      try impatient.put(.head, 0, [2])
      #expect(storageCode { try impatient.scrub() } == .busy)
    }
    try impatient.scrub()
    #expect(try folder.bytes("trail.sqlite-wal") == [])
  }

  @Test("writes no more once its file was moved or replaced")
  func movedFile() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    try storage.put(.head, 0, [1])
    let elsewhere = folder.file("elsewhere.sqlite")
    try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
    #expect(storageCode { try storage.put(.head, 0, [2]) } == .notFound)
    try Data([1]).write(to: URL(fileURLWithPath: path))
    #expect(storageCode { try storage.put(.head, 0, [2]) } == .notFound)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: elsewhere, toPath: path)
    try storage.put(.head, 0, [2])
  }

  @Test("keeps its log short under steady load, and with a reader that goes on and on")
  func logLength() throws {
    let tuning = SQLiteTuning(logLimit: 1 << 20)
    try SQLiteStorage(creatingAt: path).close()
    let storage = try SQLiteStorage(openingAt: path, busyTimeout: .seconds(10), tuning: tuning)
    for key in 0..<200 { try storage.put(.bundles, Int64(key), sampleBytes(100_000)) }
    let steady = try folder.bytes("trail.sqlite-wal").count
    #expect(steady < 3 << 20)
    try storage.read { (reader) throws in
      #expect(try reader.lastKey(.bundles, in: 0...1000) == 199)
      for key in 200..<260 { try storage.put(.bundles, Int64(key), sampleBytes(100_000)) }
      #expect(try reader.lastKey(.bundles, in: 0...1000) == 199)
    }
    for key in 260..<300 { try storage.put(.bundles, Int64(key), sampleBytes(100_000)) }
    #expect(try folder.bytes("trail.sqlite-wal").count < 3 << 20)
    #expect(try storage.keys(.bundles).count == 300)
  }

  @Test("leaves no sync to SQLite but those around the log's being copied")
  func settings() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    let writer = try #require(storage.writer)
    // 1 is NORMAL, 2 is FULL.
    for (connection, synchronous) in [
      (writer.connection, "1"), (try #require(writer.copying.connection), "2"),
    ] {
      let settings = try connection.use { database in
        try ["synchronous", "journal_mode", "mmap_size", "page_size"].map {
          try database.texts("PRAGMA \($0)").first
        }
      }
      #expect(settings == [synchronous, "wal", "0", "16384"])
    }
  }

  @Test("syncs the log next to the file that a symbolic link leads to")
  func symbolicLink() throws {
    try SQLiteStorage(creatingAt: path).close()
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let storage = try SQLiteStorage(openingAt: link)
    try storage.put(.head, 0, [1])
    #expect(try folder.bytes("trail.sqlite-wal").count > 16384)
    try storage.scrub()
    #expect(try folder.bytes("trail.sqlite-wal").isEmpty)
    #expect(try folder.names() == ["link", "trail.sqlite", "trail.sqlite-shm", "trail.sqlite-wal"])
  }

  @Test("is scrubbed while another process writes and copies the log")
  func scrubbingBesideAnother() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    let other = try SQLiteStorage(
      openingAt: path, busyTimeout: .seconds(30), tuning: SQLiteTuning(logLimit: 1 << 20))
    let isOver = Atomic(false)
    let writing = Thread {
      var key: Int64 = 0
      while !isOver.load(ordering: .relaxed) {
        try? other.put(.bundles, key % 50, sampleBytes(20_000, seed: UInt64(key)))
        key += 1
      }
    }
    writing.start()
    for key in 0..<40 as Range<Int64> {
      let erased = sampleBytes(500, seed: UInt64(1000 + key))
      try storage.put(.keys, 0, erased)
      try storage.write { try $0.overwrite(.keys, 0, at: 0, with: sampleBytes(500)) }
      try storage.scrub()
      #expect(try Data(folder.bytes("trail.sqlite-wal")).range(of: Data(erased)) == nil, "\(key)")
    }
    isOver.store(true, ordering: .relaxed)
    while !writing.isFinished { usleep(1000) }
    try other.close()
    try storage.close()
  }

  @Test("is backed up as it is while it goes on being written")
  func backup() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    for key in 0..<20 { try storage.put(.bundles, Int64(key), sampleBytes(200_000, seed: UInt64(key))) }
    let copy = folder.file("copy.sqlite")
    let writing = Thread {
      for key in 20..<60 { try? storage.put(.bundles, Int64(key), sampleBytes(100_000, seed: UInt64(key))) }
    }
    writing.start()
    try storage.backUp(to: copy)
    #expect(storageCode { try storage.backUp(to: copy) } == .notATrail)
    #expect(storageCode { try storage.backUp(to: folder.path + "/no/such") } == .inputOutput)
    while !writing.isFinished { usleep(1000) }
    #expect(try folder.names() == ["copy.sqlite", "trail.sqlite", "trail.sqlite-shm", "trail.sqlite-wal"])
    let restored = try SQLiteStorage(openingAt: copy)
    let keys = try restored.keys(.bundles)
    #expect(keys.count >= 20)
    #expect(keys == Array(0..<Int64(keys.count)))
    for key in 0..<20 {
      #expect(try restored.stored(.bundles, Int64(key)) == sampleBytes(200_000, seed: UInt64(key)))
    }
    try restored.put(.head, 0, [1])
    try restored.close()
    try storage.close()
    #expect(try folder.names() == ["copy.sqlite", "trail.sqlite"])
  }

  @Test("opens what a process left behind that ended without closing")
  func leftLog() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    for key in 0..<10 { try storage.put(.bundles, Int64(key), sampleBytes(50_000, seed: UInt64(key))) }
    let left = try StorageFolder()
    for name in ["trail.sqlite", "trail.sqlite-wal"] {
      try Data(folder.bytes(name)).write(to: URL(fileURLWithPath: left.file(name)))
    }
    #expect(try left.bytes("trail.sqlite-wal").count > 500_000)
    let opened = try SQLiteStorage(openingAt: left.file("trail.sqlite"))
    #expect(try opened.keys(.bundles) == Array(0..<10))
    // Settled into the file at once.
    #expect(try left.bytes("trail.sqlite-wal") == [])
  }

  @Test("finds that its file is cut off")
  func truncatedFile() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    for key in 0..<10 { try storage.put(.bundles, Int64(key), sampleBytes(50_000, seed: UInt64(key))) }
    try storage.close()
    let whole = try folder.bytes("trail.sqlite")
    // Truncations at every page: the error is one of the contract, never a crash.
    for end in stride(from: whole.count - 16384, to: 0, by: -16384) {
      try Data(whole[..<end]).write(to: URL(fileURLWithPath: path))
      let code = storageCode {
        let storage = try SQLiteStorage(openingAt: path)
        for key in 0..<10 {
          #expect(try storage.stored(.bundles, Int64(key)) == sampleBytes(50_000, seed: UInt64(key)))
        }
      }
      #expect(code == .corrupt, "\(end) of \(whole.count) bytes")
    }
  }

  @Test(
    "refuses a value whose segments are not those that were written",
    arguments: [
      "DELETE FROM bundles WHERE key = (3 << 17) + 1", "DELETE FROM bundles WHERE key = 3 << 17",
      "UPDATE bundles SET value = substr(value, 2) WHERE key = (3 << 17) + 1",
      "UPDATE bundles SET value = CAST(value || x'00' AS BLOB) WHERE key = 3 << 17",
      "UPDATE bundles SET value = NULL WHERE key = (3 << 17) + 2",
      "INSERT INTO bundles VALUES ((3 << 17) + 90, x'00')",
    ])
  func damagedSegments(sql: String) throws {
    let storage = try SQLiteStorage(creatingAt: path)
    for key in 2..<5 { try storage.put(.bundles, Int64(key), sampleBytes(20_000, seed: UInt64(key))) }
    try storage.close()
    try change(path, sql)
    let opened = try SQLiteStorage(openingAt: path)
    #expect(storageCode { _ = try opened.stored(.bundles, 3) } == .corrupt)
    #expect(try opened.stored(.bundles, 2) == sampleBytes(20_000, seed: 2))
    #expect(try opened.stored(.bundles, 4) == sampleBytes(20_000, seed: 4))
  }

  @Test("takes no bundle under a key that there is no room for, and finds none there")
  func keysWithoutRoom() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    try storage.put(.bundles, 7, [7])
    for key in [Int64.min, .max] {
      #expect(storageCode { try storage.put(.bundles, key, [1]) } == .unsupported)
      #expect(try storage.stored(.bundles, key) == nil)
      #expect(try storage.keys(.bundles, in: key...key) == [])
      try storage.write { try $0.remove(.bundles, in: key...key, erasing: true) }
    }
    #expect(try storage.keys(.bundles) == [7])
  }

  @Test("a bundle without one of its segments is found by the check, which goes on")
  func missingSegment() async throws {
    let fixture = try TrailFixture(storage: SQLiteStorage(creatingAt: path))
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<600))
    try log.close()
    try change(path, "DELETE FROM bundles WHERE key IN (1, (1 << 17) + 2)")
    let checker = TrailChecker(
      storage: try SQLiteStorage(openingAt: path), verifier: fixture.signer.verifierKey,
      checkpoints: fixture.checkpoints)
    let missing = try checker.check().faults.filter { $0.code == .missingEntry }
    #expect(missing.map(\.index) == [0, 256])
  }

  @Test("finds damage to its own structure")
  func structure() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    for key in 0..<4 { try storage.put(.bundles, Int64(key), sampleBytes(60_000)) }
    try storage.write { try $0.remove(.bundles, in: 1...2, erasing: false) }
    #expect(try storage.structuralFaults() == [])
    try storage.close()
    var bytes = try folder.bytes("trail.sqlite")
    // The number of free pages, in the header.
    bytes[39] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    #expect(try SQLiteStorage(openingAt: path).structuralFaults().count == 1)
  }

  /// Changes a file behind the storage's back.
  private func change(_ path: String, _ sql: String) throws {
    let connection = try Connection(
      DatabaseFile(path), .writing, timeout: BusyTimeout(.seconds(1)), pragmas: "")
    try connection.use { try $0.execute(sql) }
    try connection.close()
  }
}
