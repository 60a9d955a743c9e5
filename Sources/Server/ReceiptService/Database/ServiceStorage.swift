// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import FoundationEssentials
  internal import PostgreSQL
  internal import ReceiptBytes
  internal import SQLite

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

    /// Checks that the database can be opened or created, and changes nothing.
    ///
    /// - Returns: `true` if it exists.
    /// - Throws: ``DatabaseError``; ``ServiceConfigurationError`` in a build without the trait.
    package func check() throws -> Bool {
      switch self {
      case .sqlite(let path):
        do { return try Self.checkFile(path) } catch { throw SQLiteServiceDatabase.error(error) }
      case .postgreSQL(let url):
        #if PostgreSQL
          do {
            return try PostgreSQLServiceDatabase.check(url)
          } catch let fault as PostgreSQLFault {
            throw fault.error
          }
        #else
          throw ServiceConfigurationError(
            "database", "This build has no PostgreSQL: build it with the trait PostgreSQL.")
        #endif
      }
    }

    private static func checkFile(_ path: String) throws -> Bool {
      let file = try DatabaseFile(path)
      guard file.status != nil else {
        let folder = FileSystem.directory(of: path)
        guard try FileSystem.status(folder)?.isDirectory == true else {
          throw DatabaseError(.unusable, at: path, "There is no folder \(folder) to create it in.")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
          throw DatabaseError(
            .unusable, at: path, "It cannot be created: the folder \(folder) cannot be written.")
        }
        return false
      }
      try SQLiteServiceDatabase.format.check(file, busyTimeout: .seconds(10))
      return true
    }
  }
#endif
