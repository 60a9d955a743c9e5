// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import CPostgreSQL

  /// A session with a server.
  ///
  /// It begins outside of pipeline mode, for ``execute(_:)`` and ``prepare(_:_:types:)``. In pipeline mode statements
  /// are sent one after the other, and answers are waited for only where they are needed.
  @safe
  package final class ServerConnection<Failure: ServerFailure> {
    package let location: ServerLocation
    private let handle: OpaquePointer
    /// The statements that were sent, in order, whose answers have not been taken yet.
    private var awaited: [Awaited] = []
    /// Indicates whether an answer was given up: what comes after it belongs to no statement.
    private var isGivenUp = false

    /// The longest time that an answer may take. Without a limit the wait for a server that hangs has no end, since its
    /// system goes on to acknowledge what it is sent.
    package var answerLimit: Duration? {
      didSet { _ = unsafe PQsetnonblocking(handle, answerLimit == nil ? 0 : 1) }
    }

    private enum Awaited: Sendable { case statement, synchronization }

    /// Connects.
    ///
    /// - Throws: `disconnected`, whatever the reason: libpq has no code for it.
    package init(_ location: ServerLocation) throws(Failure) {
      self.location = location
      // The URL overrides the settings before it; those after it override the URL.
      let parameters: KeyValuePairs = [
        "connect_timeout": "5", "keepalives_idle": "30", "keepalives_interval": "10",
        "keepalives_count": "3",
        "tcp_user_timeout": "60000", "target_session_attrs": "read-write", "application_name": "receiptkit",
        "dbname": location.connectionURL, "client_encoding": "UTF8",
      ]
      let connected = unsafe CStrings.withPointers(parameters.map(\.key)) { keys in
        unsafe CStrings.withPointers(parameters.map(\.value)) { values in
          unsafe PQconnectdbParams(keys, values, 1)
        }
      }
      guard let connected = unsafe connected else {
        throw Failure(.disconnected, at: location.description, "There is no memory for a connection.")
      }
      unsafe self.handle = connected
      guard unsafe PQstatus(connected) == CONNECTION_OK else { throw lost() }
      unsafe CPostgreSQL_ignore_notices(connected)
    }

    deinit { unsafe PQfinish(handle) }

    /// Indicates whether the session is at an end. Notices without waiting when the server has ended it: its last words
    /// are read first, the end behind them with the next reading.
    package var isBroken: Bool {
      isGivenUp
        || (0..<3).contains { _ in unsafe PQconsumeInput(handle) == 0 || PQstatus(handle) != CONNECTION_OK }
    }

    // MARK: Outside of pipeline mode

    /// Carries out statements and returns the answer to the last.
    @discardableResult
    package func execute(_ statements: String) throws(Failure) -> QueryResult {
      guard !isGivenUp, unsafe PQsendQuery(handle, statements) == 1 else { throw lost() }
      return try takeAnswer()
    }

    package func prepare(_ name: String, _ statement: String, types: [StatementParameter.Kind])
      throws(Failure)
    {
      let types = types.map(\.rawValue)
      guard !isGivenUp, unsafe PQsendPrepare(handle, name, statement, Int32(types.count), types) == 1 else {
        throw lost()
      }
      _ = try takeAnswer()
    }

    /// Carries out a prepared statement and returns its answer.
    package func execute(prepared name: String, _ parameters: [StatementParameter]) throws(Failure)
      -> QueryResult
    {
      guard !isGivenUp else { throw lost() }
      let sent = unsafe StatementParameter.withPointers(to: parameters) { values, lengths, formats in
        unsafe PQsendQueryPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
      }
      guard sent == 1 else { throw lost() }
      return try takeAnswer()
    }

    /// Waits for the answers to all that was sent, and returns the last, as libpq's functions do that wait themselves.
    private func takeAnswer() throws(Failure) -> QueryResult {
      var last: QueryResult?
      while let answer = unsafe try nextAnswer() {
        last = unsafe QueryResult(takingOwnership: answer)
        if unsafe PQstatus(handle) != CONNECTION_OK { break }
      }
      guard let last else { throw lost() }
      if let failure = failure(of: last) { throw failure }
      return last
    }

    /// The next answer, once it is there; `nil` at the end of those to a statement.
    private func nextAnswer() throws(Failure) -> OpaquePointer? {
      if let answerLimit { try wait(atMost: answerLimit) }
      return unsafe PQgetResult(handle)
    }

    /// Sends what has not been sent, and waits until an answer can be taken.
    private func wait(atMost limit: Duration) throws(Failure) {
      var deadline: ContinuousClock.Instant?
      while true {
        let isUnsent = unsafe PQflush(handle)
        guard isUnsent >= 0 else { throw lost() }
        if unsafe isUnsent == 0 && PQisBusy(handle) == 0 { return }
        let end = deadline ?? .now + limit
        deadline = end
        let remaining = (end - .now) / .milliseconds(1)
        guard remaining > 0 else {
          isGivenUp = true
          throw Failure(.silent, at: location.description, "The server did not answer within \(limit).")
        }
        let events = unsafe CPostgreSQL_wait(
          PQsocket(handle), isUnsent, Int32(min(remaining.rounded(.up), 60_000)))
        if events > 0, unsafe PQconsumeInput(handle) == 0 { throw lost() }
      }
    }

    package func beginPipeline() throws(Failure) {
      guard unsafe PQenterPipelineMode(handle) == 1 else { throw lost() }
    }

    // MARK: In pipeline mode

    /// Sends the preparation of a statement without waiting for its answer.
    package func sendPreparation(_ name: String, _ statement: String, types: [StatementParameter.Kind])
      throws(Failure)
    {
      let types = types.map(\.rawValue)
      guard unsafe PQsendPrepare(handle, name, statement, Int32(types.count), types) == 1 else {
        throw lost()
      }
      awaited.append(.statement)
    }

    /// Sends a prepared statement without waiting for its answer.
    package func send(_ name: String, _ parameters: [StatementParameter] = []) throws(Failure) {
      guard !isGivenUp else { throw lost() }
      let sent = unsafe StatementParameter.withPointers(to: parameters) { values, lengths, formats in
        unsafe PQsendQueryPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
      }
      guard sent == 1 else { throw lost() }
      awaited.append(.statement)
    }

    /// Sends a statement and waits for its answer and all before it.
    ///
    /// - Throws: The fault of the first statement that failed; those after it were not carried out.
    package func run(_ name: String, _ parameters: [StatementParameter] = []) throws(Failure) -> QueryResult {
      try send(name, parameters)
      try synchronize()
      guard let result = try takeAnswers() else { throw lost() }
      return result
    }

    /// The number of outstanding answers.
    package var awaitedCount: Int { awaited.count }

    /// Has all that was sent carried out, without waiting: what failed before does not hinder what comes after.
    package func synchronize() throws(Failure) {
      guard unsafe PQpipelineSync(handle) == 1 else { throw lost() }
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
            // The answer to the statement that failed comes before those that were left out because of it.
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
        if unsafe PQstatus(handle) != CONNECTION_OK { break }
      }
      awaited = []
      if let failed { throw failed }
      if unsafe PQstatus(handle) != CONNECTION_OK { throw lost() }
      return last
    }

    // MARK: Faults

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
      let message = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
      return Failure(
        .disconnected, at: location.description,
        location.sayable(message.isEmpty ? "The connection to the server is lost." : message))
    }
  }

  // A connection has no state of the thread that uses it; its users see to it that one at a time has it.
  extension ServerConnection: @unchecked Sendable {}
#endif

/// Why a server could not do what it was asked.
package enum ServerFault: Sendable, Hashable {
  /// The URL cannot be used.
  case unusableURL
  /// There is no connection, or it was lost. Whether the last statement took effect is not known.
  case disconnected
  /// The server did not answer in time, and the connection was given up. Whether the last statement took effect is not known.
  case silent
  /// The server refused a statement, with this SQLSTATE (PostgreSQL, appendix A).
  case refused(sqlState: String)
}

/// The error of those who use a server, as ``ServerConnection`` makes it.
package protocol ServerFailure: Error {
  /// Creates an error.
  ///
  /// - Parameters:
  ///   - fault: What went wrong.
  ///   - place: The server, without a password.
  ///   - message: What the server or libpq said, on one line, without a password.
  init(_ fault: ServerFault, at place: String, _ message: String)
}
