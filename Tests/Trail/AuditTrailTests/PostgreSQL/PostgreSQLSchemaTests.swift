// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import AuditTrail
  import Foundation
  import Testing

  @testable import AuditTrailPostgreSQL
  @testable import PostgreSQL

  /// The objects that the owner of the schema may attach to the tables of a trail, without the key.
  @Suite(
    "The schema of a trail in PostgreSQL", .enabled(if: PostgreSQLServer.isPresent, PostgreSQLServer.absence))
  struct PostgreSQLSchemaTests {
    let server: PostgreSQLServer

    init() throws { server = try PostgreSQLServer.shared.get() }

    /// One of each kind; `S` is the schema. With the object that an error must name.
    static let planted: [(sql: String, name: String)] = [
      (
        """
        CREATE FUNCTION S.copy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE TRIGGER copies AFTER INSERT ON S.head FOR EACH ROW EXECUTE FUNCTION S.copy()
        """, "trigger copies of head"
      ),
      ("CREATE RULE keeps AS ON DELETE TO S.keys DO INSTEAD NOTHING", "rule keeps of keys"),
      (
        "CREATE RULE copies AS ON INSERT TO S.keys DO ALSO INSERT INTO S.notes VALUES (NEW.key, NEW.value)",
        "rule copies of keys"
      ),
      ("ALTER TABLE S.keys ENABLE ROW LEVEL SECURITY", "table keys"),
      ("CREATE POLICY hides ON S.keys USING (key > 0)", "row policy hides of keys"),
      ("CREATE INDEX copied ON S.keys (value)", "index copied of keys"),
      ("CREATE INDEX copied ON S.personal (md5(value))", "index copied of personal"),
      ("CREATE INDEX copied ON S.keys (key) INCLUDE (value)", "index copied of keys"),
      ("ALTER TABLE S.keys ADD COLUMN copy bytea", "column copy of keys"),
      (
        "ALTER TABLE S.keys ADD COLUMN copy bytea GENERATED ALWAYS AS (value) STORED", "column copy of keys"
      ),
      ("ALTER TABLE S.erasures ADD COLUMN time timestamptz DEFAULT now()", "column time of erasures"),
      ("ALTER TABLE S.keys ALTER COLUMN value SET DEFAULT ''", "column value of keys"),
      ("ALTER TABLE S.keys ALTER COLUMN value DROP NOT NULL", "column value of keys"),
      (
        "CREATE DOMAIN S.copied AS bytea; ALTER TABLE S.keys ALTER COLUMN value TYPE S.copied",
        "column value of keys"
      ),
      ("ALTER TABLE S.keys ADD CONSTRAINT seen CHECK (length(value) >= 0)", "constraint seen of keys"),
      (
        "CREATE TABLE S.more (key bigint REFERENCES S.keys ON DELETE RESTRICT)",
        "foreign key more_key_fkey to keys"
      ),
      ("CREATE TABLE S.more () INHERITS (S.keys)", "inheriting table"),
      ("CREATE STATISTICS S.copied ON key, value FROM S.keys", "statistics object copied of keys"),
      ("ALTER TABLE S.keys SET UNLOGGED", "table keys"),
      ("ALTER TABLE S.keys DROP CONSTRAINT keys_pkey", "index keys_pkey of keys"),
      ("ALTER TABLE S.keys RENAME TO kept", "keys"),
      (
        "ALTER TABLE S.keys RENAME TO kept; CREATE VIEW S.keys AS SELECT key, value FROM S.kept", "keys"
      ),
      ("DROP TABLE S.keys", "keys"),
    ]

    @Test(arguments: planted)
    func whatIsAttachedToTablesIsRefusedByName(_ sql: String, _ name: String) throws {
      let url = server.url()
      let storage = try PostgreSQLStorage(creatingAt: url)
      #expect(try storage.structuralFaults() == [])
      try server.connection(to: storage).execute(sql.replacing("S.", with: storage.schema + "."))
      let error = try failure { try PostgreSQLStorage(openingAt: url) }
      #expect(error.code == .corrupt)
      #expect(error.place == storage.description)
      #expect(error.message.contains(name), "\(error.message)")
      #expect(error.message.contains("estore a backup"))
      // Of a trail that is open it is found when something is erased, and when it is checked.
      #expect(try failure { try storage.scrub() }.code == .corrupt)
      #expect(try storage.structuralFaults() == [error.message])
      try server.connection(to: storage).execute("DROP SCHEMA \(storage.schema) CASCADE")
    }

    /// Objects that are not attached to the trail's tables change nothing that the storage does.
    @Test func whatStandsBesideTheTablesIsLetBe() throws {
      let url = server.url()
      let storage = try PostgreSQLStorage(creatingAt: url)
      try server.connection(to: storage).execute(
        """
        CREATE TABLE \(storage.schema).more (key bigint PRIMARY KEY);
        CREATE VIEW \(storage.schema).report AS SELECT kind, count(*) FROM \(storage.schema).entries GROUP BY kind;
        CREATE FUNCTION \(storage.schema).octet_length(bytea) RETURNS integer LANGUAGE sql AS 'SELECT 0';
        ANALYZE \(storage.schema).keys;
        """)
      let opened = try PostgreSQLStorage(openingAt: url)
      try opened.write { try $0.put(.notes, 1, [1, 2, 3]) }
      try opened.write { try $0.overwrite(.notes, 1, at: 1, with: [9]) }
      #expect(try opened.read { try $0.value(.notes, 1) } == [1, 9, 3])
      try opened.scrub()
      #expect(try opened.structuralFaults() == [])
    }

    /// The server samples values for its statistics, which no rewriting of the tables reaches.
    @Test(arguments: [false, true]) func noStatisticsHaveWhatWasErased(isOfEarlierBuild: Bool) throws {
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      let connection = try server.connection(to: storage)
      let schema = storage.schema
      if isOfEarlierBuild {
        try connection.execute("ALTER TABLE \(schema).keys ALTER COLUMN value SET STATISTICS -1")
      }
      let keys = (0..<40).map { key in (0..<32).map { UInt8(0x80 + $0 ^ key) } }
      try storage.write { writer in
        for (number, key) in keys.enumerated() { try writer.put(.keys, Int64(number), key) }
      }
      try connection.execute("ANALYZE \(schema).keys")
      let erased = [UInt8](repeating: 7, count: 32)
      try storage.write { try $0.overwrite(.keys, 3, at: 0, with: erased) }
      try storage.write { try $0.remove(.keys, in: 4...4, erasing: true) }
      try storage.scrub()
      let statistics = try connection.execute(
        "SELECT coalesce(string_agg(s::text, ' '), '') FROM pg_stats s WHERE schemaname = '\(schema)'"
      ).text(0, 0)
      for key in keys[3...4] {
        let hexadecimal = key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(!statistics.contains(hexadecimal))
      }
    }

    /// A trail that was put back would pass for the newest.
    @Test func aCheckpointStoreWithATriggerIsRefused() throws {
      let url = server.url()
      let store = try PostgreSQLCheckpointStore(url, name: "a")
      #expect(try store.replace(nil, with: [1]))
      let location = try ServerLocation(url, schema: nil, defaultSchema: "x", orThrow: StorageError.self)
      let schema = location.schema
      try AuditTrailPostgreSQL.ServerConnection(location).execute(
        "CREATE RULE keeps AS ON UPDATE TO \(schema).checkpoints DO INSTEAD NOTHING")
      let error = try failure { try PostgreSQLCheckpointStore(url, name: "a") }
      #expect(error.code == .corrupt)
      #expect(error.message.contains("rule keeps of checkpoints"))
    }
  }
#endif
