// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  @testable import ReceiptService
  import Testing

  /// A database that the tests of the service run on.
  enum DatabaseKind: String, Sendable, CustomTestStringConvertible {
    case sqlite = "SQLite"
    case postgreSQL = "PostgreSQL"

    var testDescription: String { rawValue }

    #if PostgreSQL
      static let all: [DatabaseKind] = TemporaryPostgreSQL.isPresent ? [.sqlite, .postgreSQL] : [.sqlite]
    #else
      static let all: [DatabaseKind] = [.sqlite]
    #endif

    /// An empty one, and all that it has in files.
    func make(in folder: URL) throws -> (any ServiceDatabase, @Sendable () throws -> [Data]) {
      #if PostgreSQL
        if self == .postgreSQL {
          let server = try TemporaryPostgreSQL.shared.get()
          let url = server.url()
          return (try PostgreSQLServiceDatabase(url, maximumConnections: 4), { try server.files(of: url) })
        }
      #endif
      return (
        try SQLiteServiceDatabase(at: folder.appending(path: "service.sqlite").path),
        {
          try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { try Data(contentsOf: $0) }
        }
      )
    }
  }
#endif
