// SPDX-License-Identifier: Apache-2.0

#if Server
  /// Where a service keeps what it knows: keys, entitlements, changes, webhooks that wait.
  public enum ServiceStorage: Sendable, Hashable {
    /// A SQLite file, which is created if it does not exist. It is for one process that serves.
    case sqlite(path: String)
    #if PostgreSQL
      /// A PostgreSQL database, for any number of processes: `postgresql://`, as libpq understands it, with `schema` for the
      /// schema. What is missing in it is created.
      case postgreSQL(url: String)
    #endif

    /// Opens the database.
    ///
    /// - Throws: ``DatabaseError``.
    package func open() async throws -> any ServiceDatabase {
      switch self {
      case .sqlite(let path): return try SQLiteServiceDatabase(at: path)
      #if PostgreSQL
        case .postgreSQL(let url): return try PostgreSQLServiceDatabase(url)
      #endif
      }
    }
  }
#endif
