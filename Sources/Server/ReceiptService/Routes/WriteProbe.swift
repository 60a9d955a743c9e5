// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Logging
  internal import ReceiptCrypto
  internal import Synchronization

  /// Checks that the database and the audit trail accept writes, by writing to both.
  ///
  /// Reading would not be enough: a full disk, a locked file and a removed database can all be read. Callers that
  /// arrive together, or soon after one another, share one attempt, and no caller waits longer than the deadline. A
  /// load balancer's check every second must not cause load, and must be answered.
  final class WriteProbe: Sendable {
    /// The time for which the outcome of an attempt is valid, by success and failure.
    private static let validity = (success: Duration.seconds(5), failure: Duration.seconds(1))

    private struct State {
      /// The error of the last attempt, `nil` if it succeeded, and the time of its end.
      var last: (failure: String?, end: ContinuousClock.Instant)?
      var isUnderWay = false
      var waiters: [Int: CheckedContinuation<String?, Never>] = [:]
      var nextWaiter = 0
    }

    private let database: any ServiceDatabase
    private let log: AuditLog?
    /// The logger, which reports when writes begin to fail, with the reason, and when they succeed again.
    private let logger: Logger
    private let deadline: Duration
    private let state = Mutex(State())

    init(
      _ database: any ServiceDatabase, _ log: AuditLog?, logger: Logger, deadline: Duration = .seconds(2)
    ) {
      self.database = database
      self.log = log
      self.logger = logger
      self.deadline = deadline
    }

    /// The reason why requests that must be recorded would be refused now; `nil` if they would be accepted.
    func failure() async -> String? {
      if let log, !log.health.isHealthy { return "The audit trail is not healthy; the log says why." }
      let known: String?? = state.withLock { state in
        guard let last = state.last else { return nil }
        let age = ContinuousClock.now - last.end
        let validity = last.failure == nil ? Self.validity.success : Self.validity.failure
        return age < validity ? .some(last.failure) : nil
      }
      if let known { return known }
      return await withCheckedContinuation { continuation in
        let (number, isFirst) = state.withLock { state in
          defer {
            state.nextWaiter += 1
            state.isUnderWay = true
          }
          state.waiters[state.nextWaiter] = continuation
          return (state.nextWaiter, !state.isUnderWay)
        }
        if isFirst { Task { await attempt() } }
        Task {
          try? await Task.sleep(for: deadline)
          state.withLock { $0.waiters.removeValue(forKey: number) }?
            .resume(returning: "The database or the audit trail did not answer within \(deadline).")
        }
      }
    }

    private func attempt() async {
      var failure: String?
      var reason: any Error = CancellationError()
      do {
        try await writeToDatabase()
        do {
          try await log?.probe()
        } catch {
          (failure, reason) = ("The audit trail takes no writes now.", error)
        }
      } catch {
        (failure, reason) = ("The database takes no writes now.", error)
      }
      let (waiters, before) = state.withLock { state in
        let before = state.last?.failure
        state.last = (failure, .now)
        state.isUnderWay = false
        defer { state.waiters = [:] }
        return (Array(state.waiters.values), before)
      }
      if let failure, before == nil {
        logger.error("The service is not ready: \(failure)", metadata: ["error": "\(reason)"])
      } else if failure == nil, before != nil {
        logger.notice("The service is ready again.")
      }
      for waiter in waiters { waiter.resume(returning: failure) }
    }

    /// Commits a row to the smallest table, and removes it again.
    private func writeToDatabase() async throws {
      let hash = Random.bytes(32)
      try await database.write { session in
        try session.run(
          "INSERT INTO sessions(hash, key, created, expires) VALUES ($1, 'probe', 0, 0)", .bytes(hash))
        try session.run("DELETE FROM sessions WHERE hash = $1", .bytes(hash))
      }
    }
  }
#endif
