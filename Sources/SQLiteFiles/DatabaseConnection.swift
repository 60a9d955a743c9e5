// SPDX-License-Identifier: Apache-2.0

#if SQLite
  package import GRDB

  /// How connections are opened.
  package enum DatabaseConnection {
    /// What has commits on disk when they return.
    package static let durability = """
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      PRAGMA checkpoint_fullfsync = ON;

      """

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - readonly: Whether it is only read.
    ///   - isImmutable: Whether nobody changes the file while it is open: then nothing but the file is read.
    ///   - patience: How long to wait for others.
    ///   - pragmas: What is run first.
    /// - Returns: The connection.
    /// - Throws: ``DatabaseFault`` with `occupied` where it is no SQLite database.
    package static func open(
      _ file: DatabaseFile, readonly: Bool = false, isImmutable: Bool = false, patience: Patience,
      pragmas: String
    ) throws(DatabaseFault) -> DatabaseQueue {
      var configuration = Configuration()
      configuration.readonly = readonly
      configuration.foreignKeysEnabled = false
      // GRDB would end the process where a transaction cannot be ended; here the next use of it fails.
      configuration.allowsUnsafeTransactions = true
      configuration.busyMode = .callback { patience.waits(after: $0) }
      configuration.prepareDatabase { database in
        // Pages of mapped files and temporary files would count as memory and escape erasing.
        try database.execute(
          sql: """
            PRAGMA mmap_size = 0;
            PRAGMA temp_store = MEMORY;
            PRAGMA trusted_schema = OFF;
            """)
        try database.execute(sql: pragmas)
      }
      do {
        return try DatabaseQueue(
          path: isImmutable ? file.immutableURI : file.databasePath, configuration: configuration)
      } catch {
        if let error = error as? DatabaseError, error.resultCode == .SQLITE_NOTADB {
          throw DatabaseFault(.occupied, at: file.path, "It is not an SQLite database.")
        }
        throw DatabaseFault(error, at: file.path)
          ?? DatabaseFault(.inputOutput, at: file.path, "It cannot be opened: \(error)")
      }
    }
  }
#endif
