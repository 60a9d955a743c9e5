// SPDX-License-Identifier: Apache-2.0

#if Server
  /// The database of a service: notifications that were recorded, ledgers, changes, webhooks that wait, keys, jobs.
  ///
  /// Statements are written once for SQLite and PostgreSQL. Parameters are `?1`, `?2`, …; types are `BIGINT`, `TEXT`
  /// and `BLOB` (`BYTEA` in PostgreSQL). `FOR UPDATE`, also with `SKIP LOCKED`, is omitted for SQLite, which has only
  /// one writer.
  package protocol ServiceDatabase: Sendable {
    /// Runs `body` in one transaction. It is committed and on disk when this returns, and has no effect if `body`
    /// throws.
    ///
    /// `body` may run again after a conflict with another process. It must not wait for anything but the database.
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

    /// Removes remnants of deleted rows from the files of the database, as far as the database can do so.
    ///
    /// - Parameter tables: The tables that rows were deleted from, or changed in.
    /// - Throws: ``DatabaseError``.
    func scrub(_ tables: Set<String>) async throws

    /// Waits for transactions under way, and closes.
    func close() async
  }

  /// A transaction that is under way.
  package protocol DatabaseSession: AnyObject {
    /// Runs a statement.
    ///
    /// - Returns: Its rows.
    @discardableResult
    func run(_ statement: String, _ values: [DatabaseValue]) throws -> [DatabaseRow]

    /// Lets transactions that name the same key run one after the other until this one ends.
    func lock(_ key: String) throws
  }

  extension DatabaseSession {
    /// Runs a statement with values.
    @discardableResult
    package func run(_ statement: String, _ values: DatabaseValue...) throws -> [DatabaseRow] {
      try run(statement, values)
    }
  }

  /// A value of a statement or a row.
  package enum DatabaseValue: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])

    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }

    /// A text, or NULL.
    package static func text(_ text: String?) -> DatabaseValue { text.map { .text($0) } ?? .null }
    /// A number, or NULL.
    package static func integer(_ number: Int64?) -> DatabaseValue { number.map { .integer($0) } ?? .null }
  }

  /// A row that a statement gave.
  package struct DatabaseRow: Sendable {
    package let values: [DatabaseValue]

    package init(_ values: [DatabaseValue]) { self.values = values }

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

  /// A failure of a database.
  package struct DatabaseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, which determines the remedy.
    package enum Code: String, Sendable, Hashable {
      /// Nothing was stored: it is full.
      case full
      /// It cannot be reached now, or others hold it. Whether a transaction took effect is not known.
      case unavailable
      /// It is of another application or a later version, or was damaged.
      case unusable
    }

    package let code: Code
    /// The file or the server, without a password.
    package let place: String
    package let message: String

    package init(_ code: Code, at place: String, _ message: String) {
      self.code = code
      self.place = place
      self.message = message
    }

    package var description: String { "\(place): \(message)" }
  }
#endif
