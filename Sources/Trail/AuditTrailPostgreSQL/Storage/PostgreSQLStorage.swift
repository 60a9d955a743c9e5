// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  public import AuditTrail
  internal import PostgreSQL

  /// An audit trail in a schema of a PostgreSQL database, for several processes and machines that write concurrently.
  ///
  /// The trail is identified by a libpq connection URL with one additional parameter, the schema:
  ///
  ///     postgresql://auditor@db.example.com/receipts?sslmode=verify-full&schema=trail2026
  ///
  /// Keep the password out of the URL if possible: libpq reads it from `~/.pgpass` or `PGPASSWORD`. It never appears
  /// in errors or descriptions.
  ///
  /// Among all processes, only one write takes place at a time, each in its own transaction. Reads see one snapshot
  /// and do not wait. A commit is on the server's disk when it returns: `synchronous_commit` is forced on, and a
  /// server that runs with `fsync = off` is refused. Two failures cannot be detected from here. One is a disk that
  /// falsely reports a sync as done. The other is a standby that takes over without having received the last commits;
  /// to prevent it, set `synchronous_standby_names`, and commits wait for the standby.
  ///
  /// Connections go to a writable server (`target_session_attrs=read-write`) and time out after 5 seconds
  /// (`connect_timeout`). The URL can change both settings.
  public final class PostgreSQLStorage: TrailStorage, CustomStringConvertible {
    private let pool: ConnectionPool

    /// Creates the tables of a trail in a schema that is empty or does not exist yet.
    ///
    /// - Throws: `StorageError.Code.notATrail` if the schema is in use, `StorageError.Code.unavailable` if there is
    ///   no connection, `StorageError.Code.unsupported` if the URL cannot be parsed or the server runs without
    ///   `fsync`, `StorageError.Code.inputOutput` if the user may not create tables there.
    public convenience init(creatingAt url: String, options: PostgreSQLOptions = .init()) throws(StorageError)
    {
      try self.init(url, options) { pool throws(StorageError) in
        try pool.schema.create(on: .open(pool.location, options))
      }
    }

    /// Opens the trail in a schema.
    ///
    /// - Throws: `StorageError.Code.notFound` if the schema does not exist or is empty, `StorageError.Code.notATrail`
    ///   if it contains something else, `StorageError.Code.unavailable` if there is no connection,
    ///   `StorageError.Code.unsupported` if the URL cannot be parsed, the server runs without `fsync`, or the trail's
    ///   layout has a different version, `StorageError.Code.corrupt` if triggers, rules, policies, columns or indexes
    ///   were attached to its tables.
    public convenience init(openingAt url: String, options: PostgreSQLOptions = .init()) throws(StorageError)
    {
      try self.init(url, options) { _ throws(StorageError) in }
    }

    private init(
      _ url: String, _ options: PostgreSQLOptions,
      _ preparation: (ConnectionPool) throws(StorageError) -> Void
    ) throws(StorageError) {
      let location = try ServerLocation(
        url, schema: options.schema, defaultSchema: "receiptkit", orThrow: StorageError.self)
      self.pool = ConnectionPool(location, options)
      try preparation(pool)
      try pool.release(pool.connect())
    }

    deinit { pool.close() }

    /// The server, the database and the schema.
    public var description: String { pool.location.description }

    /// Reads one snapshot.
    ///
    /// - Throws: `StorageError`, and any error from `body`. `StorageError.Code.busy` if all connections are in use.
    public func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
      try pool.withConnection(for: .reading) { connection in
        let transaction = PostgreSQLTransaction(connection, beginning: [TrailSchema.beginRead])
        defer { transaction.failure == nil ? transaction.endReading() : transaction.rollback() }
        return try body(transaction)
      }
    }

    /// Changes the trail in one transaction, which is rolled back if `body` throws.
    ///
    /// Changes are sent without waiting, so their errors may appear only with a later change or at the end.
    ///
    /// - Throws: `StorageError`, and any error from `body`. `StorageError.Code.busy` if others wrote for longer than
    ///   the lock timeout of its options. If `StorageError.Code.unavailable` has a message that the connection was
    ///   lost during a commit, it is unknown whether the write took place: read the stored state again. The next use
    ///   reconnects.
    public func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
      try pool.withConnection(for: .writing) { connection in
        let transaction = try beginWriting(&connection)
        let result: Result
        do {
          result = try body(transaction)
          try transaction.commit()
        } catch {
          transaction.rollback()
          throw error
        }
        return result
      }
    }

    /// Takes the writers' lock. Nothing has been changed at this point, so a connection that turns out to be dead is
    /// replaced.
    private func beginWriting(_ connection: inout ServerConnection) throws(StorageError)
      -> PostgreSQLTransaction
    {
      let beginning = [TrailSchema.beginWrite, TrailSchema.limitSilence, TrailSchema.lock]
      func begin() throws(StorageError) -> PostgreSQLTransaction {
        let transaction = PostgreSQLTransaction(connection, beginning: beginning)
        do throws(StorageError) { try transaction.begin() } catch {
          if error.code != .unavailable { transaction.rollback() }
          throw error
        }
        return transaction
      }
      do throws(StorageError) { return try begin() } catch {
        guard error.code == .unavailable else { throw error }
        connection = try pool.connect()
        return try begin()
      }
    }

    /// Rewrites the tables in which data was erased, so that nothing of it remains in their files.
    ///
    /// PostgreSQL keeps old versions of changed rows. This function copies the tables (`VACUUM FULL`). That takes
    /// about a second for each gigabyte of the trail, blocks readers of these tables, and needs as much free space
    /// again. Erased data may remain outside of the trail's tables: in the server's write-ahead log until it is
    /// recycled (a checkpoint is requested if the user may do so), its archive, backups and standbys.
    ///
    /// - Throws: `StorageError.Code.busy` if a transaction that began before the erasure does not end within
    ///   the lock timeout of its options, and `StorageError.Code.inputOutput` if the user does not own the tables.
    ///   Call it again later to complete the scrubbing.
    public func scrub() throws {
      try pool.checkOpen()
      let (schema, place) = (pool.schema.name, pool.location.description)
      let connection = try ServerConnection.open(pool.location, pool.options)
      // An object that was attached since the trail was opened may contain copies of erased data.
      try connection.require(TrailSchema.layout)
      guard try connection.waitForOlderTransactions(within: pool.options.lockTimeout) else {
        throw StorageError(
          .busy, at: place, "A transaction that may still see what was erased did not end in time; try again."
        )
      }
      let marks = try connection.execute("SELECT name, number FROM \(schema).erasures")
      for row in 0..<marks.rowCount {
        let (table, number) = (marks.text(row, 0), marks.text(row, 1))
        guard try connection.rewrite("\(schema).\(table)") else {
          throw StorageError(
            .inputOutput, at: place, "\(schema).\(table) cannot be rewritten: scrub as its owner.")
        }
        // Data may have been erased since the marks were read.
        try connection.execute(
          "DELETE FROM \(schema).erasures WHERE name = '\(table)' AND number = \(number)")
      }
      let mayCheckpoint = """
        SELECT (rolsuper OR (to_regrole('pg_checkpoint') IS NOT NULL AND
        pg_has_role(oid, to_regrole('pg_checkpoint'), 'USAGE')))::int FROM pg_roles WHERE rolname = current_user
        """
      if try connection.execute(mayCheckpoint).text(0, 0) == "1" { try connection.execute("CHECKPOINT") }
    }

    /// The total size of the tables and their indexes, in bytes.
    public func byteCount() throws -> UInt64 {
      try pool.checkOpen()
      let connection = try ServerConnection(pool.location)
      let size = try connection.execute(
        """
        SELECT sum(pg_total_relation_size(oid)) FROM pg_class
        WHERE relnamespace = to_regnamespace('\(pool.schema.name)') AND relkind = 'r'
        """)
      return UInt64(size.text(0, 0)) ?? 0
    }

    /// Describes the first object that was added to the tables or altered in them since the trail was opened;
    /// otherwise empty.
    public func structuralFaults() throws -> [String] {
      try pool.checkOpen()
      let connection = try ServerConnection.open(pool.location, pool.options)
      return try TrailSchema.layout.fault(in: pool.schema.name, on: connection).map { [$0] } ?? []
    }

    /// Closes the idle connections immediately, and the others when they are released.
    public func close() throws { pool.close() }
  }
#endif
