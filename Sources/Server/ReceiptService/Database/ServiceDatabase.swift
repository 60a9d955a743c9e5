// SPDX-License-Identifier: Apache-2.0

#if Server
  /// The database of a service: processed notifications, ledgers, changes, waiting webhooks, keys, jobs.
  ///
  /// Statements are written once for SQLite and PostgreSQL. Parameters are `$1`, `$2`, …; types are `BIGINT`, `TEXT`
  /// and ``SQLDialect/bytes``. The session's ``SQLDialect`` has the fragments that differ.
  package protocol ServiceDatabase: Sendable {
    /// Runs `body` in one transaction.
    ///
    /// When this returns, the transaction is committed and on disk. If `body` throws, it has no effect. After a
    /// conflict with another process, `body` may run again. It must not wait for anything but the database.
    ///
    /// - Throws: ``DatabaseError``, and the errors of `body`.
    func write<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result

    /// Runs `body` on a snapshot of the committed data.
    ///
    /// - Throws: ``DatabaseError``, and the errors of `body`.
    func read<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result

    /// Removes remnants of deleted rows from the files of the database, as far as it can.
    ///
    /// - Parameter tables: The tables with deleted or changed rows.
    /// - Throws: ``DatabaseError``.
    func scrub(_ tables: Set<String>) async throws

    /// Waits for running transactions, and closes the database.
    func close() async
  }

  extension ServiceDatabase {
    /// Runs one statement on a snapshot of the committed data.
    func rows(_ statement: String, _ values: DatabaseValue...) async throws -> [DatabaseRow] {
      try await read { try $0.run(statement, values) }
    }

    /// Runs one statement in a transaction of its own.
    @discardableResult
    func run(_ statement: String, _ values: DatabaseValue...) async throws -> [DatabaseRow] {
      try await write { try $0.run(statement, values) }
    }
  }

  /// A running transaction.
  package protocol DatabaseSession: AnyObject {
    /// The SQL of the database.
    var dialect: SQLDialect { get }

    /// Runs a statement.
    ///
    /// - Returns: The rows of the result.
    @discardableResult
    func run(_ statement: String, _ values: [DatabaseValue]) throws -> [DatabaseRow]

    /// Waits until no other transaction holds this key, and holds it until this transaction ends.
    func lock(_ key: String) throws
  }

  extension DatabaseSession {
    /// Runs a statement with values for its parameters.
    @discardableResult
    package func run(_ statement: String, _ values: DatabaseValue...) throws -> [DatabaseRow] {
      try run(statement, values)
    }

    /// Returns `true` if a statement has a result.
    func hasRows(_ statement: String, _ values: DatabaseValue...) throws -> Bool {
      try !run(statement, values).isEmpty
    }

    /// The number in the first column of the first row; 0 without a row.
    func integer(_ statement: String, _ values: DatabaseValue...) throws -> Int64 {
      try run(statement, values).first?.integer(0) ?? 0
    }
  }

  extension SQLDialect {
    /// SQLite has one writer, and a reader has a snapshot, so rows need no locks.
    static let sqlite = SQLDialect(
      bytes: "BLOB", sequence: "sequence INTEGER PRIMARY KEY AUTOINCREMENT", lockingRows: "",
      lockingFreeRows: "")

    static let postgreSQL = SQLDialect(
      bytes: "BYTEA", sequence: "sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
      lockingRows: "FOR UPDATE", lockingFreeRows: "FOR UPDATE SKIP LOCKED")
  }

  /// A value of a statement or a row.
  package enum DatabaseValue: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])

    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }

    /// A text; NULL for `nil`.
    package static func text(_ text: String?) -> DatabaseValue { text.map { .text($0) } ?? .null }
    /// A number; NULL for `nil`.
    package static func integer(_ number: Int64?) -> DatabaseValue { number.map { .integer($0) } ?? .null }
  }

  extension DatabaseRow {
    /// The number in a column; 0 for NULL.
    package func integer(_ column: Int) -> Int64 { optionalInteger(column) ?? 0 }
    /// The number in a column; `nil` for NULL.
    package func optionalInteger(_ column: Int) -> Int64? {
      if case .integer(let number) = values[column] { number } else { nil }
    }
    /// The text in a column; empty for NULL.
    package func text(_ column: Int) -> String { optionalText(column) ?? "" }
    /// The text in a column; `nil` for NULL.
    package func optionalText(_ column: Int) -> String? {
      if case .text(let text) = values[column] { text } else { nil }
    }
    /// The bytes in a column; empty for NULL.
    package func bytes(_ column: Int) -> [UInt8] {
      if case .bytes(let bytes) = values[column] { bytes } else { [] }
    }
  }

  extension DatabaseError {
    package var description: String { "\(place): \(message)" }
  }
#endif
