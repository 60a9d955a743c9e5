// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  import Logging
  @testable import ReceiptService
  import Synchronization
  import Testing

  @Suite("Probe of writes")
  struct WriteProbeTests {
    private let logger = Logger(label: "test")

    @Test(
      "A database that takes writes is ready, and nothing of the probe stays", arguments: DatabaseKind.all)
    func ready(_ kind: DatabaseKind) async throws {
      let fixture = try ServiceFixture(on: kind)
      #expect(await WriteProbe(fixture.database, nil, logger: logger).failure() == nil)
      let rows = try await fixture.database.read { try $0.run("SELECT count(*) FROM sessions")[0].integer(0) }
      #expect(rows == 0)
      await fixture.remove()
    }

    @Test("A database that can be read and takes no writes is not ready, and is again when it takes them")
    func failing() async throws {
      let fixture = try ServiceFixture()
      let database = FailingDatabase(fixture.database)
      let probe = WriteProbe(database, nil, logger: logger)
      #expect(await probe.failure() == "The database takes no writes now.")
      database.failing.withLock { $0 = 0..<0 }
      // The outcome of an attempt counts for a second.
      while await probe.failure() != nil { try await Task.sleep(for: .milliseconds(50)) }
      await fixture.remove()
    }

    @Test("A database that does not answer keeps nobody waiting")
    func hanging() async throws {
      let fixture = try ServiceFixture()
      let database = HangingDatabase(fixture.database)
      let probe = WriteProbe(database, nil, logger: logger, deadline: .milliseconds(50))
      for _ in 0..<3 {
        #expect(
          await probe.failure()
            == "The database or the audit trail did not answer within \(Duration.milliseconds(50)).")
      }
      // All of them waited for one attempt.
      #expect(database.count.withLock { $0 } == 1)
      database.answer()
      while await probe.failure() != nil { try await Task.sleep(for: .milliseconds(50)) }
      await fixture.remove()
    }

    @Test("A database file that was removed while in use takes no writes")
    func removedFile() async throws {
      let fixture = try ServiceFixture()
      let path = fixture.folder.appending(path: "service.sqlite").path
      try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
      await #expect(throws: DatabaseError.self) {
        try await fixture.database.write { try $0.run("DELETE FROM sessions") }
      }
      #expect(await WriteProbe(fixture.database, nil, logger: logger).failure() != nil)
      try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
      #expect(await WriteProbe(fixture.database, nil, logger: logger).failure() == nil)
      await fixture.remove()
    }
  }

  /// A database whose first write waits until it is told to go on.
  private final class HangingDatabase: ServiceDatabase {
    let count = Mutex(0)
    private let database: any ServiceDatabase
    private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)

    init(_ database: any ServiceDatabase) { self.database = database }

    func answer() { waiting.withLock { $0.take() }?.resume() }

    func write<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result {
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      if isFirst { await withCheckedContinuation { continuation in waiting.withLock { $0 = continuation } } }
      return try await database.write(body)
    }

    func read<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result { try await database.read(body) }

    func scrub(_ tables: Set<String>) async throws { try await database.scrub(tables) }

    func close() async {}
  }
#endif
