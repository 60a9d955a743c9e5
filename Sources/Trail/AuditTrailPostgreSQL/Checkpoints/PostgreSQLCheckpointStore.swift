// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  public import AuditTrail
  internal import PostgreSQL
  internal import Synchronization

  /// A store of checkpoints in a table of a PostgreSQL database, for trails that are written from several machines.
  ///
  /// Use a different server than the trail's, or at least a different database that is not restored together with the
  /// trail. The table is `checkpoints (name text, value bytea)` in a schema of its own. It can hold the checkpoints
  /// of many trails, each under its name.
  public final class PostgreSQLCheckpointStore: CheckpointStore, CustomStringConvertible {
    private static let layout = SchemaLayout(
      [
        SchemaLayout.Table(
          "checkpoints", [.init("name", "text"), .init("value", "bytea")],
          indexes: [.primaryKey(["name"], of: "checkpoints")])
      ], isSearched: false)

    private let location: ServerLocation
    private let options: PostgreSQLOptions
    private let name: [UInt8]
    private let idle: Mutex<ServerConnection?>

    /// Opens the store, and creates its schema and table if they are missing.
    ///
    /// - Parameters:
    ///   - url: The `postgresql://` URL, as for ``PostgreSQLStorage``. The schema is `receiptkit_checkpoints` if
    ///     neither the URL nor the options specify one.
    ///   - name: The name of the trail, such as its origin.
    ///   - options: The options for using the server; `maximumConnections` has no effect.
    /// - Throws: `StorageError.Code.unavailable`, `StorageError.Code.unsupported` if the URL cannot be parsed or the
    ///   server runs without `fsync`, `StorageError.Code.inputOutput` if the user may not create the table,
    ///   `StorageError.Code.corrupt` if a trigger or anything else was attached to it.
    public init(_ url: String, name: String, options: PostgreSQLOptions = .init()) throws(StorageError) {
      let location = try ServerLocation(
        url, schema: options.schema, defaultSchema: "receiptkit_checkpoints", orThrow: StorageError.self)
      self.location = location
      self.options = options
      self.name = Array(name.utf8)
      self.idle = Mutex(nil)
      let connection = try ServerConnection.open(location, options)
      let table = "\(location.schema).checkpoints"
      if try !connection.hasTable(table) {
        // Concurrent creators wait for each other on an advisory lock, whose number is used for nothing else.
        try connection.execute(
          """
          BEGIN;
          SELECT pg_advisory_xact_lock(hashtextextended('receiptkit checkpoints', 0));
          CREATE SCHEMA IF NOT EXISTS \(location.schema);
          CREATE TABLE IF NOT EXISTS \(table) (name text PRIMARY KEY, value bytea NOT NULL);
          COMMIT
          """)
      }
      give(try prepared(connection))
    }

    /// The server, the database and the schema.
    public var description: String { location.description }

    /// Loads the encoded checkpoint; `nil` if no checkpoint has been stored yet.
    ///
    /// - Throws: `StorageError`.
    public func load() throws(StorageError) -> [UInt8]? {
      let result = try run("load", [.bytes(name)])
      return result.rowCount == 0 ? nil : result.bytes(0, 0)
    }

    /// Stores `new` if the stored checkpoint equals `old`.
    ///
    /// - Returns: `true` if it was stored.
    /// - Throws: `StorageError`. After `StorageError.Code.unavailable` it is unknown whether `new` was stored.
    public func replace(_ old: [UInt8]?, with new: [UInt8]) throws(StorageError) -> Bool {
      guard new.count <= maximumStoredCheckpointByteCount else {
        throw StorageError(
          .unsupported, at: description,
          "A checkpoint of \(new.count) bytes is longer than what can be stored.")
      }
      guard let old else { return try run("insert", [.bytes(name), .bytes(new)]).changedRowCount == 1 }
      return try run("update", [.bytes(name), .bytes(old), .bytes(new)]).changedRowCount == 1
    }

    private func run(_ statement: String, _ parameters: [StatementParameter]) throws(StorageError)
      -> QueryResult
    {
      let connection = try take()
      let result = try connection.run(statement, parameters)
      give(connection)
      return result
    }

    private func take() throws(StorageError) -> ServerConnection {
      if let taken = idle.withLock({ $0.take() }), !taken.isBroken { return taken }
      return try prepared(.open(location, options))
    }

    private func give(_ connection: ServerConnection) { idle.withLock { $0 = connection } }

    private func prepared(_ connection: ServerConnection) throws(StorageError) -> ServerConnection {
      let table = "\(location.schema).checkpoints"
      // A trigger could keep the old checkpoint when a new one is stored. A trail that was rolled back would then
      // appear to be the newest.
      try connection.require(Self.layout)
      // The update compares and swaps. The second of two writers waits for the row, and finds it changed.
      try connection.beginPipeline(
        preparing: [
          ("load", "SELECT value FROM \(table) WHERE name = $1", [.text]),
          ("insert", "INSERT INTO \(table) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", [.text, .bytea]),
          (
            "update", "UPDATE \(table) SET value = $3 WHERE name = $1 AND value = $2",
            [.text, .bytea, .bytea]
          ),
        ], answerLimit: options.answerLimit)
      return connection
    }
  }
#endif
