// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  @testable import ReceiptService
  import Testing

  /// The contract of every database of the service.
  @Suite struct ServiceDatabaseTests {
    private struct Mistake: Error {}

    private static func enter(_ name: String, _ value: DatabaseValue, in session: any DatabaseSession) throws
    {
      try session.run(
        "INSERT INTO blobs VALUES ($1, 'k$1', $2, $2)", .text(name), value)
    }

    /// Runs a test on a database with tables of the tests' own.
    private func withTables(
      on kind: DatabaseKind, _ body: (any ServiceDatabase) async throws -> Void
    ) async throws {
      try await withService(on: kind) { service in
        try await service.database.write { session in
          let bytes = session.dialect.bytes
          try session.run(
            "CREATE TABLE blobs(id TEXT PRIMARY KEY, kind TEXT, body \(bytes) NOT NULL, result \(bytes))")
          try session.run("CREATE TABLE counters(name TEXT PRIMARY KEY, value BIGINT NOT NULL)")
        }
        try await body(service.database)
      }
    }

    @Test("values are read as they were written", arguments: DatabaseKind.all)
    func values(on kind: DatabaseKind) async throws {
      try await withTables(on: kind) { database in
        let texts = ["", "it's $1", "a\0b\0", "\u{FFFF}", "\u{FFFF}0\0\u{FFFF}1", "e\u{301}\0\u{301}", "🧾"]
        let bytes: [[UInt8]] = [[], [0], Array(0...255), Array(repeating: 7, count: 300_000)]
        let numbers: [Int64] = [.min, -1, 0, 1, .max]
        try await database.write { session in
          for (index, text) in texts.enumerated() {
            try Self.enter(text, .bytes(bytes[index % 4]), in: session)
          }
          for number in numbers {
            try session.run("INSERT INTO counters VALUES ($1, $2)", .text("\(number)"), .integer(number))
          }
        }
        try await database.read { session in
          for (index, text) in texts.enumerated() {
            let row = try session.run(
              "SELECT id, body, result, blobs.kind, customer FROM blobs LEFT JOIN ledgers ON name = id WHERE id = $1",
              .text(text))
            #expect(
              row.map(\.values) == [
                [.text(text), .bytes(bytes[index % 4]), .bytes(bytes[index % 4]), "k$1", .null]
              ])
          }
          #expect(
            try session.run("SELECT value FROM counters ORDER BY value").map { $0.integer(0) } == numbers)
          #expect(
            try session.run("SELECT 1, -1, count(*), max(sequence) FROM changes").first?.values == [
              1, -1, 0, .null,
            ])
        }
      }
    }

    @Test("a transaction that fails has no effect, and disturbs no other", arguments: DatabaseKind.all)
    func atomicity(on kind: DatabaseKind) async throws {
      try await withTables(on: kind) { database in
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<40 {
            group.addTask {
              do {
                try await database.write { session in
                  try Self.enter("\(number)", .bytes([1]), in: session)
                  if number.isMultiple(of: 4) { throw Mistake() }
                  // Refused: body is never NULL. What the body makes of it is its own affair.
                  if number % 4 == 1 { try Self.enter("\(number)", .null, in: session) }
                }
                #expect(number % 4 > 1)
              } catch {
                #expect(
                  number % 4 == 0 ? error is Mistake : number % 4 == 1 && error is DatabaseError, "\(error)")
              }
            }
          }
        }
        let count = try await database.read { try $0.run("SELECT count(*) FROM blobs").first?.integer(0) }
        #expect(count == 20)
      }
    }

    @Test("those who lock the same key run one after the other", arguments: DatabaseKind.all)
    func locks(on kind: DatabaseKind) async throws {
      try await withTables(on: kind) { database in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<50 {
            group.addTask {
              try await database.write { session in
                try session.lock("a key")
                let count = try session.run("SELECT value FROM counters WHERE name = 'count'").first?.integer(
                  0)
                if let count {
                  try session.run("UPDATE counters SET value = $1 WHERE name = 'count'", .integer(count + 1))
                } else {
                  try session.run("INSERT INTO counters VALUES ('count', 1)")
                }
              }
            }
          }
          try await group.waitForAll()
        }
        #expect(try await database.read { try $0.run("SELECT value FROM counters").first?.integer(0) } == 50)
      }
    }

    @Test("a reader sees one state, and cannot write", arguments: DatabaseKind.all)
    func snapshots(on kind: DatabaseKind) async throws {
      try await withTables(on: kind) { database in
        let writer = Task {
          for number in 0..<50 {
            try await database.write { session in
              _ = try session.run("INSERT INTO counters VALUES ($1, 0)", .text("\(number)"))
            }
          }
        }
        for _ in 0..<50 {
          try await database.read { session in
            let count = { try session.run("SELECT count(*) FROM counters").first?.integer(0) }
            let first = try count()
            Thread.sleep(forTimeInterval: 0.001)
            #expect(try count() == first)
          }
        }
        try await writer.value
        await #expect(throws: DatabaseError.self) {
          try await database.read { try $0.run("DELETE FROM counters") }
        }
      }
    }
  }
#endif
