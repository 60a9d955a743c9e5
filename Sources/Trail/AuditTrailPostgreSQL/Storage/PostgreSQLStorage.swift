// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  public import AuditTrail
  internal import PostgreSQL

  /// An audit trail in a schema of a PostgreSQL database, for several processes and machines that write at once.
  ///
  /// The trail is named by a URL as libpq understands it, with one parameter more, the schema:
  ///
  ///     postgresql://auditor@db.example.com/receipts?sslmode=verify-full&schema=trail2026
  ///
  /// Keep the password out of it where you can: libpq finds it in `~/.pgpass` or in `PGPASSWORD`. It never appears in
  /// errors or descriptions.
  ///
  /// One write takes place at a time, among all processes, each in a transaction of its own; reads see one state and
  /// wait for nobody. A commit is on the server's disk when it returns: `synchronous_commit` is forced on, and a server
  /// that runs with `fsync = off` is refused. The disk that lies about a sync is beyond what can be noticed from here;
  /// so is a standby that takes over without having received the last commits, unless
  /// `synchronous_standby_names` is set: then commits wait for it.
  ///
  /// Connections go to a server that can be written to (`target_session_attrs=read-write`), which the URL may change,
  /// and give up after 10 seconds (`connect_timeout`).
  public final class PostgreSQLStorage: TrailStorage, CustomStringConvertible {
    private let pool: ConnectionPool

    /// Creates the tables of a trail in a schema that has none, or does not exist yet.
    ///
    /// - Throws: `StorageError.Code.notATrail` where the schema is in use, `StorageError.Code.unavailable` where
    ///   there is no connection, `StorageError.Code.unsupported` where the URL cannot be read or the server runs
    ///   without `fsync`, `StorageError.Code.inputOutput` where the user may not create tables there.
    public convenience init(creatingAt url: String, options: PostgreSQLOptions = .init()) throws(StorageError)
    {
      try self.init(url, options) { pool throws(StorageError) in
        let connection = try ServerConnection(pool.location)
        try ServerSession.prepare(connection, options)
        try pool.schema.create(on: connection)
      }
    }

    /// Opens the trail in a schema.
    ///
    /// - Throws: `StorageError.Code.notFound` where the schema does not exist or is empty,
    ///   `StorageError.Code.notATrail` where it holds something else, `StorageError.Code.unavailable` where there
    ///   is no connection, `StorageError.Code.unsupported` where the URL cannot be read, the server runs without
    ///   `fsync`, or the trail needs a newer build. `StorageError.Code.corrupt` where somebody attached triggers, rules,
    ///   policies, columns or indexes to its tables.
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
      try pool.keep(pool.connect())
    }

    deinit { pool.close() }

    /// The server, the database and the schema.
    public var description: String { pool.location.description }

    /// Reads one state.
    ///
    /// - Throws: `StorageError`, and the errors of `body`. `StorageError.Code.busy` where all connections are in
    ///   use by others.
    public func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
      try pool.withConnection(for: .reading) { connection in
        let transaction = PostgreSQLTransaction(connection, beginning: [TrailSchema.beginRead])
        defer { transaction.failure == nil ? transaction.endReading() : transaction.rollback() }
        return try body(transaction)
      }
    }

    /// Changes the trail: all that `body` does, or nothing where it throws.
    ///
    /// Changes are sent ahead, so their faults may only show with a later one or at the end.
    ///
    /// - Throws: `StorageError`, and the errors of `body`. `StorageError.Code.busy` where others wrote for longer
    ///   than ``PostgreSQLOptions/lockTimeout``. After `StorageError.Code.unavailable` it is not known whether the
    ///   write took place, where the message says that the connection was lost during a commit: read again what is
    ///   stored. The next use reconnects.
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

    /// Takes the lock of the writers. Nothing has been done by then, so a connection that turns out to be dead is
    /// replaced.
    private func beginWriting(_ connection: inout ServerConnection) throws(StorageError)
      -> PostgreSQLTransaction
    {
      let beginning = [TrailSchema.beginWrite, TrailSchema.limitSilence, TrailSchema.lock]
      let transaction = PostgreSQLTransaction(connection, beginning: beginning)
      do throws(StorageError) {
        try transaction.begin()
        return transaction
      } catch {
        guard error.code == .unavailable else {
          transaction.rollback()
          throw error
        }
        connection = try pool.connect()
        let second = PostgreSQLTransaction(connection, beginning: beginning)
        do throws(StorageError) { try second.begin() } catch {
          second.rollback()
          throw error
        }
        return second
      }
    }

    /// Rewrites the tables in which something was erased, so that nothing of it is left in their files.
    ///
    /// PostgreSQL keeps the older version of what is changed. This has the tables copied (`VACUUM FULL`), which takes
    /// about a second for each gigabyte of the trail, keeps readers of those tables waiting meanwhile and needs as
    /// much free space again. What remains is outside of the trail's tables: the server's log of changes until it is
    /// recycled (a checkpoint is asked for, where the user may), its archive, backups and standbys.
    ///
    /// - Throws: `StorageError.Code.busy` where a transaction that began before the erasure does not end within
    ///   ``PostgreSQLOptions/lockTimeout``, and `StorageError.Code.inputOutput` where the user does not own the
    ///   tables. The next call makes up for it.
    public func scrub() throws {
      try pool.checkOpen()
      try Scrubbing(pool).run()
    }

    /// The bytes of the tables with their indexes.
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

    /// Objects that were added to the tables or altered since the trail was opened.
    public func structuralFaults() throws -> [String] {
      try pool.checkOpen()
      let connection = try ServerConnection(pool.location)
      try ServerSession.prepare(connection, pool.options)
      return try pool.schema.layoutFault(on: connection).map { [$0] } ?? []
    }

    /// Ends the connections: at once those that nobody uses, the others when they are given back.
    public func close() throws { pool.close() }
  }
#endif
