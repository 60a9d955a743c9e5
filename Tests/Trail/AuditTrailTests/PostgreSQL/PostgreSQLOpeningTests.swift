// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import AuditTrail
  import Foundation

  import Testing
  import TransparencyLog

  @testable import AuditTrailPostgreSQL
  @testable import PostgreSQL

  @Suite("PostgreSQL opening", .enabled(if: PostgreSQLServer.isPresent, PostgreSQLServer.absence))
  struct PostgreSQLOpeningTests {
    let server: PostgreSQLServer

    init() throws { server = try PostgreSQLServer.shared.get() }

    @Test func opensOnlyWhatIsATrail() throws {
      let url = server.url()
      #expect(try failure { try PostgreSQLStorage(openingAt: url) }.code == .notFound)
      let storage = try PostgreSQLStorage(creatingAt: url)
      #expect(try failure { try PostgreSQLStorage(creatingAt: url) }.code == .notATrail)
      _ = try PostgreSQLStorage(openingAt: url)
      let connection = try server.connection(to: storage)
      try connection.execute("UPDATE \(storage.schema).trail SET format = 3")
      #expect(try failure { try PostgreSQLStorage(openingAt: url) }.code == .unsupported)
      try connection.execute("DROP TABLE \(storage.schema).trail")
      #expect(try failure { try PostgreSQLStorage(openingAt: url) }.code == .notATrail)
      #expect(try failure { try PostgreSQLStorage(creatingAt: url) }.code == .notATrail)
      #expect(try failure { try storage.write { try $0.put(.head, 0, [1]) } }.code == .notATrail)
    }

    @Test func createsInASchemaThatIsThereAndEmpty() throws {
      let url = server.url(schema: "prepared")
      let connection = try ServerConnection(
        ServerLocation(url, schema: nil, defaultSchema: "x", orThrow: StorageError.self))
      try connection.execute("CREATE SCHEMA prepared")
      #expect(try failure { try PostgreSQLStorage(openingAt: url) }.code == .notFound)
      let storage = try PostgreSQLStorage(creatingAt: url)
      #expect(try storage.byteCount() >= 8 * 8192)
      try storage.close()
      #expect(try failure { try storage.read { try $0.value(.head, 0) } }.code == .closed)
      #expect(try failure { try storage.write { try $0.put(.head, 0, []) } }.code == .closed)
      #expect(try failure { try storage.scrub() }.code == .closed)
      #expect(try failure { try storage.byteCount() }.code == .closed)
    }

    /// Only one of several that create a trail at once does.
    @Test func isCreatedOnce() async throws {
      let url = server.url()
      let created = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<4 { group.addTask { (try? PostgreSQLStorage(creatingAt: url)) != nil } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(created == 1)
      _ = try PostgreSQLStorage(openingAt: url)
    }

    /// A role that may only select reads, proves and checks everything, and writes nothing.
    @Test func aRoleThatMayOnlyReadReadsEverything() async throws {
      let url = server.url()
      let fixture = try TrailFixture(storage: PostgreSQLStorage(creatingAt: url))
      let log = try fixture.create()
      try await log.append((0..<600).map { TrailFixture.record($0, token: "customer \($0 % 3)") })
      try await log.erase(entry: 4)
      try log.publishCheckpoint()
      let schema = (fixture.storage as? PostgreSQLStorage)?.schema ?? ""
      let role = "reader_\(schema)"
      let connection = try ServerConnection(
        ServerLocation(url, schema: nil, defaultSchema: "x", orThrow: StorageError.self))
      try connection.execute(
        """
        CREATE ROLE \(role) LOGIN;
        GRANT USAGE ON SCHEMA \(schema) TO \(role);
        GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role);
        """)
      let storage = try PostgreSQLStorage(openingAt: url + "&user=\(role)")
      let reading = try AuditLog.open(
        storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints)
      #expect(try reading.withView { try $0.history(original: "1003").count } == 60)
      #expect(try reading.withView { try $0.entries(customer: "customer 1").count } == 199)
      #expect(try reading.withView { try $0.proof(of: 599).index } == 599)
      let checker = TrailChecker(
        storage: storage, verifier: fixture.signer.verifierKey, checkpoints: fixture.checkpoints)
      #expect(try checker.check().faults == [])
      // With the private key too.
      let writing = try AuditLog.open(
        PostgreSQLStorage(openingAt: url + "&user=\(role)"), verifier: fixture.signer.verifierKey,
        signer: fixture.signer, checkpoints: fixture.checkpoints, options: fixture.options)
      await #expect(throws: AuditError.self) { try await writing.append(TrailFixture.record(1000)) }
      #expect(try reading.withView { $0.size } == 601)
    }

    @Test func takesTheSchemaFromTheOptionsThenFromTheURL() throws {
      let url = "postgresql://user@host:5433/database?schema=one&sslmode=require"
      let location = try ServerLocation(url, schema: nil, defaultSchema: "x", orThrow: StorageError.self)
      #expect(location.connectionURL == "postgresql://user@host:5433/database?sslmode=require")
      #expect(location.description == "postgresql://host:5433/database?schema=one")
      #expect(
        try ServerLocation(url, schema: "two", defaultSchema: "x", orThrow: StorageError.self).schema == "two"
      )
      let bare = try ServerLocation(
        "postgres://host?schema=one", schema: nil, defaultSchema: "x", orThrow: StorageError.self)
      #expect(bare.connectionURL == "postgres://host")
      #expect(
        try ServerLocation("postgresql:///", schema: nil, defaultSchema: "x", orThrow: StorageError.self)
          .schema == "x")
    }

    @Test(arguments: [
      "", "A", "a b", "a;b", "a\"b", "1a", "pg_toast", "\u{e4}", String(repeating: "a", count: 64),
    ])
    func refusesSchemasThatWouldNeedQuoting(_ schema: String) throws {
      let fault = try failure {
        try ServerLocation("postgresql:///", schema: schema, defaultSchema: "x", orThrow: StorageError.self)
      }
      #expect(fault.code == .unsupported)
      #expect(fault.place == "schema")
    }

    @Test(arguments: [
      "postgresql://user:hush@nowhere.invalid/db", "postgresql://user:hush@[::1:2/db",
      "postgresql://u:hush@:x/db",
      "postgresql://user:hu/sh@nowhere.invalid/db", "postgresql://user:hu@sh@nowhere.invalid/db",
      "postgresql://user:hush%zz@nowhere.invalid/db", "postgresql://nowhere.invalid/db?password=hush&x=y",
      "postgresql://nowhere.invalid/db?password=hush", "mysql://user:hush@nowhere.invalid/db",
      "postgresql://user:sh@nowhere.invalid/sh?sslmode=hu&hush", "host=nowhere.invalid password=hush",
    ])
    func neverSaysThePassword(_ url: String) throws {
      let fault = try failure { try PostgreSQLStorage(openingAt: url) }
      #expect(!fault.description.contains("hush"))
      #expect(!fault.message.contains("sh@"))
      if let location = try? ServerLocation(url, schema: nil, defaultSchema: "x", orThrow: StorageError.self)
      {
        var dumped = "\(location)"
        dump(location, to: &dumped)
        #expect(!dumped.contains("hush"))
      }
    }

    /// No file of the database's tables has the erased bytes.
    @Test func scrubsWhatWasErased() throws {
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      let secrets = (0..<4).map { number in (0..<48).map { UInt8(0x80 + $0 + number) } }
      let long = secrets[0] + [UInt8](repeating: 1, count: 20_000)
      try storage.write { writer in
        try writer.put(.bundles, 0, long)
        try writer.put(.payloads, 0, secrets[1])
        try writer.put(.tail, 0, secrets[2])
        try writer.put(.notes, 0, secrets[3])
      }
      let connection = try server.connection(to: storage)
      try connection.execute("CHECKPOINT")
      #expect(try secrets.map(isInAFile) == [true, true, true, true])
      try storage.write { writer in
        try writer.overwrite(.bundles, 0, at: 0, with: [UInt8](repeating: 0, count: 48))
        try writer.remove(.payloads, in: 0...0, erasing: true)
        try writer.remove(.tail, in: 0...0, erasing: true)
      }
      try storage.scrub()
      #expect(try secrets.map(isInAFile) == [false, false, false, true])
      #expect(
        try storage.read { try $0.value(.bundles, 0, bytes: 40..<50) } == [0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
      #expect(try connection.execute("SELECT count(*) FROM \(storage.schema).erasures").text(0, 0) == "0")
      try storage.scrub()
    }

    private func isInAFile(_ secret: [UInt8]) throws -> Bool {
      let base = URL(fileURLWithPath: "\(server.folder)/data/base")
      let files = try #require(FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil))
      for case let file as URL in files {
        // Files come and go.
        if let contents = try? Data(contentsOf: file), contents.range(of: Data(secret)) != nil { return true }
      }
      return false
    }
  }
#endif
