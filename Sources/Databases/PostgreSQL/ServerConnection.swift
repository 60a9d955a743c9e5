// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import CPostgreSQL

  /// A session with a server. It starts outside of pipeline mode, for ``execute(_:)`` and ``prepare(_:_:types:)``. In
  /// pipeline mode, statements are sent one after the other, and answers are awaited only when they are needed.
  @safe
  package final class ServerConnection<Failure: ServerFailure> {
    package let location: ServerLocation
    private let handle: OpaquePointer
    /// The sent items, in order, whose answers have not been taken yet.
    private var awaited: [Awaited] = []
    /// Indicates whether the wait for an answer was given up. Later answers can no longer be matched to statements.
    private var isGivenUp = false

    /// The maximum time to wait for an answer. Without a limit, the wait for a server process that hangs never ends,
    /// because its operating system continues to acknowledge the data that it receives.
    package var answerLimit: Duration? {
      didSet { _ = unsafe libpq.PQsetnonblocking(handle, answerLimit == nil ? 0 : 1) }
    }

    private enum Awaited: Sendable { case statement, synchronization }

    /// Connects to the server. Throws `disconnected` for any reason, because libpq has no error codes for connecting.
    package init(_ location: ServerLocation) throws(Failure) {
      self.location = location
      // The URL can override parameters that precede it, but not those that follow it.
      let parameters: KeyValuePairs = [
        "connect_timeout": "5", "keepalives_idle": "30", "keepalives_interval": "10",
        "keepalives_count": "3",
        "tcp_user_timeout": "60000", "target_session_attrs": "read-write", "application_name": "receiptkit",
        "dbname": location.connectionURL, "client_encoding": "UTF8",
      ]
      let connected = unsafe StatementParameter.withCStrings(parameters.map(\.key)) { keys in
        unsafe StatementParameter.withCStrings(parameters.map(\.value)) { values in
          unsafe libpq.PQconnectdbParams(keys, values, 1)
        }
      }
      guard let connected = unsafe connected else {
        throw Failure(.disconnected, at: location.description, "There is no memory for a connection.")
      }
      unsafe self.handle = connected
      guard unsafe libpq.PQstatus(connected) == CONNECTION_OK else { throw lost() }
      unsafe CPostgreSQL_ignore_notices(connected)
    }

    deinit { unsafe libpq.PQfinish(handle) }

    /// Indicates whether the session has ended. It detects without waiting that the server has ended it: a first read
    /// gets the server's last messages, and the next read the end of the connection.
    package var isBroken: Bool {
      isGivenUp
        || (0..<3).contains { _ in
          unsafe libpq.PQconsumeInput(handle) == 0 || libpq.PQstatus(handle) != CONNECTION_OK
        }
    }

    // MARK: Outside of pipeline mode

    /// Executes statements and returns the answer to the last one.
    @discardableResult
    package func execute(_ statements: String) throws(Failure) -> QueryResult {
      guard !isGivenUp, unsafe libpq.PQsendQuery(handle, statements) == 1 else { throw lost() }
      return try takeAnswer()
    }

    package func prepare(_ name: String, _ statement: String, types: [StatementParameter.Kind])
      throws(Failure)
    {
      try requestPreparation(name, statement, types)
      _ = try takeAnswer()
    }

    package func execute(prepared name: String, _ parameters: [StatementParameter]) throws(Failure)
      -> QueryResult
    {
      try requestExecution(name, parameters)
      return try takeAnswer()
    }

    private func requestPreparation(
      _ name: String, _ statement: String, _ types: [StatementParameter.Kind]
    ) throws(Failure) {
      let types = types.map(\.rawValue)
      guard !isGivenUp, unsafe libpq.PQsendPrepare(handle, name, statement, Int32(types.count), types) == 1
      else {
        throw lost()
      }
    }

    private func requestExecution(_ name: String, _ parameters: [StatementParameter]) throws(Failure) {
      guard !isGivenUp else { throw lost() }
      let sent = unsafe StatementParameter.withPointers(to: parameters) { values, lengths, formats in
        unsafe libpq.PQsendQueryPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
      }
      guard sent == 1 else { throw lost() }
    }

    /// Waits for the answers to everything that was sent, and returns the last, as libpq's blocking functions do.
    private func takeAnswer() throws(Failure) -> QueryResult {
      var last: QueryResult?
      while let answer = unsafe try nextAnswer() {
        last = unsafe QueryResult(takingOwnership: answer)
        if unsafe libpq.PQstatus(handle) != CONNECTION_OK { break }
      }
      guard let last else { throw lost() }
      if let failure = failure(of: last) { throw failure }
      return last
    }

    /// Waits for the next answer; `nil` at the end of a statement's answers.
    private func nextAnswer() throws(Failure) -> OpaquePointer? {
      if let answerLimit { try wait(atMost: answerLimit) }
      return unsafe libpq.PQgetResult(handle)
    }

    /// Sends the data that has not been sent, and waits until an answer can be taken.
    private func wait(atMost limit: Duration) throws(Failure) {
      var deadline: ContinuousClock.Instant?
      while true {
        let isUnsent = unsafe libpq.PQflush(handle)
        guard isUnsent >= 0 else { throw lost() }
        if unsafe isUnsent == 0 && libpq.PQisBusy(handle) == 0 { return }
        let end = deadline ?? .now + limit
        deadline = end
        let remaining = (end - .now) / .milliseconds(1)
        guard remaining > 0 else {
          isGivenUp = true
          throw Failure(.silent, at: location.description, "The server did not answer within \(limit).")
        }
        let events = unsafe CPostgreSQL_wait(
          libpq.PQsocket(handle), isUnsent, Int32(min(remaining.rounded(.up), 60_000)))
        if events > 0, unsafe libpq.PQconsumeInput(handle) == 0 { throw lost() }
      }
    }

    // MARK: In pipeline mode

    /// Enters pipeline mode with a limit for all answers, and prepares statements in one round trip.
    package func beginPipeline(
      preparing statements: [(name: String, text: String, types: [StatementParameter.Kind])],
      answerLimit: Duration
    ) throws(Failure) {
      self.answerLimit = answerLimit
      guard unsafe libpq.PQenterPipelineMode(handle) == 1 else { throw lost() }
      for (name, text, types) in statements {
        try requestPreparation(name, text, types)
        awaited.append(.statement)
      }
      try synchronize()
      try takeAnswers()
    }

    /// Sends a prepared statement without waiting for its answer.
    package func send(_ name: String, _ parameters: [StatementParameter] = []) throws(Failure) {
      try requestExecution(name, parameters)
      awaited.append(.statement)
    }

    /// Sends a statement, and waits for its answer and all earlier ones. Throws the error of the first statement that
    /// failed. The statements after it were not executed.
    package func run(_ name: String, _ parameters: [StatementParameter] = []) throws(Failure) -> QueryResult {
      try send(name, parameters)
      try synchronize()
      guard let result = try takeAnswers() else { throw lost() }
      return result
    }

    package var awaitedCount: Int { awaited.count }

    /// Makes the server execute everything that was sent, without waiting. An earlier failure does not affect later
    /// statements.
    package func synchronize() throws(Failure) {
      guard unsafe libpq.PQpipelineSync(handle) == 1 else { throw lost() }
      awaited.append(.synchronization)
    }

    /// Waits for all outstanding answers and returns that of the last statement.
    @discardableResult
    package func takeAnswers() throws(Failure) -> QueryResult? {
      var (last, failed): (QueryResult?, Failure?) = (nil, nil)
      for expected in awaited {
        switch expected {
        case .statement:
          last = nil
          while let answer = unsafe try nextAnswer() {
            let result = unsafe QueryResult(takingOwnership: answer)
            // The answer to the failed statement precedes those of the statements that were skipped because of it.
            if failed == nil { failed = failure(of: result) }
            last = result
          }
          if last == nil { failed = failed ?? lost() }
        case .synchronization:
          guard let answer = unsafe try nextAnswer() else {
            failed = failed ?? lost()
            break
          }
          let result = unsafe QueryResult(takingOwnership: answer)
          if result.status != PGRES_PIPELINE_SYNC { failed = failed ?? failure(of: result) ?? lost() }
        }
        if unsafe libpq.PQstatus(handle) != CONNECTION_OK { break }
      }
      awaited = []
      if let failed { throw failed }
      if unsafe libpq.PQstatus(handle) != CONNECTION_OK { throw lost() }
      return last
    }

    private func failure(of result: QueryResult) -> Failure? {
      switch result.status {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_PIPELINE_SYNC, PGRES_EMPTY_QUERY: return nil
      default:
        guard let sqlState = result.sqlState else { return lost() }
        return Failure(
          .refused(sqlState: sqlState), at: location.description,
          "\(location.sayable(result.message)) (SQLSTATE \(sqlState)).")
      }
    }

    private func lost() -> Failure {
      let message = unsafe libpq.PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
      return Failure(
        .disconnected, at: location.description,
        location.sayable(message.isEmpty ? "The connection to the server is lost." : message))
    }
  }

  extension ServerConnection {
    /// Creates the schema of the location if it does not exist. Returns `false` if it is in use by something else.
    package func createEmptySchema() throws(Failure) -> Bool {
      // If the schema exists, the user does not need permission to create one.
      if try execute("SELECT to_regnamespace('\(location.schema)')::text").text(0, 0).isEmpty {
        try execute("CREATE SCHEMA \(location.schema)")
      }
      return try isSchemaEmpty()
    }

    /// Indicates whether there is nothing in the schema of the location, or no such schema.
    package func isSchemaEmpty() throws(Failure) -> Bool {
      try execute(
        "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('\(location.schema)')"
      ).text(0, 0) == "0"
    }

    /// Waits for transactions that may still see deleted rows, which rewriting a table keeps. Returns `false` if one
    /// did not end within `timeout`. The server ignores lazy vacuums in this respect, which take minutes after large
    /// inserts, but not an ANALYZE.
    package func waitForOlderTransactions(within timeout: Duration) throws(Failure) -> Bool {
      let own = try execute("SELECT pg_current_xact_id()::text").text(0, 0)
      let older = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND age(coalesce(backend_xmin, backend_xid)) > age('\(own)'::xid8::xid)
        AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
        """
      let end = ContinuousClock.now + timeout
      while try execute(older).text(0, 0) != "0" {
        guard ContinuousClock.now < end else { return false }
        try execute("SELECT pg_sleep(0.02)")
      }
      return true
    }

    /// Rewrites a table, so that nothing of its deleted rows remains. Returns `false` if the user does not own it: the
    /// server then skips it with only a warning.
    package func rewrite(_ table: String) throws(Failure) -> Bool {
      let file = "SELECT pg_relation_filepath('\(table)')"
      let before = try execute(file).text(0, 0)
      // The statistics contain samples of values, so they are computed again from the remaining rows.
      try execute("VACUUM (FULL, ANALYZE) \(table)")
      return try execute(file).text(0, 0) != before
    }
  }

  // A connection has no thread-specific state, and its users ensure that only one thread uses it at a time.
  extension ServerConnection: @unchecked Sendable {}
#endif

/// The reason why a server could not execute a request.
package enum ServerFault: Sendable, Hashable {
  case unusableURL
  /// libpq is not installed, or it is older than 14.
  case noClientLibrary
  /// There is no connection, or it was lost. It is unknown whether the last statement took effect.
  case disconnected
  /// The server did not answer in time and the connection was given up. It is unknown if the last statement took
  /// effect.
  case silent
  /// The server refused a statement, with this SQLSTATE (PostgreSQL, appendix A).
  case refused(sqlState: String)
}

/// An error type of the users of a server, which ``ServerConnection`` creates.
package protocol ServerFailure: Error {
  /// Creates an error with the location of the server and the message of the server or of libpq, on one line, both
  /// without a password.
  init(_ fault: ServerFault, at place: String, _ message: String)
}
