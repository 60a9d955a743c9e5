// SPDX-License-Identifier: Apache-2.0

#if Server
  package import ReceiptCodec

  /// The changes that are not delivered to webhook endpoints yet, in the service's database.
  ///
  /// The changes of one customer form a lane of an endpoint. The deliveries of a lane are made in order, one at a time.
  /// A change that transfers an entitlement to another customer is in two lanes, those of the old and the new customer.
  /// It waits for the earlier deliveries in both lanes, and the later deliveries in either lane wait for it. The
  /// changes of one purchase therefore stay in order across customers, too. Deliveries cannot wait for each other: each
  /// waits only for earlier ones, and a delivery that was given up is in no lane.
  ///
  /// To deliver, a sender leases the lanes. A lease that does not end in time is taken over. Each transaction locks the
  /// rows of the lanes first, so that a transaction that stores a delivery and one that ends another see each other.
  package struct WebhookQueue: Sendable {
    /// A running delivery.
    package struct Lease: Sendable {
      package let endpoint: String
      package let lane: String
      /// The number of attempts before this one.
      package let attempts: Int
      /// The time of expiry, in milliseconds.
      ///
      /// It distinguishes this lease from a later one of the lane.
      let expires: Int64
      package let change: EntitlementChange
      /// The trace of the change, as ``TraceHeaders`` stores it.
      var trace: String?
    }

    /// The outcome of an attempt.
    package enum Outcome: Sendable, Hashable {
      /// The endpoint accepted the change.
      case delivered
      /// The attempt failed.
      ///
      /// The next one must not come before an instant, if the endpoint stated one.
      case failed(String, retryAfter: Timestamp? = nil)
      /// The delivery failed permanently.
      case dead(String)
      /// The attempt was interrupted by the end of the process, and does not count.
      case interrupted
    }

    /// The delays between attempts, in seconds, as Standard Webhooks recommends.
    package static let delays: [Double] = [
      5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]
    /// The longest delay that an endpoint may request, in seconds.
    static let maximumDelay: Double = 86_400

    /// The longest time, in seconds, before a lane that waits for another one is checked again.
    ///
    /// The other lane's delivery cannot wake it while its row is locked.
    private static let longestWait: Double = 30

    let database: any ServiceDatabase

    /// Creates the queue of a database.
    package init(_ database: any ServiceDatabase) { self.database = database }

    /// The lane of a customer's changes, or of an entitlement if it has no customer.
    static func lane(of customer: String?, entitlement name: String) -> String {
      customer.map { "customer \($0)" } ?? name
    }

    /// Stores the delivery of a change, within the transaction that stores the change.
    ///
    /// - Parameters:
    ///   - change: The sequence of the change.
    ///   - app: The app.
    ///   - endpoint: The endpoint.
    ///   - lane: The lane of the change.
    ///   - previousLane: The lane of the customer who had the entitlement before, if it differs.
    ///   - now: The current time.
    ///   - session: The transaction.
    /// - Throws: ``DatabaseError``.
    static func enter(
      _ change: Int64, app: String, endpoint: String, lane: String, after previousLane: String? = nil,
      at now: Timestamp, in session: any DatabaseSession
    ) throws {
      let previousLane = previousLane == lane ? nil : previousLane
      for lane in [lane, previousLane].compactMap(\.self).sorted() {
        try openLane(lane, app: app, endpoint: endpoint, at: now, in: session)
      }
      try session.run(
        """
        INSERT INTO deliveries(app, endpoint, change, lane, previous_lane, state, attempts)
        VALUES ($1, $2, $3, $4, $5, 0, 0)
        """,
        .text(app), .text(endpoint), .integer(change), .text(lane), .text(previousLane))
    }

    private static func openLane(
      _ lane: String, app: String, endpoint: String, at now: Timestamp, in session: any DatabaseSession
    ) throws {
      // The update changes nothing, but locks the row.
      try session.run(
        """
        INSERT INTO lanes(app, endpoint, lane, due, leased, noted) VALUES ($1, $2, $3, $4, 0, $4)
        ON CONFLICT(app, endpoint, lane) DO UPDATE SET lane = excluded.lane
        """, .text(app), .text(endpoint), .text(lane), .integer(now.milliseconds))
    }

    // MARK: Delivering

    /// Returns `true` if an endpoint has a due delivery.
    func isDue(app: String, endpoint: String, at now: Timestamp, in session: any DatabaseSession) throws
      -> Bool
    {
      try !session.run(
        "SELECT 1 FROM lanes WHERE app = $1 AND endpoint = $2 AND due <= $3 AND leased <= $3 LIMIT 1",
        .text(app), .text(endpoint), .integer(now.milliseconds)
      ).isEmpty
    }

    /// Leases the due deliveries of an endpoint, each the first of its lane.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - endpoint: The endpoint.
    ///   - now: The current time.
    ///   - duration: The duration of the leases.
    ///   - limit: The maximum number of leases.
    /// - Returns: The leases. Call ``end(_:_:at:random:)`` for each.
    /// - Throws: ``DatabaseError``.
    package func lease(
      app: String, endpoint: String, at now: Timestamp, for duration: Duration, limit: Int
    ) async throws -> [Lease] {
      let expires = now.addingSeconds(duration / .seconds(1)).milliseconds
      return try await database.write { session in
        let lanes = EndpointLanes(app: app, endpoint: endpoint, session: session)
        let due = try session.run(
          """
          SELECT lane FROM lanes WHERE app = $1 AND endpoint = $2 AND due <= $3 AND leased <= $3
          ORDER BY due LIMIT $4 \(session.dialect.lockingFreeRows)
          """, .text(app), .text(endpoint), .integer(now.milliseconds), .integer(Int64(limit))
        ).map { $0.text(0) }
        var leased: Set<String> = []
        return try due.compactMap { lane in
          guard !leased.contains(lane) else { return nil }
          guard let first = try lanes.first(of: lane) else {
            try lanes.close(lane)
            return nil
          }
          for other in first.lanes where other != lane {
            if let instant = try lanes.wait(for: other, before: first, at: now) {
              let latest = now.addingSeconds(Self.longestWait)
              try lanes.set(lane, due: min(instant, latest), leased: 0, at: now)
              return nil
            }
          }
          for lane in first.lanes {
            try lanes.lease(lane, until: expires, at: now)
            leased.insert(lane)
          }
          return try lanes.lease(of: first, expires: expires)
        }
      }
    }

    /// Ends a lease.
    ///
    /// If the lease was taken over meanwhile, this changes nothing: the other process delivers, too.
    ///
    /// - Parameters:
    ///   - lease: The lease.
    ///   - outcome: The outcome of the attempt.
    ///   - now: The current time.
    ///   - random: A number from 0 to 1 that spreads the attempts after a failure.
    /// - Throws: ``DatabaseError``.
    package func end(_ lease: Lease, _ outcome: Outcome, at now: Timestamp, random: Double) async throws {
      let app = lease.change.app
      let delivery: [DatabaseValue] = [.text(app), .text(lease.endpoint), .integer(lease.change.sequence)]
      try await database.write { session in
        let lanes = EndpointLanes(app: app, endpoint: lease.endpoint, session: session)
        guard let ended = try lanes.delivery(lease.change.sequence),
          try ended.lanes.sorted().allSatisfy({ try lanes.leased($0) == lease.expires })
        else { return }
        var due = now
        switch outcome {
        case .delivered:
          try session.run("DELETE FROM deliveries WHERE app = $1 AND endpoint = $2 AND change = $3", delivery)
        case .failed(let error, let retryAfter):
          let delay = Self.delay(afterAttempt: lease.attempts, until: retryAfter, now: now, random: random)
          if let delay { due = now.addingSeconds(delay) }
          try Self.note(error, attempts: lease.attempts + 1, isDead: delay == nil, delivery, in: session)
        case .dead(let error):
          try Self.note(error, attempts: lease.attempts + 1, isDead: true, delivery, in: session)
        case .interrupted: break
        }
        for lane in ended.lanes {
          guard let next = try lanes.first(of: lane) else {
            try lanes.close(lane)
            continue
          }
          try lanes.set(lane, due: due, leased: 0, at: now)
          for other in next.lanes where !ended.lanes.contains(other) {
            try lanes.wake(other, for: next, at: now)
          }
        }
      }
    }

    /// Corrects the lanes that were set by a clock that was ahead: ends their leases, and makes them due now.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The number of corrected lanes.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    func correct(at now: Timestamp) async throws -> Int {
      let latest = now.addingSeconds(ClockCheck.tolerance).milliseconds
      let isWrong = try await database.read { session in
        try !session.run("SELECT 1 FROM lanes WHERE noted > $1 LIMIT 1", .integer(latest)).isEmpty
      }
      guard isWrong else { return 0 }
      return try await database.write { session in
        try session.run(
          "UPDATE lanes SET due = $1, leased = 0, noted = $1 WHERE noted > $2 RETURNING lane",
          .integer(now.milliseconds), .integer(latest)
        ).count
      }
    }

    private static func note(
      _ error: String, attempts: Int, isDead: Bool, _ delivery: [DatabaseValue],
      in session: any DatabaseSession
    ) throws {
      try session.run(
        """
        UPDATE deliveries SET error = $4, attempts = $5, state = $6
        WHERE app = $1 AND endpoint = $2 AND change = $3
        """, delivery + [.text(error), .integer(Int64(attempts)), .integer(isDead ? 1 : 0)])
    }

    /// The number of seconds until the next attempt; `nil` if no attempt follows.
    static func delay(
      afterAttempt attempts: Int, until retryAfter: Timestamp?, now: Timestamp, random: Double
    ) -> Double? {
      guard delays.indices.contains(attempts) else { return nil }
      let usual = delays[attempts] * (0.9 + 0.2 * random)
      let asked = retryAfter.map { ($0.millisecondsSince1970 - now.millisecondsSince1970) / 1000 } ?? 0
      return max(usual, min(asked, maximumDelay))
    }

    // MARK: Dead letters

    /// The number of waiting and of dead deliveries of each endpoint of an app.
    package func counts(app: String) async throws -> [String: (waiting: Int, dead: Int)] {
      try await database.read { session in
        try session.run(
          "SELECT endpoint, state, count(*) FROM deliveries WHERE app = $1 GROUP BY endpoint, state",
          .text(app)
        ).reduce(into: [:]) { counts, row in
          let count = Int(row.integer(2))
          if row.integer(1) == 0 {
            counts[row.text(0), default: (0, 0)].waiting = count
          } else {
            counts[row.text(0), default: (0, 0)].dead = count
          }
        }
      }
    }

    /// The dead letters of an app's endpoint, in the order of the changes.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - endpoint: The endpoint.
    ///   - sequence: The sequence after which the dead letters begin.
    ///   - limit: The maximum number of dead letters.
    /// - Returns: The dead letters.
    /// - Throws: ``DatabaseError``.
    package func deadLetters(
      app: String, endpoint: String, after sequence: Int64 = 0, limit: Int = 100
    ) async throws -> [DeadLetter] {
      try await database.read { session in
        try session.run(
          """
          SELECT \(EntitlementChange.columns), attempts, error FROM deliveries
          JOIN changes ON sequence = change
          WHERE deliveries.app = $1 AND endpoint = $2 AND state = 1 AND change > $3 ORDER BY change LIMIT $4
          """, .text(app), .text(endpoint), .integer(sequence), .integer(Int64(limit))
        ).map { row in
          DeadLetter(attempts: row.integer(8), error: row.text(9), change: EntitlementChange(row))
        }
      }
    }

    /// Queues dead letters of an endpoint for delivery again, with all attempts.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - endpoint: The endpoint.
    ///   - id: The `webhook-id` of one dead letter; `nil` for all.
    ///   - now: The current time.
    /// - Returns: The number of queued dead letters.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    package func replay(app: String, endpoint: String, id: String? = nil, at now: Timestamp) async throws
      -> Int
    {
      try await database.write { session in
        let letters = try session.run(
          """
          SELECT change, lane, previous_lane FROM deliveries JOIN changes ON sequence = change
          WHERE deliveries.app = $1 AND endpoint = $2 AND state = 1 \(id == nil ? "" : "AND id = $3")
          ORDER BY lane, change
          """, [.text(app), .text(endpoint)] + (id.map { [.text($0)] } ?? []))
        let lanes = Set(letters.flatMap { [$0.optionalText(1), $0.optionalText(2)] }.compactMap(\.self))
        for lane in lanes.sorted() {
          try Self.openLane(lane, app: app, endpoint: endpoint, at: now, in: session)
          try session.run(
            "UPDATE lanes SET due = $4, noted = $4 WHERE app = $1 AND endpoint = $2 AND lane = $3",
            .text(app),
            .text(endpoint), .text(lane), .integer(now.milliseconds))
        }
        for letter in letters {
          try session.run(
            """
            UPDATE deliveries SET state = 0, attempts = 0, error = NULL
            WHERE app = $1 AND endpoint = $2 AND change = $3
            """, .text(app), .text(endpoint), .integer(letter.integer(0)))
        }
        return letters.count
      }
    }

    /// Has dead letters delivered again, as ``replay(app:endpoint:id:at:)`` does, and records the administrator.
    package func replay(
      app: String, endpoint: String, id: String?, by actor: String, at now: Timestamp
    ) async throws -> Int {
      let count = try await replay(app: app, endpoint: endpoint, id: id, at: now)
      try await database.write { session in
        try AdministrativeAct.record(
          "webhooks.replay", "app=\(app) endpoint=\(endpoint) id=\(id ?? "*") count=\(count)", by: actor,
          at: now.milliseconds, in: session)
      }
      return count
    }
  }
#endif
