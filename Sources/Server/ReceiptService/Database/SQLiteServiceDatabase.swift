// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Dispatch
  internal import FoundationEssentials
  internal import ReceiptBytes
  internal import SQLite
  internal import Synchronization

  /// A database in one SQLite file, for one process.
  ///
  /// Transactions that wait at the same time are committed together, so that one sync serves all of them. Each of them
  /// succeeds or fails independently.
  package final class SQLiteServiceDatabase: ServiceDatabase {
    /// The format of the file; the application identifier is "RKSV".
    private static let format = DatabaseFormat(
      layout: layout(ServiceSchema.version),
      upgrade: (
        layout: layout,
        run: { database, version in
          try ServiceSchema.upgrade(SQLiteSession(database), version: version)
        }
      ),
      sharing: .shared, synchronization: .atCommit, pageSize: 4096, logLimit: 8 << 20,
      // secure_delete overwrites erased data, so that it does not remain in free pages.
      pragmas: "PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;",
      reopening: "Nothing is written until you find out why the disk fails, and restart the server.")

    private static func layout(_ version: Int64) -> DatabaseLayout {
      ServiceSchema.layout(applicationID: 0x524B_5356, version: version)
    }

    private static let maximumBatch = 256
    /// The time for which a transaction waits for another process's lock of the file before it fails.
    private static let busyTimeout = Duration.seconds(3)

    private let path: String
    private let writer: DatabaseWriter
    private let readers: ReaderPool
    private let queue = DispatchQueue(label: "receipt-kit.service-database")
    private let reading = DispatchQueue(
      label: "receipt-kit.service-database.reading", attributes: .concurrent)
    private let waiting = Mutex<[Transaction]>([])

    /// Resumes the caller of a transaction after the commit succeeded or failed.
    private typealias Completion = @Sendable ((any Error)?) -> Void
    /// Runs a transaction that waits to be committed with others within a savepoint, unless none could be begun.
    private typealias Transaction = @Sendable (Database?) -> Completion

    /// Opens a file; a missing one is created, readable only by its owner.
    package init(at path: String) throws {
      self.path = path
      do {
        writer = try Self.format.openOrCreate(DatabaseFile(path), busyTimeout: Self.busyTimeout)
        readers = Self.format.readers(of: writer.file, busyTimeout: Self.busyTimeout)
      } catch { throw Self.error(error) }
    }

    /// Checks that a file can be opened or created, changes nothing, and returns `true` if it exists.
    static func check(_ path: String) throws -> Bool {
      do {
        let file = try DatabaseFile(path)
        guard file.status == nil else {
          try format.check(file, busyTimeout: .seconds(10))
          return true
        }
        let folder = FileSystem.directory(of: path)
        guard try FileSystem.status(folder)?.isDirectory == true else {
          throw DatabaseError(.unusable, at: path, "There is no folder \(folder) to create it in.")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
          throw DatabaseError(
            .unusable, at: path, "It cannot be created: the folder \(folder) cannot be written.")
        }
        return false
      } catch { throw Self.error(error) }
    }

    package func write<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result {
      try await withCheckedThrowingContinuation { continuation in
        let transaction: Transaction = { database in
          let outcome = database.map { database in
            Swift.Result { try self.withSavepoint(database) { try body(SQLiteSession(database)) } }
              .mapError(Self.error)
          }
          return { failure in
            if let outcome = failure.map({ .failure($0) }) ?? outcome { continuation.resume(with: outcome) }
          }
        }
        let isFirst = waiting.withLock { waiting in
          waiting.append(transaction)
          return waiting.count == 1
        }
        if isFirst { queue.async { self.commitWaiting() } }
      }
    }

    private func withSavepoint<Result>(_ database: Database, _ body: () throws -> Result) throws -> Result {
      try database.run("SAVEPOINT one")
      do {
        let result = try body()
        try database.run("RELEASE one")
        return result
      } catch {
        if let error = error as? SQLiteError, error.code == .syncFailed { writer.stop(error) }
        // Some errors end the whole transaction, including the savepoint.
        if database.isInTransaction {
          try database.run("ROLLBACK TO one")
          try database.run("RELEASE one")
        }
        throw error
      }
    }

    private func commitWaiting() {
      while true {
        let batch = waiting.withLock { Array($0.prefix(Self.maximumBatch)) }
        guard !batch.isEmpty else { return }
        var completions: [Completion] = []
        var failure: (any Error)?
        do {
          try writer.transaction { database in
            for transaction in batch {
              completions.append(transaction(database))
              guard database.isInTransaction else {
                throw SQLiteError(.inputOutput, at: path, "The transaction was ended. Nothing was stored.")
              }
            }
          }
        } catch {
          failure = Self.error(error)
        }
        // If the database could not begin a transaction, no transaction of the batch was started.
        if completions.isEmpty { completions = batch.map { $0(nil) } }
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
      try await perform(on: reading) { [readers] in
        try readers.withReader { database in
          try database.run("BEGIN")
          defer { database.rollBack() }
          return try body(SQLiteSession(database))
        }
      }
    }

    package func scrub(_ tables: Set<String>) async throws {
      try await perform(on: queue) { [writer] in try writer.scrub() }
    }

    package func close() async {
      try? await perform(on: queue) { [readers, writer] in
        try? readers.close()
        try? writer.close()
      }
    }

    private func perform<Result: Sendable>(
      on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { continuation.resume(with: Swift.Result { try work() }.mapError(Self.error)) }
      }
    }

    private static func error(_ error: any Error) -> any Error {
      guard let error = error as? SQLiteError else { return error }
      let code: DatabaseError.Code =
        switch error.code {
        case .full: .full
        case .notFound, .occupied, .corrupt, .unsupported: .unusable
        case .busy, .inputOutput, .moved, .syncFailed, .closed: .unavailable
        }
      let remedy = error.code == .moved ? " Put it back, or restart the server." : ""
      return DatabaseError(code, at: error.place, error.message + remedy)
    }
  }

  /// A transaction in SQLite.
  private final class SQLiteSession: DatabaseSession {
    let dialect = SQLDialect.sqlite
    private let database: Database

    init(_ database: Database) { self.database = database }

    func run(_ statement: String, _ values: [DatabaseValue]) throws -> [DatabaseRow] {
      try database.withStatement(statement) { prepared in
        for (position, value) in values.enumerated() {
          // SQLite takes `$1` for a name, and numbers names in the order in which they occur.
          let index = prepared.index(ofParameter: position + 1)
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
