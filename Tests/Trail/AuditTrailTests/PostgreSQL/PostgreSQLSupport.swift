// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import AuditTrail
  import Foundation
  import PostgreSQL
  import Testing

  @testable import AuditTrailPostgreSQL

  extension PostgreSQLServer {
    /// A connection for what no storage does.
    func connection(to storage: PostgreSQLStorage) throws -> AuditTrailPostgreSQL.ServerConnection {
      try AuditTrailPostgreSQL.ServerConnection(
        ServerLocation(
          url(schema: storage.schema), schema: nil, defaultSchema: "x", orThrow: StorageError.self))
    }

    /// The files of a schema's tables and indexes, whole.
    func files(of schema: String) throws -> [[UInt8]] {
      let connection = try AuditTrailPostgreSQL.ServerConnection(
        ServerLocation(url(schema: schema), schema: nil, defaultSchema: "x", orThrow: StorageError.self))
      try connection.execute("CHECKPOINT")
      let paths = try connection.execute(
        """
        WITH tables AS (
          SELECT oid, reltoastrelid FROM pg_class
          WHERE relnamespace = '\(schema)'::regnamespace AND relkind IN ('r', 'i')
        )
        SELECT pg_relation_filepath(oid) FROM tables UNION
        SELECT pg_relation_filepath(reltoastrelid) FROM tables WHERE reltoastrelid <> 0
        """)
      return try (0..<paths.rowCount).map {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/data/\(paths.text($0, 0))")))
      }
    }
  }

  extension StorageFixture {
    static func postgreSQL() throws -> StorageFixture {
      let server = try PostgreSQLServer.shared.get()
      let url = server.url()
      let storage = try PostgreSQLStorage(creatingAt: url)
      return StorageFixture(
        storage, another: { try PostgreSQLStorage(openingAt: url) },
        contents: { try server.files(of: storage.schema) })
    }
  }

  extension PostgreSQLStorage {
    var schema: String { String(description.split(separator: "schema=").last ?? "") }
  }

  /// The fault with which something must fail.
  func failure<Result>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
  ) throws -> StorageError {
    try #require(throws: StorageError.self, sourceLocation: sourceLocation) { _ = try body() }
  }
#endif
