// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Foundation
import Storefront
import Testing

@testable import SQLite
@testable import StorefrontSQLite

@Suite("Records in an SQLite file")
struct SQLiteRecordStorageTests {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("records.sqlite")
  }

  @Test("creates a file that only its owner can read, and nothing else")
  func makes() throws {
    let storage = try SQLiteRecordStorage(at: path)
    try storage.put("a", [1])
    for name in try folder.names() {
      let mode = try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions]
      #expect(mode as? Int == 0o600, "\(name)")
    }
    #expect(try folder.names() == ["records.sqlite", "records.sqlite-wal"])
    try storage.close()
    #expect(try folder.names() == ["records.sqlite"])
    let again = try SQLiteRecordStorage(at: path)
    #expect(try again.value(of: "a", in: .first) == [1])
  }

  @Test("reports why a path cannot be used")
  func places() throws {
    #expect(recordCode { _ = try SQLiteRecordStorage(openingAt: path) } == .notFound)
    #expect(recordCode { _ = try SQLiteRecordStorage(at: folder.file("absent/records")) } == .inputOutput)
    #expect(recordCode { _ = try SQLiteRecordStorage(at: "") } == .notFound)
    #expect(recordCode { _ = try SQLiteRecordStorage(openingAt: folder.path) } == .notAStorage)
    try SQLiteRecordStorage(creatingAt: path).close()
    #expect(recordCode { _ = try SQLiteRecordStorage(creatingAt: path) } == .notAStorage)
    for (name, content) in [("empty", ""), ("text", String(repeating: "not a database ", count: 100))] {
      try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
      #expect(recordCode { _ = try SQLiteRecordStorage(at: folder.file(name)) } == .notAStorage)
      #expect(try String(contentsOfFile: folder.file(name), encoding: .utf8) == content)
    }
  }

  @Test("refuses the database of another application, and a later layout")
  func others() throws {
    try SQLiteRecordStorage(creatingAt: path).close()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    // Bytes 60 to 63 of an SQLite file are the user version, 68 to 71 the application identifier.
    for (offset, code) in [(71, RecordStorageError.Code.notAStorage), (63, .unsupported)] {
      var altered = whole
      altered[offset] ^= 0x40
      try altered.write(to: URL(fileURLWithPath: path))
      #expect(recordCode { _ = try SQLiteRecordStorage(at: path) } == code)
    }
  }

  @Test(
    "refuses any object in the file that is not of the layout",
    arguments: [
      "CREATE TRIGGER copies AFTER INSERT ON records BEGIN SELECT 1; END",
      "CREATE VIEW seen AS SELECT * FROM records",
      "CREATE INDEX copied ON records(value)", "ALTER TABLE records ADD COLUMN copy BLOB",
      "CREATE TABLE more(key BLOB)", "DROP TABLE records", "ALTER TABLE records RENAME TO kept",
    ])
  func foreignObjects(_ sql: String) throws {
    try SQLiteRecordStorage(creatingAt: path).close()
    let connection = try Connection(DatabaseFile(path), .writing, timeout: BusyTimeout(.zero), pragmas: "")
    try connection.use { try $0.execute(sql) }
    try connection.close()
    do {
      _ = try SQLiteRecordStorage(openingAt: path)
      Issue.record("It was opened.")
    } catch {
      #expect(error.code == .corrupt)
      #expect(error.place == path)
      #expect(error.message.contains("estore a backup"))
    }
  }

  @Test("can be opened by one process at a time")
  func twoOpeners() throws {
    let first = try SQLiteRecordStorage(at: path)
    try first.put("a", [1])
    do {
      _ = try SQLiteRecordStorage(at: path, busyTimeout: .milliseconds(50))
      Issue.record("Two have it open.")
    } catch {
      #expect(error.code == .busy)
      #expect(error.place == path)
      #expect(error.message.contains("only one may"))
    }
    // The failed attempt did not affect the open storage.
    try first.put("b", [2])
    try first.close()
    let second = try SQLiteRecordStorage(at: path)
    #expect(try second.keys() == ["a", "b"])
  }

  @Test("waits for another process to close it")
  func waits() throws {
    let first = try SQLiteRecordStorage(at: path)
    try first.put("a", [1])
    // On a separate thread: a task may wait for threads of other tests for longer than the busy timeout.
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.05)
      try? first.close()
    }
    let second = try SQLiteRecordStorage(at: path, busyTimeout: .seconds(20))
    #expect(try second.keys() == ["a"])
  }

  @Test("is created once by several processes, one of which has it open")
  func severalMakers() async throws {
    let path = path
    let opened = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<8 {
        group.addTask {
          guard let storage = try? SQLiteRecordStorage(at: path, busyTimeout: .seconds(30)) else {
            return false
          }
          let isStored = (try? storage.put("\(number)", [])) != nil
          try? storage.close()
          return isStored
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(opened == 8)
    #expect(try SQLiteRecordStorage(at: path).keys().count == 8)
  }

  @Test("does not write to a file that was removed")
  func moved() throws {
    let storage = try SQLiteRecordStorage(at: path)
    try storage.put("a", [1])
    try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
    #expect(recordCode { try storage.put("b", [2]) } == .notFound)
  }

  @Test("has every commit after a crash, each completely or not at all")
  func crash() throws {
    let storage = try SQLiteRecordStorage(at: path)
    for number in 0..<50 {
      try storage.commit([
        .put(.first, key: "\(100 + number)", value: [UInt8](repeating: 1, count: 3000)),
        .put(.second, key: "\(100 + number)", value: [UInt8(number)]),
      ])
    }
    // Copies the files as a crash would leave them, with the log truncated at every kilobyte.
    let file = try Data(contentsOf: URL(fileURLWithPath: path))
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    let copy = folder.file("copy.sqlite")
    var most = 0
    for length in stride(from: log.count, through: 0, by: -max(1024, log.count / 40)) {
      try file.write(to: URL(fileURLWithPath: copy))
      try log.prefix(length).write(to: URL(fileURLWithPath: copy + "-wal"))
      let opened = try SQLiteRecordStorage(at: copy)
      let keys = try opened.keys()
      #expect(keys == (0..<keys.count).map { "\(100 + $0)" })
      #expect(try opened.keys(in: .second) == keys)
      most = max(most, keys.count)
      try opened.put("z", [])
      try opened.close()
      for name in [copy, copy + "-wal"] { try? FileManager.default.removeItem(atPath: name) }
    }
    #expect(most == 50)
  }

  @Test("copies the log that a crash left, even if it is opened through a symbolic link")
  func symbolicLink() throws {
    let storage = try SQLiteRecordStorage(at: path)
    try storage.put("a", [1])
    let copy = folder.file("copy.sqlite")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: copy)
    let log = URL(fileURLWithPath: copy + "-wal")
    #expect(try Data(contentsOf: log).count > 4096)
    let opened = try SQLiteRecordStorage(at: link)
    #expect(try Data(contentsOf: log).isEmpty)
    #expect(try opened.keys() == ["a"])
  }

  @Test("reports altered pages with the contract's codes, and never crashes")
  func altered() throws {
    let storage = try SQLiteRecordStorage(at: path)
    for number in 0..<200 { try storage.put("\(number)", [UInt8](repeating: UInt8(number), count: 300)) }
    try storage.close()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var numbers = SeededNumbers(seed: 3)
    for _ in 0..<100 {
      var altered = whole
      for _ in 0..<4 {
        let page = Int.random(in: 0..<whole.count / 4096, using: &numbers) * 4096
        altered[page + Int.random(in: 0..<64, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
      }
      try altered.write(to: URL(fileURLWithPath: path))
      do {
        let opened = try SQLiteRecordStorage(at: path)
        _ = try opened.keys()
        try opened.put("z", [1])
        try opened.close()
      } catch {
        #expect(error is RecordStorageError, "\(error)")
      }
      for name in try folder.names() { try FileManager.default.removeItem(atPath: folder.file(name)) }
    }
  }

  @Test("stores nothing of a commit on a full disk, and continues when there is space")
  func full() throws {
    let storage = try SQLiteRecordStorage(at: path)
    try storage.put("a", [1])
    try storage.writer.connection.use { try $0.execute("PRAGMA max_page_count = 20") }
    for _ in 0..<2 {
      let code = recordCode {
        try storage.commit([
          .put(.first, key: "a", value: [2]),
          .put(.first, key: "b", value: [UInt8](repeating: 0, count: 200_000)),
        ])
      }
      #expect(code == .full)
      #expect(try storage.records(in: .first, after: nil, limit: 9) == [StoredRecord(key: "a", value: [1])])
    }
    try storage.writer.connection.use { try $0.execute("PRAGMA max_page_count = 10000") }
    try storage.put("b", [UInt8](repeating: 0, count: 200_000))
    #expect(try storage.keys() == ["a", "b"])
  }

  @Test("refuses every call after a failed sync, until it is opened again")
  func failedSync() throws {
    let storage = try SQLiteRecordStorage(at: path)
    try storage.put("a", [1])
    // SQLite's commit hook makes the commit fail, although there is space.
    try storage.writer.connection.use { database in
      _ = unsafe sqlite3_commit_hook(try database.requireHandle(), { _ in 1 }, nil)
    }
    #expect(recordCode { try storage.put("a", [2]) } == .syncFailed)
    #expect(recordCode { try storage.put("a", [3]) } == .syncFailed)
    #expect(recordCode { _ = try storage.value(of: "a", in: .first) } == .syncFailed)
    try storage.close()
    let opened = try SQLiteRecordStorage(at: path)
    #expect(try opened.value(of: "a", in: .first) == [1])
    try opened.put("a", [4])
  }

  @Test("copies its log into the file as it grows")
  func log() throws {
    let storage = try SQLiteRecordStorage(at: path)
    for number in 0..<300 { try storage.put("\(number % 10)", [UInt8](repeating: 7, count: 40_000)) }
    let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
    // 300 × 40 KB were written.
    #expect(size < 6 << 20)
    #expect(try storage.keys().count == 10)
  }
}

/// Reproducible pseudorandom numbers (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
