// SPDX-License-Identifier: Apache-2.0

#if Server && PostgreSQL
  internal import PostgreSQL
  internal import SQLite

  /// The tables of a service in a schema of PostgreSQL.
  ///
  /// The table `layout` contains the version of their layout.
  enum ServiceLayout {
    /// Creates or upgrades the tables if necessary.
    static func prepare(on connection: ServiceConnection) throws {
      let schema = connection.location.schema
      try connection.transaction(.writing) { session in
        // Processes that start at once take turns.
        try session.lock("layout")
        if try session.run("SELECT to_regclass('\(schema).layout')::text").first?.optionalText(0) == nil {
          guard try connection.connection.createEmptySchema() else {
            throw DatabaseError(
              .unusable, at: connection.location.description,
              "The schema is in use by something else. Name another.")
          }
          try session.run("CREATE TABLE layout(version BIGINT NOT NULL)")
        }
        let version = try session.run("SELECT version FROM layout").first?.integer(0) ?? 0
        guard 0...ServiceSchema.version ~= version else {
          throw DatabaseError(
            .unusable, at: connection.location.description,
            "Its layout is of version \(version); this build knows version \(ServiceSchema.version).")
        }
        if version < ServiceSchema.version {
          try ServiceSchema.upgrade(session, version: version)
          try keepNoStatistics(of: ServiceSchema.personalTables, in: session)
          try session.run("DELETE FROM layout")
          try session.run("INSERT INTO layout VALUES ($1)", .integer(ServiceSchema.version))
        }
        try require(on: connection.connection)
      }
    }

    /// Keeps the planner from collecting values of columns with personal data.
    ///
    /// The server keeps samples of them in a table of its own, which no erasure reaches.
    private static func keepNoStatistics(of tables: Set<String>, in session: any DatabaseSession) throws {
      let layout = ServiceSchema.layout(applicationID: 0, version: ServiceSchema.version)
      for table in try layout.tables() where tables.contains(table.name) {
        for column in table.columns where ["TEXT", "BLOB"].contains(column.type) {
          try session.run("ALTER TABLE \(table.name) ALTER COLUMN \(column.name) SET STATISTICS 0")
        }
      }
    }

    /// Fails if any other object, such as a trigger, was added to the tables.
    static func require(on connection: ServerConnection<PostgreSQLFault>) throws {
      let layout = try SchemaLayout(
        [SchemaLayout.Table("layout", [.init("version", "bigint")])]
          + ServiceSchema.layout(applicationID: 0, version: ServiceSchema.version).tables().map(table),
        isSearched: true)
      if let fault = try layout.fault(in: connection.location.schema, on: connection) {
        throw DatabaseError(.unusable, at: connection.location.description, fault)
      }
    }

    /// Converts a table of the SQLite layout to the server's.
    private static func table(_ table: DatabaseLayout.Table) -> SchemaLayout.Table {
      SchemaLayout.Table(
        table.name,
        table.columns.map { column in
          // Only an auto-incremented column has the type INTEGER.
          let type =
            switch column.type {
            case "INTEGER": "bigint"
            case "BLOB": "bytea"
            default: column.type.lowercased()
            }
          return SchemaLayout.Column(
            column.name, type, isNullable: column.isNullable && !column.isKey,
            isIdentity: column.type == "INTEGER")
        },
        indexes: [.primaryKey(table.primaryKey, of: table.name)]
          + table.indexes.map { index in
            SchemaLayout.Index(
              // The server names the index of a constraint itself.
              index.name ?? "\(table.name)_\(index.columns.joined(separator: "_"))_key", on: index.columns,
              isUnique: index.isUnique)
          })
    }

    // MARK: Scrubbing

    /// Rewrites tables after an erasure, as soon as no transaction can see the deleted rows.
    static func scrub(_ tables: [String], on connection: ServiceConnection, within timeout: Duration) throws {
      // Objects that were added since the database was opened may contain copies of erased data.
      try require(on: connection.connection)
      let place = connection.location.description
      guard try connection.connection.waitForOlderTransactions(within: timeout) else {
        throw DatabaseError(
          .unavailable, at: place,
          "A transaction that may still see what was erased did not end in time; try again.")
      }
      for table in tables {
        guard try connection.connection.rewrite(table) else {
          throw DatabaseError(.unusable, at: place, "\(table) cannot be rewritten: erase as its owner.")
        }
      }
    }
  }
#endif
