// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import AuditTrail
  internal import PostgreSQL

  /// The tables of a trail and the operations on them.
  ///
  ///     trail (format integer)                                   one row: the version of this layout
  ///     erasures (name text, number bigint)                      the tables that scrubbing must rewrite
  ///     head, notes, bundles, … (key bigint, value bytea)        one for each `StorageTable`
  ///     entries                                                  the view of ``EntriesView``
  ///
  /// Values are stored uncompressed, and out of line if they are long (`EXTERNAL`), so that a part of a value can be
  /// read without reading all of it. They have no statistics: the server's statistics are samples of the values,
  /// including keys of erasable parts, and rewriting the tables does not remove them.
  struct TrailSchema: Sendable {
    static let format = 2

    let name: String

    // MARK: Creating and finding

    /// The statements that create the tables, to be run as one transaction.
    var creation: String {
      let tables = StorageTable.allCases.map { table in
        """
        CREATE TABLE \(name).\(table.name) (key bigint PRIMARY KEY, value bytea NOT NULL);
        ALTER TABLE \(name).\(table.name) ALTER COLUMN value SET STORAGE EXTERNAL;
        ALTER TABLE \(name).\(table.name) ALTER COLUMN value SET STATISTICS 0;
        """
      }
      return """
        CREATE TABLE \(name).trail (format integer NOT NULL);
        CREATE TABLE \(name).erasures (name text PRIMARY KEY, number bigint NOT NULL);
        INSERT INTO \(name).trail VALUES (\(Self.format));
        COMMENT ON TABLE \(name).trail IS 'An audit trail of ReceiptKit. Never change any of its tables by hand.';
        \(tables.joined(separator: "\n"))
        \(EntriesView.creation(in: name))
        """
    }

    func create(on connection: ServerConnection) throws(StorageError) {
      guard try connection.createEmptySchema() else {
        throw StorageError(
          .notATrail, at: connection.location.description,
          "The schema is in use already. Open the trail in it, or name another schema.")
      }
      try connection.execute(creation)
    }

    /// - Throws: `notFound`, `notATrail`, `unsupported`, `corrupt`.
    func check(on connection: ServerConnection) throws(StorageError) {
      let place = connection.location.description
      guard try connection.hasTable("\(name).trail") else {
        throw try connection.isSchemaEmpty()
          ? StorageError(
            .notFound, at: place, "There is no audit trail. Check the URL and its schema, or create one.")
          : StorageError(.notATrail, at: place, "The schema has tables, but they are not an audit trail's.")
      }
      let format = try connection.execute("SELECT format FROM \(name).trail").text(0, 0)
      guard format == "\(Self.format)" else {
        throw StorageError(
          .unsupported, at: place,
          "The layout has version \(format), this build knows \(Self.format). Use a newer one.")
      }
      try connection.require(Self.layout)
    }

    static let layout = SchemaLayout(
      [
        SchemaLayout.Table("trail", [.init("format", "integer")]),
        SchemaLayout.Table(
          "erasures", [.init("name", "text"), .init("number", "bigint")],
          indexes: [.primaryKey(["name"], of: "erasures")]),
      ]
        + StorageTable.allCases.map { table in
          SchemaLayout.Table(
            table.name, [.init("key", "bigint"), .init("value", "bytea")],
            indexes: [.primaryKey(["key"], of: table.name)])
        }, isSearched: false)

    // MARK: Statements

    /// The operations on one table, each with a prepared statement.
    enum Operation: String, CaseIterable {
      case value, values, part, page, last, put, overwrite, remove, erasure

      func on(_ table: StorageTable) -> String { "\(rawValue) \(table.name)" }

      var types: [StatementParameter.Kind] {
        switch self {
        case .value: [.bigint]
        case .values: [.bigints]
        case .part: [.bigint, .integer, .integer]
        case .page: [.bigint, .bigint, .bigint]
        case .last, .remove: [.bigint, .bigint]
        case .put: [.bigint, .bytea]
        case .overwrite: [.bigint, .integer, .bytea]
        case .erasure: []
        }
      }
    }

    static let beginRead = "begin read"
    static let beginWrite = "begin write"
    static let limitSilence = "limit silence"
    static let lock = "lock"
    static let commit = "commit"
    static let rollback = "rollback"

    func statements(
      writerTimeout: Duration
    ) -> [(name: String, text: String, types: [StatementParameter.Kind])] {
      let plain = [
        (Self.beginRead, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        // After waiting for the lock, each statement sees the changes that others committed in the meantime.
        (Self.beginWrite, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"),
        (Self.limitSilence, "SET LOCAL idle_in_transaction_session_timeout = \(writerTimeout.milliseconds)"),
        // This locks a table of the trail. Unlike an advisory lock, no other application can hold it by accident, and
        // unlike a row lock, it needs no write. Waiting writers get it in the order of their requests, after the
        // previous commit has become visible. It does not block readers or dumps, and it ends with the session,
        // however the session ends.
        (Self.lock, "LOCK TABLE \(name).trail IN EXCLUSIVE MODE"),
        (Self.commit, "COMMIT"), (Self.rollback, "ROLLBACK"),
      ]
      return plain.map { ($0, $1, []) }
        + StorageTable.allCases.flatMap { table in
          Operation.allCases.map { ($0.on(table), text($0, table), $0.types) }
        }
    }

    private func text(_ operation: Operation, _ storageTable: StorageTable) -> String {
      let table = "\(name).\(storageTable.name)"
      return switch operation {
      case .value: "SELECT value FROM \(table) WHERE key = $1"
      case .values: "SELECT key, value FROM \(table) WHERE key = ANY($1)"
      case .part: "SELECT substring(value FROM $2 FOR $3) FROM \(table) WHERE key = $1"
      case .page: "SELECT key, value FROM \(table) WHERE key >= $1 AND key <= $2 ORDER BY key LIMIT $3"
      case .last: "SELECT key FROM \(table) WHERE key >= $1 AND key <= $2 ORDER BY key DESC LIMIT 1"
      case .put: "INSERT INTO \(table) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value"
      case .overwrite:
        """
        UPDATE \(table) SET value = overlay(value PLACING $3 FROM $2)
        WHERE key = $1 AND octet_length(value) - $2 + 1 >= octet_length($3)
        """
      case .remove: "DELETE FROM \(table) WHERE key >= $1 AND key <= $2"
      case .erasure:
        """
        INSERT INTO \(name).erasures AS e VALUES ('\(storageTable.name)', 1)
        ON CONFLICT (name) DO UPDATE SET number = e.number + 1
        """
      }
    }
  }

  extension StorageTable {
    private static let names = allCases.map { "\($0)" }

    var name: String { Self.names[rawValue] }
  }
#endif
