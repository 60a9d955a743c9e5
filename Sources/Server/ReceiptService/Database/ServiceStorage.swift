// SPDX-License-Identifier: Apache-2.0

#if Server
  /// The database in which a service stores its keys, entitlements, changes and queued webhook deliveries.
  public enum ServiceStorage: Sendable, Hashable {
    /// A SQLite file for one server process.
    ///
    /// It is created if it does not exist.
    case sqlite(path: String)
    /// A schema of a PostgreSQL server, for any number of processes:
    /// `postgresql://receipts@db.example.com/service?schema=receipts`.
    ///
    /// It is created if it does not exist. The package must be built with the trait `PostgreSQL`.
    case postgreSQL(url: String)

    /// - Throws: ``DatabaseError``; ``ServiceConfigurationError`` in a build without the trait.
    package func open() async throws -> any ServiceDatabase {
      switch self {
      case .sqlite(let path): return try SQLiteServiceDatabase(at: path)
      case .postgreSQL(let url):
        #if PostgreSQL
          return try PostgreSQLServiceDatabase(url)
        #else
          throw Self.missingTrait
        #endif
      }
    }

    /// Checks that the database can be opened or created, changes nothing, and returns `true` if it exists.
    package func check() throws -> Bool {
      switch self {
      case .sqlite(let path): return try SQLiteServiceDatabase.check(path)
      case .postgreSQL(let url):
        #if PostgreSQL
          return try PostgreSQLServiceDatabase.check(url)
        #else
          throw Self.missingTrait
        #endif
      }
    }

    #if !PostgreSQL
      private static let missingTrait = ServiceConfigurationError(
        "database", "This build has no PostgreSQL: build it with the trait PostgreSQL.")
    #endif
  }
#endif
