// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Dispatch
  internal import ReceiptBytes
  internal import SQLite
  internal import Synchronization

  /// A database in one SQLite file, for one process.
  ///
  /// Transactions that wait at the same time are committed together, so that one sync serves all of them. Each of them
  /// succeeds or fails independently.
  package final class SQLiteServiceDatabase: ServiceDatabase {
    /// The application identifier of the file (`PRAGMA application_id`): "RKSV".
    static let applicationID: Int64 = 0x524B_5356
    private static let layout = ServiceSchema.layout(
      applicationID: applicationID, version: ServiceSchema.version)
    private static let maximumBatch = 256
    // secure_delete overwrites erased data, so that it does not remain in free pages.
    private static let pragmas =
      "PRAGMA page_size = 4096; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; \(Connection.durability)"

    /// The time for which a transaction waits for another process's lock of the file before it fails.
    private static let busyTimeout = Duration.seconds(3)

    private let path: String
    private let file: DatabaseFile
    private let identity: File.Identity?
    private let writer: Connection
    private let readers: ReaderPool
    private let queue = DispatchQueue(label: "receipt-kit.service-database")
    private let reading = DispatchQueue(
      label: "receipt-kit.service-database.reading", attributes: .concurrent)
    private let waiting = Mutex<[Transaction]>([])
    /// The error of a failed sync.
    ///
    /// Nothing is written after it: the kernel may have dropped the unwritten data, and would report success to the
    /// next sync.
    private let failedSync = Mutex<DatabaseError?>(nil)

    /// A transaction that waits to be committed with others.
    private struct Transaction: Sendable {
      /// Runs the transaction within a savepoint, and returns the completion to call after the commit succeeded or
      /// failed.
      let run: @Sendable (Database) -> @Sendable ((any Error)?) -> Void
      /// Fails the caller if the transaction was not started.
      let fail: @Sendable ((any Error)?) -> Void
    }

    /// Opens a file.
    ///
    /// A missing file is created, readable only by its owner.
    ///
    /// - Throws: ``DatabaseError``.
    package init(at path: String) throws {
      self.path = path
      do {
        let file = try DatabaseFile(path)
        if file.status == nil {
          do {
            try file.create { file in
              let connection = try Connection(
                file, .writing, timeout: BusyTimeout(.zero), pragmas: Self.pragmas)
              try connection.use { database in
                try database.execute("PRAGMA journal_mode = WAL")
                try database.transaction {
                  try database.execute("PRAGMA application_id = \(Self.applicationID)")
                }
              }
              try connection.close()
            }
          } catch let error as SQLiteError where error.code == .occupied {
            // Another process has created it meanwhile.
          }
        }
        self.file = file
        identity = file.status?.identity
        writer = try Connection(
          file, .writing, timeout: BusyTimeout(Self.busyTimeout), pragmas: Self.pragmas)
        try writer.use { database in
          try Self.upgradeLayout(database)
          try Self.layout.require(in: database)
        }
        readers = ReaderPool(path: path, maximumIdle: 4) { () throws(SQLiteError) in
          try Connection(file, .reading, timeout: BusyTimeout(Self.busyTimeout), pragmas: "")
        }
      } catch { throw Self.error(error) }
    }

    private static func upgradeLayout(_ database: Database) throws {
      guard try layout.storedVersion(in: database) != layout.version else { return }
      try database.transaction {
        let version = try layout.storedVersion(in: database)
        // The check must precede the upgrade. Afterwards, foreign objects in the earlier version's schema could no
        // longer be found.
        if version < layout.version {
          try ServiceSchema.layout(applicationID: applicationID, version: version).requireSchema(in: database)
        }
        try ServiceSchema.upgrade(SQLiteSession(database), version: version) { version in
          try database.execute("PRAGMA user_version = \(version)")
        }
      }
    }

    package func write<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result {
      try await withCheckedThrowingContinuation { continuation in
        let run = { @Sendable (database: Database) -> @Sendable ((any Error)?) -> Void in
          let outcome = Swift.Result { () throws -> Result in
            try database.run("SAVEPOINT one")
            do {
              let result = try body(SQLiteSession(database))
              try database.run("RELEASE one")
              return result
            } catch {
              self.noteFailedSync(error)
              // Some errors end the whole transaction, including the savepoint.
              if database.isInTransaction {
                try database.run("ROLLBACK TO one")
                try database.run("RELEASE one")
              }
              throw error
            }
          }
          return { failure in
            continuation.resume(with: failure.map { .failure($0) } ?? outcome.mapError(Self.error))
          }
        }
        let transaction = Transaction(run: run) { failure in
          if let failure { continuation.resume(throwing: failure) }
        }
        let isFirst = waiting.withLock { waiting in
          waiting.append(transaction)
          return waiting.count == 1
        }
        if isFirst { queue.async { self.commitWaiting() } }
      }
    }

    private func commitWaiting() {
      while true {
        let batch = waiting.withLock { Array($0.prefix(Self.maximumBatch)) }
        guard !batch.isEmpty else { return }
        var completions: [@Sendable ((any Error)?) -> Void] = []
        var failure: (any Error)?
        do {
          try requireSynchronized()
          // A commit to a removed or replaced file would be acknowledged and lost.
          guard file.status?.identity == identity else {
            throw SQLiteError(
              .inputOutput, at: path,
              "The file was moved, removed or replaced while in use. Put it back, or restart the server.")
          }
          try writer.use { database in
            try database.transaction {
              for transaction in batch {
                completions.append(transaction.run(database))
                guard database.isInTransaction else { break }
              }
              guard database.isInTransaction else {
                throw SQLiteError(.inputOutput, at: path, "The transaction was ended. Nothing was stored.")
              }
            }
          }
        } catch {
          noteFailedSync(error)
          failure = Self.error(error)
        }
        // If the database could not begin a transaction, no transaction of the batch was started.
        if completions.isEmpty { completions = batch.map(\.fail) }
        for complete in completions { complete(failure) }
        let isMore = waiting.withLock { waiting in
          // Transactions that were not started stay in the queue.
          waiting.removeFirst(completions.count)
          return !waiting.isEmpty
        }
        if !isMore { return }
      }
    }

    package func read<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result {
      try await withCheckedThrowingContinuation { continuation in
        reading.async { [self] in
          continuation.resume(
            with: Swift.Result {
              try readers.withReader { database in
                try database.run("BEGIN")
                defer { database.rollBack() }
                return try body(SQLiteSession(database))
              }
            }.mapError(Self.error))
        }
      }
    }

    package func scrub(_ tables: Set<String>) async throws {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        queue.async { [self] in
          continuation.resume(
            with: Swift.Result {
              try requireSynchronized()
              try writer.use { database in
                // Objects that were added to the schema since the file was opened may contain copies of erased data.
                try Self.layout.requireSchema(in: database)
                try database.checkpoint(.truncate)
              }
            }.mapError(Self.error))
        }
      }
    }

    package func close() async {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        queue.async(flags: .barrier) { [self] in
          try? readers.close()
          try? writer.close()
          continuation.resume()
        }
      }
    }

    private func noteFailedSync(_ error: any Error) {
      guard let error = error as? SQLiteError, error.code == .syncFailed else { return }
      let fault = DatabaseError(
        .unavailable, at: error.place,
        "An earlier sync failed, and nothing is written since: find out why the disk fails, then restart the server. "
          + error.message)
      failedSync.withLock { $0 = $0 ?? fault }
    }

    private func requireSynchronized() throws {
      if let fault = failedSync.withLock({ $0 }) { throw fault }
    }

    static func error(_ error: any Error) -> any Error {
      guard let error = error as? SQLiteError else { return error }
      let code: DatabaseError.Code =
        switch error.code {
        case .full: .full
        case .notFound, .occupied, .corrupt, .unsupported: .unusable
        case .busy, .inputOutput, .syncFailed, .closed: .unavailable
        }
      return DatabaseError(code, at: error.place, error.message)
    }
  }

  /// A transaction in SQLite.
  private final class SQLiteSession: DatabaseSession {
    private let database: Database

    init(_ database: Database) { self.database = database }

    func run(_ statement: String, _ values: [DatabaseValue]) throws -> [DatabaseRow] {
      // SQLite has one writer, and a reader has a snapshot.
      let statement = statement.replacing(" FOR UPDATE SKIP LOCKED", with: "").replacing(
        " FOR UPDATE", with: "")
      return try database.withStatement(statement) { prepared in
        for (position, value) in values.enumerated() {
          let index = Int32(position + 1)
          switch value {
          case .null: try prepared.bind(nil as String?, at: index)
          case .integer(let number): try prepared.bind(number, at: index)
          case .text(let text): try prepared.bind(text, at: index)
          case .bytes(let bytes): try prepared.bind(bytes, at: index)
          }
        }
        var rows: [DatabaseRow] = []
        while try prepared.step() {
          rows.append(
            DatabaseRow(
              (0..<prepared.columnCount).map { column in
                switch prepared.type(column) {
                case .null: .null
                case .integer: .integer(prepared.integer(column))
                case .text: .text(prepared.text(column))
                case .blob: .bytes(prepared.blob(column) ?? [])
                }
              }))
        }
        return rows
      }
    }

    func lock(_ key: String) {}
  }
#endif
