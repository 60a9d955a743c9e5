// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  package import ReceiptCodec

  /// The notifications that wait to be forwarded to an old system, in the service's database.
  ///
  /// A notification enters in the commit that records it. Those of an app are forwarded one at a time, in the order of
  /// the commits: to forward, a process leases the app's queue. A lease that does not end in time is taken over. A
  /// notification is removed when the old system has accepted it, and the next one waits until then.
  package struct ForwardingQueue: Sendable {
    /// The first and the longest pause after a failed attempt, in seconds. It doubles in between.
    static let firstPause: Double = 1
    static let longestPause: Double = 300
    /// The longest pause that the old system may request, in seconds.
    static let longestRequestedPause: Double = 3600

    let database: any ServiceDatabase

    package init(_ database: any ServiceDatabase) { self.database = database }

    /// Adds a notification, within the transaction that records it.
    ///
    /// The transactions of an app that do so are serialized, so that the numbers increase in the order of the commits.
    static func enter(
      _ notification: ForwardedNotification, app: String, at now: Timestamp, in session: any DatabaseSession
    ) throws {
      try session.lock("forwards \(app)")
      let delivery = notification.delivery
      let sequence = try session.integer(
        """
        INSERT INTO forwards(app, received, content_type, push_authorization, body) VALUES ($1, $2, $3, $4, $5)
        RETURNING sequence
        """, .text(app), .integer(now.milliseconds), .text(delivery.contentType),
        .text(delivery.authorization), .bytes(delivery.body))
      for subject in notification.subjects {
        try session.run(
          "INSERT INTO forward_subjects(app, subject, forward) VALUES ($1, $2, $3)", .text(app),
          .text(subject), .integer(sequence))
      }
    }

    // MARK: Forwarding

    /// Leases the queue of an app, and returns its first notification; `nil` if none waits, if the next attempt is not
    /// due, or if another process has the lease.
    ///
    /// Call ``end(_:_:at:random:nextFor:)`` for it.
    package func lease(app: String, at now: Timestamp, for duration: Duration) async throws -> Lease? {
      let isFree: @Sendable (DatabaseRow) -> Bool = { row in
        // A time that was set by a clock that was ahead counts for nothing.
        row.integer(2) > now.addingSeconds(ClockCheck.tolerance).milliseconds
          || max(row.integer(0), row.integer(1)) <= now.milliseconds
      }
      let state = "SELECT due, leased, noted, attempts FROM forward_queues WHERE app = $1"
      let isDue = try await database.read { session in
        guard try session.hasRows("SELECT 1 FROM forwards WHERE app = $1 LIMIT 1", .text(app)) else {
          return false
        }
        return try session.run(state, .text(app)).first.map(isFree) ?? true
      }
      guard isDue else { return nil }
      return try await database.write { session in
        try session.run(
          """
          INSERT INTO forward_queues(app, due, leased, noted, attempts) VALUES ($1, 0, 0, 0, 0)
          ON CONFLICT(app) DO NOTHING
          """, .text(app))
        let row = try session.run("\(state) \(session.dialect.lockingFreeRows)", .text(app)).first
        guard let row, isFree(row) else { return nil }
        return try Self.first(of: app, attempts: Int(row.integer(3)), at: now, for: duration, in: session)
      }
    }

    /// Ends a lease, with a number from 0 to 1 that spreads the attempts after a failure.
    ///
    /// If the lease was taken over meanwhile, this changes nothing: the other process forwards, too.
    ///
    /// After a success, the next notification is leased for a duration, unless that is `nil`.
    ///
    /// - Returns: That lease; `nil` if nothing was leased.
    /// - Throws: ``DatabaseError``.
    package func end(
      _ lease: Lease, _ outcome: WebhookQueue.Outcome, at now: Timestamp, random: Double,
      nextFor duration: Duration?
    ) async throws -> Lease? {
      try await database.write { session in
        let leased = try session.run(
          "SELECT leased FROM forward_queues WHERE app = $1 \(session.dialect.lockingRows)", .text(lease.app)
        ).first?.integer(0)
        guard leased == lease.expires else { return nil }
        // The notification may have been dropped or erased meanwhile.
        let isWaiting = try session.hasRows(
          "SELECT 1 FROM forwards WHERE sequence = $1", .integer(lease.sequence))
        var (due, attempts, error): (Timestamp, Int, String?) = (now, 0, nil)
        func fail(_ message: String, _ retryAfter: Timestamp?) {
          let pause = Self.pause(after: lease.attempts, until: retryAfter, now: now, random: random)
          (due, attempts, error) = (now.addingSeconds(pause), lease.attempts + 1, message)
        }
        switch outcome {
        case .delivered:
          try Self.remove("sequence = $1", [.integer(lease.sequence)], in: session)
          let next = try duration.flatMap {
            try Self.first(of: lease.app, attempts: 0, at: now, for: $0, in: session)
          }
          if let next { return next }
        case _ where !isWaiting: break
        case .interrupted: attempts = lease.attempts
        case .failed(let message, let retryAfter): fail(message, retryAfter)
        case .dead(let message): fail(message, nil)
        }
        try session.run(
          """
          UPDATE forward_queues SET due = $2, leased = 0, noted = $3, attempts = $4, error = $5 WHERE app = $1
          """, .text(lease.app), .integer(due.milliseconds), .integer(now.milliseconds),
          .integer(Int64(attempts)), .text(error))
        return nil
      }
    }

    /// Leases the first notification of an app, whose queue is locked; `nil` if none waits.
    private static func first(
      of app: String, attempts: Int, at now: Timestamp, for duration: Duration,
      in session: any DatabaseSession
    ) throws -> Lease? {
      let row = try session.run(
        """
        SELECT sequence, body, content_type, push_authorization FROM forwards WHERE app = $1
        ORDER BY sequence LIMIT 1
        """, .text(app)
      ).first
      guard let row else { return nil }
      let expires = now.addingSeconds(duration / .seconds(1)).milliseconds
      try session.run(
        "UPDATE forward_queues SET leased = $2, noted = $3, attempts = $4 WHERE app = $1", .text(app),
        .integer(expires), .integer(now.milliseconds), .integer(Int64(attempts)))
      return Lease(
        app: app, sequence: row.integer(0), attempts: attempts, expires: expires,
        delivery: StoreDelivery(
          body: row.bytes(1), contentType: row.optionalText(2), authorization: row.optionalText(3)))
    }

    /// Removes notifications, and returns their numbers.
    @discardableResult
    private static func remove(
      _ condition: String, _ values: [DatabaseValue], in session: any DatabaseSession
    ) throws -> [Int64] {
      let removed = try session.run("DELETE FROM forwards WHERE \(condition) RETURNING sequence", values)
        .map { $0.integer(0) }
      for sequence in removed {
        try session.run("DELETE FROM forward_subjects WHERE forward = $1", .integer(sequence))
      }
      return removed
    }

    /// The number of seconds until the next attempt.
    static func pause(
      after attempts: Int, until retryAfter: Timestamp?, now: Timestamp, random: Double
    ) -> Double {
      let usual =
        min(longestPause, firstPause * Double(1 << min(16, max(0, attempts)))) * (0.9 + 0.2 * random)
      return max(
        usual, WebhookQueue.requestedDelay(until: retryAfter, now: now, atMost: longestRequestedPause))
    }

    // MARK: Waiting notifications

    /// The notifications that wait, by app; of all apps that have some, or of one app.
    package func states(app: String? = nil) async throws -> [ForwardingState] {
      try await database.read { session in
        let counts = try session.run(
          """
          SELECT app, count(*), min(sequence) FROM forwards \(app == nil ? "" : "WHERE app = $1")
          GROUP BY app ORDER BY app
          """, app.map { [.text($0)] } ?? [])
        return try counts.map { row in
          let first = row.integer(2)
          let queue = try session.run(
            "SELECT due, attempts, error FROM forward_queues WHERE app = $1", .text(row.text(0))
          ).first
          let due = queue?.integer(0) ?? 0
          return ForwardingState(
            app: row.text(0), waiting: row.integer(1), first: first,
            received: Timestamp(
              milliseconds: try session.integer(
                "SELECT received FROM forwards WHERE sequence = $1", .integer(first))),
            attempts: queue?.integer(1) ?? 0, due: due == 0 ? nil : Timestamp(milliseconds: due),
            error: queue?.optionalText(2))
        }
      }
    }

    /// Deletes the first waiting notification of an app, if it still has this number, or all.
    ///
    /// The next one is forwarded at once. The act is recorded.
    ///
    /// - Returns: The number of deleted notifications.
    /// - Throws: ``DatabaseError``.
    package func drop(
      app: String, first sequence: Int64?, by actor: String, at now: Timestamp
    ) async throws -> Int {
      try await database.write { session in
        // Locks the queue first, in the same order as the end of a lease does.
        try session.run(
          "UPDATE forward_queues SET due = $2, attempts = 0, error = NULL WHERE app = $1", .text(app),
          .integer(now.milliseconds))
        var condition = "app = $1"
        var values: [DatabaseValue] = [.text(app)]
        if let sequence {
          condition += " AND sequence = $2 AND sequence = (SELECT min(sequence) FROM forwards WHERE app = $1)"
          values.append(.integer(sequence))
        }
        let dropped = try Self.remove(condition, values, in: session)
        if let first = dropped.min() {
          try AdministrativeAct.record(
            "forwarding.drop", "app=\(app) first=\(first) count=\(dropped.count)", by: actor,
            at: now.milliseconds, in: session)
        }
        return dropped.count
      }
    }

    /// Deletes notifications from before an instant that wait in apps whose notifications are no longer forwarded, and
    /// returns their number.
    func remove(except apps: Set<String>, before instant: Timestamp) async throws -> Int {
      let stopped = try await database.rows("SELECT DISTINCT app FROM forwards").map { $0.text(0) }
        .filter { !apps.contains($0) }
      return try await database.write { session in
        try stopped.reduce(0) { count, app in
          let values: [DatabaseValue] = [.text(app), .integer(instant.milliseconds)]
          return count + (try Self.remove("app = $1 AND received < $2", values, in: session).count)
        }
      }
    }
  }

  extension ForwardedNotification {
    /// Creates one from a notification and the facts that it stated.
    init(_ delivery: StoreDelivery, about facts: EntitlementLedger) {
      // A customer may be named by a notification that is about no purchase.
      let customers = ReceiptNames.accounts(in: delivery.body).map(Self.subject(ofCustomer:))
      self.init(delivery: delivery, subjects: Set(facts.parts.map(\.name) + customers).sorted())
    }

    /// The subject that stands for a customer, in canonical spelling.
    static func subject(ofCustomer customer: String) -> String { "customer \(customer)" }
  }
#endif
