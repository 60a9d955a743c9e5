// SPDX-License-Identifier: Apache-2.0

#if Server
  /// Where a service keeps what it knows: keys, entitlements, changes, webhooks that wait.
  public enum ServiceStorage: Sendable, Hashable {
    /// A SQLite file, which is created if it does not exist. It is for one process that serves.
    case sqlite(path: String)

    /// Opens the database.
    ///
    /// - Throws: ``DatabaseError``.
    package func open() async throws -> any ServiceDatabase {
      switch self {
      case .sqlite(let path): try SQLiteServiceDatabase(at: path)
      }
    }
  }
#endif
