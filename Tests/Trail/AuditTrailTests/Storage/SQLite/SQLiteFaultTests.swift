// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Foundation
import SQLite
import Testing

@testable import AuditTrailSQLite

@Suite("SQLite storage: faults")
struct SQLiteFaultTests {
  let folder: StorageFolder
  let path: String

  init() throws {
    folder = try StorageFolder()
    path = folder.file("trail.sqlite")
  }

  @Test(
    "gives SQLite's result codes as those of the contract",
    arguments: [
      // SQLITE_FULL; SQLITE_BUSY, _RECOVERY, _SNAPSHOT; SQLITE_LOCKED
      (13, .full), (5, .busy), (261, .busy), (517, .busy), (6, .busy),
      // SQLITE_IOERR, _READ, _SHORT_READ, _WRITE; _FSYNC, _DIR_FSYNC; _CORRUPTFS
      (10, .inputOutput), (266, .inputOutput), (522, .inputOutput), (778, .inputOutput),
      (1034, .syncFailed), (1290, .syncFailed), (8458, .corrupt),
      // SQLITE_CORRUPT, _SEQUENCE; SQLITE_NOTADB; SQLITE_ERROR
      (11, .corrupt), (267, .corrupt), (26, .corrupt), (1, .corrupt),
      // SQLITE_CANTOPEN; SQLITE_READONLY, _DBMOVED; SQLITE_NOMEM; SQLITE_TOOBIG
      (14, .inputOutput), (8, .inputOutput), (1032, .inputOutput), (7, .inputOutput), (18, .unsupported),
    ] as [(Int32, StorageError.Code)])
  func codes(result: Int32, code: StorageError.Code) {
    let error = StorageError(SQLiteError(result: result, "what happened", at: "here"))
    #expect(error.code == code)
    #expect(error.place == "here")
    #expect(error.message.hasPrefix("SQLite: what happened (\(result)). "))
    #expect(SQLiteError(result: result, "", at: "").message.count > 20)
  }

  @Test("stores nothing of a write that finds the disk full, and goes on when there is space")
  func full() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    try storage.put(.head, 0, [1])
    try setMaximumPageCount(40, of: storage)
    for caught in [false, true] {
      let code = storageCode {
        try storage.write { (writer) throws in
          try writer.put(.head, 0, [2])
          if caught {
            try? writer.put(.bundles, 0, sampleBytes(2_000_000))
            // SQLite has rolled back of itself: this would be a transaction of its own.
            #expect(storageCode { try writer.put(.head, 1, [3]) } == .full)
          } else {
            try writer.put(.bundles, 0, sampleBytes(2_000_000))
          }
        }
      }
      #expect(code == .full)
      #expect(try storage.keys(.head) == [0])
      #expect(try storage.stored(.head, 0) == [1])
    }
    try setMaximumPageCount(1_000_000, of: storage)
    try storage.put(.bundles, 0, sampleBytes(2_000_000))
    #expect(try storage.stored(.bundles, 0) == sampleBytes(2_000_000))
  }

  @Test("writes nothing after a failed sync until it is opened anew")
  func failedSync() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    try storage.put(.head, 0, [1])
    // A closure of a caller has the same effect as a commit that fails.
    let fault = StorageError(SQLiteError(result: 1034, "disk I/O error", at: path))
    #expect(storageCode { try storage.write { _ in throw fault } } == .syncFailed)
    for _ in 0..<2 { #expect(storageCode { try storage.put(.head, 0, [2]) } == .syncFailed) }
    #expect(storageCode { try storage.scrub() } == .syncFailed)
    #expect(try storage.stored(.head, 0) == [1])
    let opened = try SQLiteStorage(openingAt: path)
    try opened.put(.head, 0, [3])
    #expect(try storage.stored(.head, 0) == [3])
    #expect(storageCode { try storage.put(.head, 0, [2]) } == .syncFailed)
  }

  @Test("keeps a page that was altered from being taken for another")
  func alteredPages() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    let values = (0..<8).map { sampleBytes(50_000, seed: UInt64($0)) }
    try storage.write { (writer) throws in
      for key in 0..<8 { try writer.put(.bundles, Int64(key), values[key]) }
    }
    try storage.close()
    let whole = try folder.bytes("trail.sqlite")
    var random = SampleNumbers(seed: 4)
    // Wrong bytes in values are for those above to find. Here: no crash, and no error out of the contract.
    for _ in 0..<200 {
      var altered = whole
      for _ in 0..<4 {
        let page = Int.random(in: 0..<whole.count / 16384, using: &random) * 16384
        altered[page + Int.random(in: 0..<64, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      try Data(altered).write(to: URL(fileURLWithPath: path))
      do {
        let storage = try SQLiteStorage(openingAt: path)
        for table in StorageTable.allCases { _ = try storage.keys(table) }
        for key in 0..<8 { _ = try storage.stored(.bundles, Int64(key)) }
        try storage.put(.head, 0, [1])
        try storage.close()
      } catch {
        #expect(error is StorageError, "\(error)")
      }
      for name in try folder.names() { try FileManager.default.removeItem(atPath: folder.file(name)) }
    }
  }

  private func setMaximumPageCount(_ count: Int, of storage: SQLiteStorage) throws {
    try storage.writer?.connection.use { try $0.execute("PRAGMA max_page_count = \(count)") }
  }
}
