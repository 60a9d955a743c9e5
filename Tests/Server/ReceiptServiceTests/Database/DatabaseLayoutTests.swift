// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  @testable import ReceiptService
  @testable import SQLite
  import Testing

  #if PostgreSQL
    import PostgreSQL
  #endif

  /// Objects that somebody who can write to the database adds to its schema, files after a failed sync or a crash, and
  /// upgrades of earlier layouts.
  @Suite(.timeLimit(.minutes(2)))
  struct DatabaseLayoutTests {
    private func withFile(_ body: (String) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "layout-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try await body(folder.appending(path: "service.sqlite").path)
    }

    private func run(_ sql: String, on path: String) throws {
      let connection = try Connection(
        DatabaseFile(path), .writing, timeout: BusyTimeout(.seconds(10)), pragmas: "")
      try connection.use { try $0.execute(sql) }
      try connection.close()
    }

    private func expectRefusal(_ name: String, _ open: () async throws -> Void) async {
      let error = await #expect(throws: DatabaseError.self) { try await open() }
      #expect(error?.code == .unusable)
      #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("estore a backup") == true)
    }

    @Test(arguments: [
      ("CREATE TRIGGER copies AFTER DELETE ON ledgers BEGIN SELECT 1; END", "trigger copies of ledgers"),
      ("CREATE VIEW seen AS SELECT * FROM ledgers", "view seen"),
      ("CREATE INDEX copied ON ledgers(ledger)", "index copied of ledgers"),
      ("DROP INDEX ledgers_customer", "index ledgers_customer of ledgers"),
      ("ALTER TABLE ledgers ADD COLUMN copy BLOB", "table ledgers"),
      ("CREATE TABLE more(key BLOB)", "table more"), ("DROP TABLE lanes", "lanes"),
      ("ALTER TABLE changes RENAME TO kept", "table kept"),
    ])
    func aFileWithOtherObjectsIsRefusedByName(_ sql: String, _ name: String) async throws {
      try await withFile { path in
        let database = try SQLiteServiceDatabase(at: path)
        try run(sql, on: path)
        await expectRefusal(name) { try await database.scrub(ServiceSchema.personalTables) }
        await expectRefusal(name) { _ = try SQLiteServiceDatabase(at: path) }
        await database.close()
      }
    }

    /// The system may have dropped what it could not sync, and would report success to the next attempt.
    @Test func nothingIsWrittenAfterASyncThatFailed() async throws {
      try await withFile { path in
        let database = try SQLiteServiceDatabase(at: path)
        let insertion = "INSERT INTO notifications VALUES ('app', x'01', 1)"
        await #expect(throws: DatabaseError.self) {
          try await database.write { _ -> Int in throw SQLiteError(result: 1034, "disk I/O error", at: path) }
        }
        for _ in 0..<2 {
          let error = await #expect(throws: DatabaseError.self) {
            try await database.write { _ = try $0.run(insertion) }
          }
          #expect(error?.code == .unavailable)
          #expect(error?.message.contains("restart the server") == true)
        }
        await #expect(throws: DatabaseError.self) { try await database.scrub(ServiceSchema.personalTables) }
        #expect(try await database.read { try $0.run("SELECT * FROM notifications").count } == 0)
        await database.close()
        let restarted = try SQLiteServiceDatabase(at: path)
        try await restarted.write { _ = try $0.run(insertion) }
        #expect(try await restarted.read { try $0.run("SELECT * FROM notifications").count } == 1)
        await restarted.close()
      }
    }

    /// A process that saw a sync fail may have left a log that is in memory and not on disk.
    @Test func theLogThatACrashLeftIsCopiedIntoTheFile() async throws {
      try await withFile { path in
        let database = try SQLiteServiceDatabase(at: path)
        try await database.write { _ = try $0.run("INSERT INTO notifications VALUES ('app', x'01', 1)") }
        let copy = path + ".copy"
        for suffix in ["", "-wal"] {
          try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        await database.close()
        let log = URL(fileURLWithPath: copy + "-wal")
        #expect(try !Data(contentsOf: log).isEmpty)
        let opened = try SQLiteServiceDatabase(at: copy)
        #expect(try Data(contentsOf: log).isEmpty)
        #expect(try await opened.read { try $0.run("SELECT * FROM notifications").count } == 1)
        await opened.close()
      }
    }

    /// Each version leads to the same schema as making it anew, and nothing may be added to any.
    @Test(arguments: 0..<ServiceSchema.version)
    func filesOfEarlierLayoutsAreUpgraded(_ version: Int64) async throws {
      let applicationID: Int64 = 0x524B_5356
      func make(_ path: String) throws {
        try DatabaseFile(path).create { file in
          let connection = try Connection(file, .writing, timeout: BusyTimeout(.zero), pragmas: "")
          try connection.use { database in
            try database.execute("PRAGMA journal_mode = WAL")
            try database.transaction {
              try ServiceSchema.layout(applicationID: applicationID, version: version).make(in: database)
            }
          }
          try connection.close()
        }
      }
      try await withFile { path in
        try make(path)
        for _ in 0..<2 {
          let database = try SQLiteServiceDatabase(at: path)
          #expect(
            try await database.read { try $0.run("PRAGMA user_version").map(\.values) }
              == [[.integer(ServiceSchema.version)]])
          try await database.scrub(ServiceSchema.personalTables)
          await database.close()
        }
      }
      try await withFile { path in
        try make(path)
        try run("CREATE VIEW seen AS SELECT 1", on: path)
        await expectRefusal("view seen") { _ = try SQLiteServiceDatabase(at: path) }
      }
    }

    #if PostgreSQL
      @Test(
        .enabled(if: TemporaryPostgreSQL.isPresent),
        arguments: [
          (
            """
            CREATE FUNCTION copy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END';
            CREATE TRIGGER copies AFTER DELETE ON ledgers FOR EACH ROW EXECUTE FUNCTION copy()
            """, "trigger copies of ledgers"
          ),
          ("CREATE RULE keeps AS ON DELETE TO ledgers DO INSTEAD NOTHING", "rule keeps of ledgers"),
          ("ALTER TABLE changes FORCE ROW LEVEL SECURITY", "table changes"),
          ("CREATE POLICY hides ON changes USING (true)", "row policy hides of changes"),
          ("ALTER TABLE ledgers ADD COLUMN copy bytea", "column copy of ledgers"),
          ("ALTER TABLE ledgers ALTER COLUMN reconcile SET DEFAULT 0", "column reconcile of ledgers"),
          ("CREATE INDEX copied ON ledgers (ledger)", "index copied of ledgers"),
          (
            "DROP INDEX ledgers_customer; CREATE INDEX ledgers_customer ON ledgers (app, ledger)",
            "index ledgers_customer"
          ),
          ("DROP INDEX changes_time", "index changes_time of changes"),
          ("ALTER TABLE changes DROP CONSTRAINT changes_id_key", "index changes_id_key of changes"),
          ("DROP TABLE lanes", "lanes"), ("CREATE TABLE more () INHERITS (ledgers)", "inheriting table"),
          ("CREATE FUNCTION count(text) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'", "function count"),
        ])
      func aSchemaToWhichSomethingIsAttachedIsRefusedByName(_ sql: String, _ name: String) async throws {
        let server = try TemporaryPostgreSQL.shared.get()
        let url = server.url()
        let database = try PostgreSQLServiceDatabase(url, maximumConnections: 1)
        await (try PostgreSQLServiceDatabase(url, maximumConnections: 1)).close()
        let connection = try server.connection(url)
        try connection.execute(sql)
        await expectRefusal(name) { try await database.scrub(ServiceSchema.personalTables) }
        await expectRefusal(name) { _ = try PostgreSQLServiceDatabase(url, maximumConnections: 1) }
        await database.close()
      }

      /// The tables that upgrading makes are those that are expected, from each version on.
      @Test(.enabled(if: TemporaryPostgreSQL.isPresent), arguments: 1..<ServiceSchema.version)
      func schemasOfEarlierLayoutsAreUpgraded(_ version: Int64) async throws {
        let server = try TemporaryPostgreSQL.shared.get()
        let url = server.url()
        let connection = try server.connection(url)
        try connection.execute("CREATE SCHEMA \(connection.location.schema)")
        for statement in ServiceSchema.statements(of: version, .postgreSQL) {
          try connection.execute(statement)
        }
        try connection.execute(
          "CREATE TABLE layout(version BIGINT NOT NULL); INSERT INTO layout VALUES (\(version))")
        for _ in 0..<2 { await (try PostgreSQLServiceDatabase(url, maximumConnections: 1)).close() }
        #expect(try connection.execute("SELECT version FROM layout").text(0, 0) == "\(ServiceSchema.version)")
      }
    #endif
  }
#endif
