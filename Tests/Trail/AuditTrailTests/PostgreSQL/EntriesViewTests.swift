// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import AuditTrail
  import PostgreSQL
  import ReceiptCrypto
  import Testing

  @testable import AuditTrailPostgreSQL

  @Suite("The view entries", .enabled(if: PostgreSQLServer.isPresent, PostgreSQLServer.absence))
  struct EntriesViewTests {
    /// The SQL expressions by which a row is compared with an entry, one text for each column.
    private static let columns =
      ["index::text"]
      + EntryField.allCases.map { field in
        let column = "\"\(field)\""
        return switch field.form {
        case .text: column
        case .instant:
          "CASE WHEN isfinite(\(column)) THEN to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') "
            + "ELSE \(column)::text END"
        case .digest: "encode(\(column), 'hex')"
        case .number, .index, .checks: "\(column)::text"
        }
      } + ["entry"]

    private static func texts(_ recorded: RecordedEntry) -> [String] {
      let entry = recorded.entry
      let values: [String?] = EntryField.allCases.map { field in
        switch entry[field] {
        case .text where field == .expires && entry.expires == .max: "infinity"
        case .text(let text)?: text
        case .number(let number)?: "\(number)"
        case .checks(let checks)?:
          "["
            + checks.map { "{\"name\": \"\($0.name)\", \"answer\": \"\($0.answer.rawValue)\"}" }.joined(
              separator: ", ")
            + "]"
        case nil: nil
        }
      }
      return (["\(recorded.index)"] + values + [String(decoding: recorded.bytes, as: UTF8.self)]).map {
        ($0 ?? "NULL").replacing("\0", with: "%00")
      }
    }

    private static func rows(_ connection: AuditTrailPostgreSQL.ServerConnection, _ source: String) throws
      -> [[String]]
    {
      let list = columns.map { "coalesce(\($0), 'NULL')" }.joined(separator: ", ")
      let result = try connection.execute("SELECT \(list) FROM \(source)")
      return (0..<result.rowCount).map { row in columns.indices.map { result.text(row, $0) } }
    }

    private static func records() -> [AuditRecord] {
      var records = TrailFixture.records(0..<300)
      records[3].facts.product = "com.example.pro 50%\n\t\u{7F} %00 \u{1F600}\u{0}é"
      records[4].facts.checks = [
        RecordedCheck(name: "app store", answer: .confirmed), RecordedCheck(name: "b%", answer: .revoked),
      ]
      records[5].facts.expires = -1
      records[5].facts.revoked = 1_760_000_000_123
      records[6].facts.expires = .max
      records[7].facts.verdict = .invalid
      records[7].facts.reason = "chain-untrusted"
      records[8].facts.kind = .purchase
      records[8].facts.id = "a\\b 'c' $$ \"d\""
      records[9] = AuditRecord(
        EntryFacts(
          time: 1_760_000_000_009, kind: EntryKind(rawValue: "statement"), original: "1000", size: .max,
          newest: 3, count: 1))
      return records
    }

    @Test("has the entries that the trail has, in columns, from a full bundle and from the tail")
    func equalsTheEntries() async throws {
      let server = try PostgreSQLServer.shared.get()
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      let fixture = try TrailFixture(storage: storage)
      let log = try fixture.create()
      try await log.append(Self.records())
      try await log.erase(entries: [2, 290])
      let entries = try log.withView { view in
        try (0..<view.size).map { try Self.texts(view.entry(at: $0)) }
      }
      #expect(entries.count > 300)
      let connection = try server.connection(to: storage)
      let schema = storage.schema
      #expect(try Self.rows(connection, "\(schema).entries ORDER BY index") == entries)
      for (first, last) in [(0, 0), (5, 9), (250, 260), (255, 255), (256, 256), (299, 5000), (9, 5)] {
        let rows = try Self.rows(connection, "\(schema).entries(\(first), \(last)) ORDER BY index")
        #expect(rows == Array(entries[first..<max(first, min(last + 1, entries.count))]))
        let filtered = "\(schema).entries WHERE index BETWEEN \(first) AND \(last) ORDER BY index"
        #expect(try Self.rows(connection, filtered) == rows)
      }
    }

    @Test("a page reads the bundles that it is in, and no others")
    func readsOnlyThePage() async throws {
      let server = try PostgreSQLServer.shared.get()
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      let log = try TrailFixture(storage: storage).create()
      try await log.append(TrailFixture.records(0..<1100))
      let connection = try server.connection(to: storage)
      let schema = storage.schema
      // A bundle that cannot be taken apart fails whatever reads it.
      try connection.execute("UPDATE \(schema).bundles SET value = '\\x00' WHERE key IN (0, 3)")
      #expect(try connection.execute("SELECT * FROM \(schema).entries(300, 700)").rowCount == 401)
      #expect(try connection.execute("SELECT * FROM \(schema).entries(1024, 2000)").rowCount == 76)
      #expect(throws: StorageError.self) {
        try connection.execute("SELECT * FROM \(schema).entries(200, 300)")
      }
    }

    @Test("a role that may read it needs nothing of the keys")
    func isReadWithoutKeys() async throws {
      let server = try PostgreSQLServer.shared.get()
      let storage = try PostgreSQLStorage(creatingAt: server.url())
      let log = try TrailFixture(storage: storage).create()
      try await log.append(TrailFixture.records(0..<300))
      let connection = try server.connection(to: storage)
      let schema = storage.schema
      let role = "reader_\(schema)"
      try connection.execute(
        """
        CREATE ROLE \(role);
        GRANT USAGE ON SCHEMA \(schema) TO \(role);
        GRANT SELECT ON \(schema).entries, \(schema).bundles, \(schema).tail TO \(role);
        SET ROLE \(role)
        """)
      #expect(try connection.execute("SELECT * FROM \(schema).entries").rowCount == 300)
      #expect(try connection.execute("SELECT * FROM \(schema).entries(250, 259)").rowCount == 10)
      for table in ["keys", "covers", "payloads", "personal"] {
        #expect(throws: StorageError.self) { try connection.execute("SELECT * FROM \(schema).\(table)") }
      }
      #expect(throws: StorageError.self) { try connection.execute("DELETE FROM \(schema).tail") }
      let comment = try connection.execute("SELECT obj_description('\(schema).entries'::regclass)").text(0, 0)
      #expect(comment.contains("unverified"))
    }
  }
#endif
