// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import AuditTrail
  import Foundation
  import PostgreSQL
  import Testing

  @testable import AuditTrailPostgreSQL

  @Suite("PostgreSQL faults", .enabled(if: PostgreSQLServer.isPresent, PostgreSQLServer.absence))
  struct PostgreSQLFaultTests {
    let server: PostgreSQLServer

    init() throws { server = try PostgreSQLServer.shared.get() }

    @Test func saysThatACommitMayHaveTakenPlaceWhenTheConnectionWasLostInIt() throws {
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      try storage.write { try $0.put(.head, 0, [1]) }
      let connection = try server.connection(to: storage)
      try connection.execute(atCommit(of: storage, "PERFORM pg_terminate_backend(pg_backend_pid())"))
      let fault = try failure { try storage.write { try $0.put(.head, 0, [2]) } }
      #expect(fault.code == .unavailable)
      #expect(fault.message.hasPrefix("The connection was lost during a commit; it is not known"))
      // A new connection would refuse the schema with the trigger.
      try connection.execute("DROP TRIGGER at_commit ON \(storage.schema).head")
      #expect(try storage.read { try $0.value(.head, 0) } == [1])
      try storage.write { try $0.put(.head, 0, [3]) }
      #expect(try storage.read { try $0.value(.head, 0) } == [3])
    }

    /// The storage reports the server's fault, whenever the server raises it, and then goes on.
    @Test(arguments: [
      ("53100", StorageError.Code.full), ("40001", .busy), ("57P01", .unavailable), ("58030", .inputOutput),
      ("XX001", .corrupt),
    ])
    func namesTheFaultAndStoresNothing(_ sqlState: String, _ code: StorageError.Code) throws {
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      let connection = try server.connection(to: storage)
      let raising = "RAISE EXCEPTION USING ERRCODE = '\(sqlState)', MESSAGE = 'so it is'"
      try connection.execute(atCommit(of: storage, raising))
      let atCommit = try failure { try storage.write { try $0.put(.head, 0, [1]) } }
      #expect(atCommit.code == code)
      #expect(atCommit.place == storage.description)
      #expect(atCommit.message.contains("so it is (SQLSTATE \(sqlState))"))
      try connection.execute(
        """
        DROP TRIGGER at_commit ON \(storage.schema).head;
        CREATE TRIGGER at_once BEFORE INSERT ON \(storage.schema).head
          FOR EACH ROW EXECUTE FUNCTION \(storage.schema).fault();
        """)
      let before = try failure {
        try storage.write { writer in
          for key in 0..<1500 as Range<Int64> { try writer.put(.tail, key, [1]) }
          try writer.put(.head, 0, [1])
          for key in 0..<1500 as Range<Int64> { try writer.put(.tail, key, [2]) }
        }
      }
      #expect(before.code == code)
      try connection.execute("DROP TRIGGER at_once ON \(storage.schema).head")
      #expect(try storage.read { try $0.value(.head, 0) } == nil)
      #expect(try storage.read { try $0.lastKey(.tail, in: 0 ... .max) } == nil)
      try storage.write { try $0.put(.head, 0, [4]) }
      #expect(try storage.read { try $0.value(.head, 0) } == [4])
    }

    @Test func connectsAnewToAServerThatWasStartedAnew() throws {
      let own = try PostgreSQLServer()
      defer { own.stop() }
      let storage = try PostgreSQLStorage(creatingAt: own.url())
      let checkpoints = try PostgreSQLCheckpointStore(own.url(schema: "checkpoints"), name: "a")
      try storage.write { try $0.put(.head, 0, [1]) }
      #expect(try checkpoints.replace(nil, with: [1]))
      try own.restart()
      #expect(try storage.read { try $0.value(.head, 0) } == [1])
      #expect(try checkpoints.load() == [1])
      try storage.write { try $0.put(.head, 0, [2]) }
      // In the middle of a write and of a read.
      let lost = try failure {
        try storage.write { writer in
          try writer.put(.head, 0, [3])
          try own.restart()
        }
      }
      #expect(lost.code == .unavailable)
      #expect(try storage.read { try $0.value(.head, 0) } == [2])
      own.stop()
      #expect(try failure { try storage.read { try $0.value(.head, 0) } }.code == .unavailable)
      #expect(try failure { try storage.write { try $0.put(.head, 0, [4]) } }.code == .unavailable)
    }

    @Test func refusesAServerThatDoesNotSync() throws {
      let own = try PostgreSQLServer(fsync: false)
      defer { own.stop() }
      #expect(try failure { try PostgreSQLStorage(creatingAt: own.url()) }.code == .unsupported)
      #expect(try failure { try PostgreSQLCheckpointStore(own.url(), name: "a") }.code == .unsupported)
      let options = PostgreSQLOptions(allowsServerWithoutFsync: true)
      let storage = try PostgreSQLStorage(creatingAt: own.url(), options: options)
      try storage.write { try $0.put(.head, 0, [1]) }
    }

    @Test func syncsWhateverTheDefaultIs() throws {
      let careless = server.url(schema: "careless") + "&options=-csynchronous_commit%3Doff"
      let location = try ServerLocation(
        careless, schema: nil, defaultSchema: "x", orThrow: StorageError.self)
      let other = try ServerConnection<StorageError>(location)
      #expect(try other.execute("SHOW synchronous_commit").text(0, 0) == "off")
      let connection = try ServerConnection<StorageError>.open(location, PostgreSQLOptions())
      #expect(try connection.execute("SHOW synchronous_commit").text(0, 0) == "on")
    }

    private func atCommit(of storage: PostgreSQLStorage, _ statement: String) -> String {
      """
      CREATE FUNCTION \(storage.schema).fault() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN \(statement); RETURN NEW; END$$;
      CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT OR UPDATE ON \(storage.schema).head
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION \(storage.schema).fault();
      """
    }
  }
#endif
