// SPDX-License-Identifier: Apache-2.0

#if Server
  /// Where a service keeps what it knows: keys, entitlements, changes, webhooks that wait.
  public enum ServiceStorage: Sendable, Hashable {
    /// A SQLite file, which is created if it does not exist. It is for one process that serves.
    case sqlite(path: String)
    /// A schema of a PostgreSQL server, for any number of processes:
    /// `postgresql://receipts@db.example.com/service?schema=receipts`. It is created if it does not exist. The package is to be
    /// built with the trait `PostgreSQL`.
    case postgreSQL(url: String)

    /// Opens the database.
    ///
    /// - Throws: ``DatabaseError``; ``ServiceConfigurationError`` in a build without the trait.
    package func open() async throws -> any ServiceDatabase {
      switch self {
      case .sqlite(let path): return try SQLiteServiceDatabase(at: path)
      case .postgreSQL(let url):
        #if PostgreSQL
          return try PostgreSQLServiceDatabase(url)
        #else
          throw ServiceConfigurationError(
            "database", "This build has no PostgreSQL: build it with the trait PostgreSQL.")
        #endif
      }
    }
  }
#endif
