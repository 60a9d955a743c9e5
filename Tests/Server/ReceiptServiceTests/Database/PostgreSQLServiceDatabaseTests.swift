// SPDX-License-Identifier: Apache-2.0

#if Server && PostgreSQL
  import Foundation
  import PostgreSQL
  @testable import ReceiptService
  import Synchronization
  import Testing

  /// The parts specific to PostgreSQL: lost connections, deadlocks, several processes.
  @Suite(.enabled(if: TemporaryPostgreSQL.isPresent), .timeLimit(.minutes(2)))
  struct PostgreSQLServiceDatabaseTests {
    private let server: TemporaryPostgreSQL

    init() throws { server = try TemporaryPostgreSQL.shared.get() }

    private func failure(_ body: () async throws -> Void) async throws -> DatabaseError {
      try await #require(throws: DatabaseError.self) { try await body() }
    }

    /// A database with a table of the tests' own.
    private func counting(_ url: String, connections: Int) async throws -> PostgreSQLServiceDatabase {
      let database = try PostgreSQLServiceDatabase(url, maximumConnections: connections)
      try await database.write {
        _ = try $0.run("CREATE TABLE counters(name TEXT PRIMARY KEY, value BIGINT NOT NULL)")
      }
      return database
    }

    @Test func isMadeOnceByFourThatOpenItAtOnce() async throws {
      let url = server.url()
      let databases = try await withThrowingTaskGroup(of: PostgreSQLServiceDatabase.self) { group in
        for _ in 0..<4 { group.addTask { try PostgreSQLServiceDatabase(url, maximumConnections: 1) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      for database in databases {
        #expect(
          try await database.read { try $0.run("SELECT version FROM layout").map(\.values) }
            == [[.integer(ServiceSchema.version)]])
        await database.close()
      }
    }

    @Test func refusesWhatIsNotItsOwn() async throws {
      let later = server.url()
      await (try PostgreSQLServiceDatabase(later, maximumConnections: 1)).close()
      try server.connection(later).execute("UPDATE layout SET version = 99")
      #expect(try await failure { _ = try PostgreSQLServiceDatabase(later) }.code == .unusable)
      let foreign = server.url(schema: "foreign_tables")
      try server.connection(foreign).execute(
        "CREATE SCHEMA foreign_tables; CREATE TABLE foreign_tables.t(a int)")
      #expect(try await failure { _ = try PostgreSQLServiceDatabase(foreign) }.code == .unusable)
      for url in [
        "postgresql://u:secret@127.0.0.1:1/db", "postgresql://u:sec/ret@h/db",
        "postgresql://u:secret@h/db?nonsense=1",
      ] {
        let error = try await failure { _ = try PostgreSQLServiceDatabase(url) }
        #expect(error.code == (url.contains(":1/") ? .unavailable : .unusable))
        #expect(!error.description.contains("sec"))
      }
    }

    @Test func runsAgainWhatWasLostBeforeTheCommit() async throws {
      let url = server.url()
      let database = try await counting(url, connections: 1)
      let runs = Mutex(0)
      try await database.write { session in
        try session.run("INSERT INTO counters VALUES ('a', 1)")
        let isFirst = runs.withLock { runs in
          runs += 1
          return runs == 1
        }
        if isFirst { try session.run("SELECT pg_terminate_backend(pg_backend_pid())") }
      }
      #expect(runs.withLock { $0 } == 2)
      #expect(try await database.read { try $0.run("SELECT count(*) FROM counters").first?.values } == [1])
      await database.close()
      #expect(try await failure { _ = try await database.read { _ in } }.code == .unavailable)
    }

    @Test func doesNotRunAgainWhatWasLostDuringTheCommit() async throws {
      let url = server.url()
      let database = try await counting(url, connections: 1)
      try server.connection(url).execute(
        """
        CREATE FUNCTION ended() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER ending AFTER INSERT ON counters DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ended();
        """)
      let runs = Mutex(0)
      let error = try await failure {
        try await database.write { session in
          runs.withLock { $0 += 1 }
          try session.run("INSERT INTO counters VALUES ('a', 1)")
        }
      }
      #expect(error.code == .unavailable)
      #expect(error.message.contains("not known"))
      #expect(runs.withLock { $0 } == 1)
      // The next one has a new connection.
      #expect(try await database.read { try $0.run("SELECT 1").count } == 1)
      await database.close()
    }

    @Test func runsAgainAfterADeadlock() async throws {
      let database = try await counting(server.url(), connections: 2)
      try await database.write { session in
        for name in ["a", "b"] { try session.run("INSERT INTO counters VALUES ($1, 0)", .text(name)) }
      }
      let runs = Mutex(0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for names in [["a", "b"], ["b", "a"]] {
          group.addTask { @Sendable in
            try await database.write { session in
              let isFirst = runs.withLock { runs in
                runs += 1
                return runs <= 2
              }
              for name in names {
                try session.run("UPDATE counters SET value = value + 1 WHERE name = $1", .text(name))
                // Until both have their first.
                if isFirst { Thread.sleep(forTimeInterval: 0.3) }
              }
            }
          }
        }
        try await group.waitForAll()
      }
      // The one that lost may be in the way again before the other one wakes up.
      #expect(runs.withLock { $0 } >= 3)
      #expect(
        try await database.read { try $0.run("SELECT value FROM counters").map(\.values) } == [[2], [2]])
      await database.close()
    }

    @Test func doesNotCommitOverAFault() async throws {
      let database = try await counting(server.url(), connections: 1)
      _ = try await failure {
        try await database.write { session in
          try session.run("INSERT INTO counters VALUES ('a', 0)")
          _ = try? session.run("INSERT INTO counters VALUES ('a', 0)")
        }
      }
      #expect(try await database.read { try $0.run("SELECT 1 FROM counters").isEmpty })
      await database.close()
    }

    @Test func queuesWhereTheRoleHasFewConnections() async throws {
      let role = "few\(UUID().uuidString.lowercased().filter { $0 != "-" })"
      try server.connection(server.url()).execute(
        "CREATE ROLE \(role) LOGIN CONNECTION LIMIT 2; GRANT CREATE ON DATABASE postgres TO \(role)")
      let database = try await counting(server.url(user: role), connections: 8)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            try await database.write { session in
              try session.run("INSERT INTO counters VALUES ($1, 0)", .text("\(number)"))
              if number < 50 { try session.run("SELECT pg_sleep(0.01)") }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await database.read { try $0.run("SELECT count(*) FROM counters").first?.values } == [200])
      await database.close()
    }

    @Test func failsAllThatWaitWhereTheServerIsGone() async throws {
      let other = try TemporaryPostgreSQL()
      let database = try await counting(other.url(), connections: 4)
      other.stop()
      let failures = await withTaskGroup(of: DatabaseError?.self) { group in
        for _ in 0..<40 {
          group.addTask {
            do {
              try await database.write { _ = try $0.run("INSERT INTO counters VALUES ('a', 0)") }
              return nil
            } catch {
              return error as? DatabaseError
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1?.code) }
      }
      #expect(failures == Array(repeating: .unavailable, count: 40))
      await database.close()
    }

    @Test func givesUpAServerThatHangs() async throws {
      let url = server.url()
      await (try await counting(url, connections: 1)).close()
      let database = try PostgreSQLServiceDatabase(
        url, maximumConnections: 1, answerLimit: .seconds(10))
      let process = pid_t(
        try await database.read { try $0.run("SELECT pg_backend_pid()").first?.integer(0) } ?? 0)
      try #require(process > 1 && kill(process, SIGSTOP) == 0)
      defer { kill(process, SIGCONT) }
      let error = try await failure {
        try await database.write { _ = try $0.run("INSERT INTO counters VALUES ('a', 0)") }
      }
      #expect(error.code == .unavailable)
      #expect(error.message.contains("did not answer"))
      // The next one has another connection.
      #expect(try await database.read { try $0.run("SELECT 1 FROM counters").isEmpty })
      await database.close()
    }

    @Test func closesWhenWhatIsUnderWayIsDone() async throws {
      let url = server.url()
      let database = try await counting(url, connections: 2)
      let writes = (0..<20).map { number in
        Task {
          try await database.write { session in
            try session.run("INSERT INTO counters VALUES ($1, 0)", .text("\(number)"))
            try session.run("SELECT pg_sleep(0.01)")
          }
        }
      }
      try await Task.sleep(for: .milliseconds(50))
      await database.close()
      var count = 0
      for write in writes {
        do {
          try await write.value
          count += 1
        } catch {
          #expect((error as? DatabaseError)?.code == .unavailable)
        }
      }
      #expect(try server.connection(url).execute("SELECT count(*) FROM counters").text(0, 0) == "\(count)")
    }
  }
#endif
