// SPDX-License-Identifier: Apache-2.0

#if Server && PostgreSQL
  internal import Dispatch
  internal import PostgreSQL
  internal import Synchronization

  /// A database in a schema of a PostgreSQL server, for any number of processes at once.
  ///
  /// Its URL is that of libpq, including the TLS parameters, with one additional parameter for the schema:
  ///
  ///     postgresql://receipts@db.example.com/service?sslmode=verify-full&schema=receipts
  ///
  /// If possible, keep the password out of the URL: libpq finds it in `~/.pgpass` or in `PGPASSWORD`. A connection
  /// pooler must preserve sessions (PgBouncer's `pool_mode = session`), since statements are prepared once for each
  /// session.
  ///
  /// If the connection is lost before the commit, the transaction had no effect and runs again. If it is lost during
  /// the commit, the outcome is unknown, and the error says so. When a commit returns, it is on the server's disk.
  package final class PostgreSQLServiceDatabase: ServiceDatabase {
    /// The maximum number of attempts for a transaction that conflicts with others.
    private static let maximumAttempts = 10

    private let location: ServerLocation
    private let answerLimit: Duration
    private let state: Mutex<State>
    private let workers: [Worker]

    /// The time that a transaction waits for a connection.
    private static let maximumWait: Duration = .seconds(10)
    /// The time after which a worker that failed to connect tries again, while others are connected.
    private static let restTime: Duration = .seconds(2)

    private struct State {
      /// The idle workers; those that failed to connect come first, because workers are taken from the end.
      var idle: [Worker]
      var waiting: [Job] = []
      /// The workers whose last attempt to connect failed, with the time of the failure.
      var unconnected: [ObjectIdentifier: ContinuousClock.Instant] = [:]
      var isClosed = false

      /// Returns `true` if a busy worker is connected and can take over the waiting jobs.
      func isServed(by workers: [Worker]) -> Bool {
        let idle = Set(idle.map { ObjectIdentifier($0) })
        return workers.contains {
          !idle.contains(ObjectIdentifier($0)) && unconnected[ObjectIdentifier($0)] == nil
        }
      }

      /// Takes an idle worker with a connection, which may be lost by now.
      mutating func takeConnected() -> Worker? {
        let index = idle.lastIndex { worker in
          unconnected[ObjectIdentifier(worker)] == nil && worker.connection.withLock { $0 != nil }
        }
        return index.map { idle.remove(at: $0) }
      }

      /// Returns the next job for a worker; marks the worker as idle if there is no job.
      mutating func next(for worker: Worker) -> Job? {
        guard waiting.isEmpty else { return waiting.removeFirst() }
        idle.append(worker)
        return nil
      }

      /// Takes back a worker with a fault, and returns the worker that takes over its job, and the jobs that fail.
      mutating func end(
        _ job: Job, on worker: Worker, of workers: [Worker], with fault: PostgreSQLFault
      ) -> (connected: Worker?, failed: [Job]) {
        var failed: [Job] = []
        if fault.isUnreachable {
          // The server may allow fewer connections. The existing ones continue with the waiting jobs.
          let connected = takeConnected()
          idle.insert(worker, at: 0)
          unconnected[ObjectIdentifier(worker)] = .now
          if connected != nil { return (connected, []) }
          if isServed(by: workers) {
            waiting.insert(job, at: 0)
            return (nil, [])
          }
          failed = [job]
        } else {
          idle.append(worker)
        }
        // Waiting jobs fail now, so that they do not each wait for the server in turn.
        failed += waiting
        waiting = []
        return (nil, failed)
      }

      /// Takes a worker for a job; `nil` if the job must wait.
      mutating func takeWorker(of workers: [Worker]) -> Worker? {
        guard let worker = idle.last else { return nil }
        if let since = unconnected[ObjectIdentifier(worker)], .now - since < restTime,
          isServed(by: workers)
        {
          return nil
        }
        return idle.removeLast()
      }
    }

    /// A thread that may block, with its connection.
    ///
    /// A serial queue gets a thread as soon as it needs one, unlike a concurrent queue and the thread pool of tasks.
    private final class Worker: Sendable {
      let queue = DispatchQueue(label: "receipt-kit.service-database.postgresql")
      let connection = Mutex<ServiceConnection?>(nil)
    }

    private struct Job: Sendable {
      let enqueued = ContinuousClock.now
      /// Runs the job, without resuming its caller.
      let run: @Sendable (Worker) -> Outcome
      let fail: @Sendable (DatabaseError) -> Void

      struct Outcome {
        /// The fault if the server does not answer, or if no connection could be made.
        var fault: PostgreSQLFault?
        /// Resumes the caller; `nil` if no connection could be made, because another worker may have one.
        var resume: (() -> Void)?
      }
    }

    /// Opens a database.
    ///
    /// If the schema or its tables are missing, they are created, also if several processes do so at once. The server
    /// must answer a statement within `answerLimit`; the lock timeout is 8 s. Only tests use a server that runs with
    /// `fsync = off`.
    package init(
      _ url: String, maximumConnections: Int = 8, allowsServerWithoutFsync: Bool = false,
      answerLimit: Duration = .seconds(10)
    ) throws {
      do {
        location = try Self.location(url)
        self.answerLimit = answerLimit
        workers = (0..<max(1, maximumConnections)).map { _ in Worker() }
        state = Mutex(State(idle: workers))
        let connection = try ServiceConnection(location, answerLimit: nil)
        if !allowsServerWithoutFsync { try connection.requireFsync() }
        try ServiceLayout.prepare(on: connection)
        connection.connection.answerLimit = answerLimit
        workers.last?.connection.withLock { $0 = connection }
      } catch let fault as PostgreSQLFault {
        throw fault.error
      }
    }

    private static func location(_ url: String) throws(PostgreSQLFault) -> ServerLocation {
      try ServerLocation(url, schema: nil, defaultSchema: "receiptkit_service", orThrow: PostgreSQLFault.self)
    }

    /// Returns `true` if the schema has the tables of a service, and changes nothing.
    static func check(_ url: String) throws -> Bool {
      do throws(PostgreSQLFault) {
        let location = try location(url)
        let connection = try ServiceConnection(location, answerLimit: .seconds(10))
        try connection.requireFsync()
        return try connection.connection.execute(
          "SELECT count(*) FROM pg_class WHERE oid = to_regclass('\(location.schema).layout')"
        ).text(0, 0) == "1"
      } catch {
        throw error.error
      }
    }

    package func write<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result {
      try await perform { try self.transaction(.writing, on: $0, body) }
    }

    package func read<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result {
      try await perform { try self.transaction(.reading, on: $0, body) }
    }

    /// Rewrites tables, so that their files contain no deleted data.
    ///
    /// PostgreSQL keeps deleted rows until a vacuum, and their bytes until the space is reused. This method rewrites
    /// the tables (`VACUUM FULL`), which takes about a second for each gigabyte and blocks other users of the tables
    /// meanwhile. Copies remain only outside the tables: in the write-ahead log until it is recycled, its archive,
    /// backups and standbys.
    ///
    /// - Throws: ``DatabaseError`` with `unavailable` if a transaction that may still see deleted rows does not end
    ///   within ten seconds, and with `unusable` if the user does not own the tables. The next call completes the work.
    package func scrub(_ tables: Set<String>) async throws {
      try await perform { [location] _ in
        let connection = try ServiceConnection(location, answerLimit: .seconds(3600))
        try ServiceLayout.scrub(tables.sorted(), on: connection, within: .seconds(10))
      }
    }

    package func close() async {
      state.withLock { $0.isClosed = true }
      for worker in workers {
        // A busy worker completes the waiting jobs before it runs this.
        await withCheckedContinuation { continuation in
          worker.queue.async {
            worker.connection.withLock { $0 = nil }
            continuation.resume()
          }
        }
      }
    }

    // MARK: Threads

    private func perform<Result: Sendable>(
      _ work: @escaping @Sendable (Worker) throws -> Result
    ) async throws -> Result {
      try await withCheckedThrowingContinuation { continuation in
        enqueue(
          Job { worker in
            do {
              let result = try work(worker)
              return Job.Outcome { continuation.resume(returning: result) }
            } catch let fault as PostgreSQLFault {
              return Job.Outcome(
                fault: fault.isUnreachable || fault.fault == .silent ? fault : nil,
                resume: fault.isUnreachable ? nil : { continuation.resume(throwing: fault.error) })
            } catch {
              return Job.Outcome { continuation.resume(throwing: error) }
            }
          } fail: {
            continuation.resume(throwing: $0)
          })
      }
    }

    private func enqueue(_ job: Job) {
      let (isClosed, worker) = state.withLock { state -> (Bool, Worker?) in
        if state.isClosed { return (true, nil) }
        // Take the worker that was used last, so that no more connections are opened than needed.
        if let worker = state.takeWorker(of: workers) { return (false, worker) }
        state.waiting.append(job)
        return (false, nil)
      }
      if isClosed {
        job.fail(DatabaseError(.unavailable, at: location.description, "The database was closed."))
      } else if let worker {
        worker.queue.async { self.serve(job, on: worker) }
      }
    }

    private func serve(_ first: Job, on worker: Worker) {
      var next: Job? = first
      while let job = next {
        guard .now - job.enqueued <= Self.maximumWait else {
          job.fail(
            DatabaseError(
              .unavailable, at: location.description,
              "No connection was free within \(Self.maximumWait). Allow the role more connections."))
          next = state.withLock { $0.next(for: worker) }
          continue
        }
        let outcome = job.run(worker)
        guard let fault = outcome.fault else {
          outcome.resume?()
          next = state.withLock { state in
            state.unconnected[ObjectIdentifier(worker)] = nil
            return state.next(for: worker)
          }
          continue
        }
        let (connected, failed) = state.withLock { $0.end(job, on: worker, of: workers, with: fault) }
        // Only now, so that the fault does not fail a job that the caller enqueues after it.
        outcome.resume?()
        if let connected { connected.queue.async { self.serve(job, on: connected) } }
        for job in failed { job.fail(fault.error) }
        return
      }
    }

    // MARK: Transactions

    private func transaction<Result>(
      _ kind: ServiceConnection.Transaction, on worker: Worker,
      _ body: (any DatabaseSession) throws -> Result
    ) throws -> Result {
      var (attempts, losses) = (0, 0)
      while true {
        attempts += 1
        let connection = try connection(of: worker)
        do {
          return try connection.transaction(kind, body)
        } catch let fault as PostgreSQLFault {
          if fault.isDisconnected {
            worker.connection.withLock { $0 = nil }
            losses += 1
          }
          let isAgain =
            fault.isConflict
            ? attempts < Self.maximumAttempts
            : fault.isDisconnected && fault.fault != .silent && losses < 3
          guard isAgain else { throw fault }
        }
      }
    }

    private func connection(of worker: Worker) throws(PostgreSQLFault) -> ServiceConnection {
      if let connection = worker.connection.withLock({ $0 }), !connection.isBroken { return connection }
      do throws(PostgreSQLFault) {
        let connection = try ServiceConnection(location, answerLimit: answerLimit)
        worker.connection.withLock { $0 = connection }
        return connection
      } catch {
        var fault = error
        fault.isUnreachable = true
        throw fault
      }
    }
  }
#endif
