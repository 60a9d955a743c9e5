// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import AuditTrail
  import Testing

  @testable import AuditTrailPostgreSQL

  extension PostgreSQLServer {
    /// A connection for what no storage does.
    func connection(to storage: PostgreSQLStorage) throws -> ServerConnection {
      try ServerConnection(ServerLocation(url(schema: storage.schema), schema: nil, defaultSchema: "x"))
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
