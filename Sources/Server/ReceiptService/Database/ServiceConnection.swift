// SPDX-License-Identifier: Apache-2.0

#if Server && PostgreSQL
  internal import PostgreSQL

  extension PostgreSQLFault {
    private var sqlState: String? {
      if case .refused(let sqlState) = fault { sqlState } else { nil }
    }

    /// `true` for a serialization failure or a deadlock: the transaction had no effect and may run again.
    var isConflict: Bool { sqlState == "40001" || sqlState == "40P01" }

    /// `true` if the connection was lost, or the server is shutting down, has crashed, or has not started yet.
    var isDisconnected: Bool {
      guard let sqlState else { return fault == .disconnected || fault == .silent }
      return ["57P01", "57P02", "57P03", "57P04", "57P05", "25P03"].contains(sqlState)
        || sqlState.hasPrefix("08")
    }

    var error: DatabaseError {
      let code: DatabaseError.Code =
        switch (fault, sqlState) {
        case (.unusableURL, _), (.noClientLibrary, _): .unusable
        case (.disconnected, _), (.silent, _): .unavailable
        case (_, "53100"): .full
        // These are a lock or a statement that took too long, and a standby that has not taken over yet.
        case (_, "55P03"), (_, "57014"), (_, "25006"): .unavailable
        case (_, let sqlState?) where isConflict || isDisconnected || sqlState.hasPrefix("53"): .unavailable
        default: .unusable
        }
      return DatabaseError(code, at: place, message)
    }
  }

  /// A session with PostgreSQL, which prepares each statement on first use.
  final class ServiceConnection {
    /// The statement that begins a transaction.
    enum Transaction: String {
      case reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
      // After waiting for a lock, each statement sees the data that others have committed meanwhile.
      case writing = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    }

    private struct Statement: Hashable {
      let text: String
      let kinds: [StatementParameter.Kind]
    }

    /// The lock timeout, which is shorter than the time within which the server must answer.
    private static let lockTimeout = "8s"
    /// The deadline for opening a connection.
    private static let openingLimit: Duration = .seconds(10)

    let connection: ServerConnection<PostgreSQLFault>
    private var names: [Statement: String] = [:]

    /// Opens a connection to a server that must answer in time; `nil` if statements may take long.
    init(_ location: ServerLocation, answerLimit: Duration?) throws(PostgreSQLFault) {
      connection = try ServerConnection(location)
      connection.answerLimit = Self.openingLimit
      defer { connection.answerLimit = answerLimit }
      try connection.execute(
        """
        SET search_path = \(location.schema);
        SET lock_timeout = '\(Self.lockTimeout)';
        SET idle_in_transaction_session_timeout = '60s';
        \(SessionSettings.statements)
        """)
    }

    var isBroken: Bool { connection.isBroken }
    var location: ServerLocation { connection.location }

    func requireFsync() throws(PostgreSQLFault) {
      guard try connection.execute("SHOW fsync").text(0, 0) != "on" else { return }
      throw PostgreSQLFault(
        .refused(sqlState: "55000"), at: location.description, SessionSettings.fsyncIsOff)
    }

    /// Runs `body` in a transaction.
    ///
    /// - Throws: ``PostgreSQLFault`` if the transaction certainly had no effect; ``DatabaseError`` if its outcome is
    ///   unknown; the errors of `body`.
    func transaction<Result>(
      _ kind: Transaction, _ body: (any DatabaseSession) throws -> Result
    ) throws -> Result {
      try connection.execute(kind.rawValue)
      let session = PostgreSQLSession(self)
      let result: Result
      do {
        result = try body(session)
        // A fault fails the transaction even if the body caught it.
        if let fault = session.fault { throw fault }
      } catch {
        do throws(PostgreSQLFault) { try connection.execute("ROLLBACK") } catch {
          // If the session has ended, the server has rolled back.
          guard session.fault != nil || error.isDisconnected else { throw error }
        }
        throw session.fault ?? error
      }
      do throws(PostgreSQLFault) {
        try connection.execute("COMMIT")
      } catch {
        guard error.isDisconnected, kind == .writing else { throw error }
        throw DatabaseError(
          .unavailable, at: error.place,
          "The connection was lost during a commit; it is not known whether it took place. \(error.message)")
      }
      return result
    }

    func run(_ statement: String, _ values: [DatabaseValue]) throws(PostgreSQLFault) -> [DatabaseRow] {
      let parameters = values.map { StatementParameter($0) }
      let statement = Statement(text: statement, kinds: parameters.map(\.kind))
      let name: String
      if let known = names[statement] {
        name = known
      } else {
        name = "s\(names.count)"
        try connection.prepare(name, statement.text, types: statement.kinds)
        names[statement] = name
      }
      let result = try connection.execute(prepared: name, parameters)
      return try (0..<result.rowCount).map { row throws(PostgreSQLFault) in
        DatabaseRow(
          try (0..<result.columnCount).map { column throws(PostgreSQLFault) in
            try value(result, row, column)
          })
      }
    }

    private func value(_ result: QueryResult, _ row: Int, _ column: Int) throws(PostgreSQLFault)
      -> DatabaseValue
    {
      if result.isNull(row, column) { return .null }
      switch result.kind(column) {
      case .integer: return .integer(result.integer(row, column))
      case .text: return .text(PostgreSQLText.decode(result.text(row, column)))
      case .bytes: return .bytes(result.bytes(row, column))
      case .void: return .null
      case .other(let type):
        throw PostgreSQLFault(
          .refused(sqlState: "0A000"), at: location.description,
          "A column has the type \(type), which is not read.")
      }
    }
  }

  // The owner ensures that only one thread uses it at a time.
  extension ServiceConnection: @unchecked Sendable {}

  extension StatementParameter {
    fileprivate init(_ value: DatabaseValue) {
      self =
        switch value {
        case .null: .null
        case .integer(let number): .bigint(number)
        case .text(let text): .text(PostgreSQLText.encode(text))
        case .bytes(let bytes): .bytes(bytes)
        }
    }
  }

  /// Encodes text for PostgreSQL, which cannot store U+0000, although customers may send it.
  ///
  /// U+0000 is stored as U+FFFF and 0, and U+FFFF, a noncharacter, as U+FFFF and 1.
  enum PostgreSQLText {
    static func encode(_ text: String) -> String {
      guard text.unicodeScalars.contains(where: { $0 == "\0" || $0 == "\u{FFFF}" }) else { return text }
      return text.unicodeScalars.reduce(into: "") { encoded, scalar in
        switch scalar {
        case "\0": encoded += "\u{FFFF}0"
        case "\u{FFFF}": encoded += "\u{FFFF}1"
        default: encoded.unicodeScalars.append(scalar)
        }
      }
    }

    static func decode(_ text: String) -> String {
      guard text.unicodeScalars.contains("\u{FFFF}") else { return text }
      let parts = text.unicodeScalars.split(separator: "\u{FFFF}", omittingEmptySubsequences: false)
      return parts.dropFirst().reduce(into: String(parts[0])) { decoded, part in
        decoded += (part.first == "0" ? "\0" : "\u{FFFF}") + String(part.dropFirst())
      }
    }
  }

  /// A transaction in PostgreSQL.
  private final class PostgreSQLSession: DatabaseSession {
    let dialect = SQLDialect.postgreSQL
    private let connection: ServiceConnection
    /// The first fault, after which the server aborts the transaction.
    private(set) var fault: PostgreSQLFault?

    init(_ connection: ServiceConnection) { self.connection = connection }

    func run(_ statement: String, _ values: [DatabaseValue]) throws -> [DatabaseRow] {
      if let fault { throw fault.error }
      do throws(PostgreSQLFault) {
        return try connection.run(statement, values)
      } catch {
        fault = error
        throw error.error
      }
    }

    func lock(_ key: String) throws {
      // The lock belongs to the whole database, so the schema is part of the key. Two keys with the same hash only wait
      // for each other.
      try run(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
        .text("receiptkit \(connection.location.schema) \(key)"))
    }
  }
#endif
