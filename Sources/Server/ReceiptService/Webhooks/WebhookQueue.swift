// SPDX-License-Identifier: Apache-2.0

#if Server
  package import ReceiptCodec

  /// The changes that webhook endpoints have not taken, in the service's database.
  ///
  /// The changes of one customer form a lane of an endpoint. Deliveries of a lane are made in order, one at a time. A
  /// change that transfers an entitlement to another customer is in two lanes, those of the old and the new customer.
  /// It waits for the deliveries before it in both lanes, and the deliveries after it in either lane wait for it. So
  /// the changes of one purchase stay in order across customers, too. A delivery waits only for earlier ones, and one
  /// that was given up is in no lane, so no two wait for each other.
  ///
  /// To deliver, a sender leases the lanes. A lease that is not ended in time is taken over. Each transaction locks the
  /// rows of the lanes first, so that a transaction that enters a delivery and one that ends another see each other.
  package struct WebhookQueue: Sendable {
    /// A delivery that is under way.
    package struct Lease: Sendable {
      package let endpoint: String
      package let lane: String
      /// The number of attempts before this one.
      package let attempts: Int
      /// The time of expiry, in milliseconds. It distinguishes this lease from a later one of the lane.
      let expires: Int64
      package let change: EntitlementChange
      /// The trace that it belongs to, as ``TraceHeaders`` stores it.
      var trace: String?
    }

    /// The outcome of an attempt.
    package enum Outcome: Sendable, Hashable {
      /// The endpoint has it.
      case delivered
      /// It failed; not to be tried before an instant, if the endpoint named one.
      case failed(String, retryAfter: Timestamp? = nil)
      /// It failed for good.
      case dead(String)
      /// It was given up because the process ends, and does not count.
      case interrupted
    }

    /// A delivery that was given up. Those after it in its lane went on.
    package struct DeadLetter: Sendable, Hashable {
      package let endpoint: String
      package let attempts: Int
      /// The error of the last attempt.
      package let error: String
      package let change: EntitlementChange
    }

    /// The delays between attempts, in seconds, as Standard Webhooks recommends.
    package static let delays: [Double] = [
      5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]
    /// The longest time that an endpoint may ask for, in seconds.
    static let maximumDelay: Double = 86_400

    /// After how many seconds a lane that waits for another one is looked at again at the latest: what wakes it passes
    /// it over if its row is locked.
    private static let longestWait: Double = 30

    let database: any ServiceDatabase

    /// Creates the queue of a database.
    package init(_ database: any ServiceDatabase) { self.database = database }

    /// The lane of a customer's changes; of an entitlement without a customer, its own.
    static func lane(of customer: String?, entitlement name: String) -> String {
      customer.map { "customer \($0)" } ?? name
    }

    /// Enters a change, within the transaction that finds it.
    ///
    /// - Parameters:
    ///   - change: Its sequence.
    ///   - app: The app.
    ///   - endpoint: The endpoint.
    ///   - lane: The lane that it belongs to.
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
        VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)
        """,
        .text(app), .text(endpoint), .integer(change), .text(lane), .text(previousLane))
    }

    private static func openLane(
      _ lane: String, app: String, endpoint: String, at now: Timestamp, in session: any DatabaseSession
    ) throws {
      // The update changes nothing, and locks the row.
      try session.run(
        """
        INSERT INTO lanes(app, endpoint, lane, due, leased, noted) VALUES (?1, ?2, ?3, ?4, 0, ?4)
        ON CONFLICT(app, endpoint, lane) DO UPDATE SET lane = excluded.lane
        """, .text(app), .text(endpoint), .text(lane), .integer(now.milliseconds))
    }

    // MARK: Delivering

    /// Returns `true` if a delivery of an endpoint is due.
    func isDue(app: String, endpoint: String, at now: Timestamp, in session: any DatabaseSession) throws
      -> Bool
    {
      try !session.run(
        "SELECT 1 FROM lanes WHERE app = ?1 AND endpoint = ?2 AND due <= ?3 AND leased <= ?3 LIMIT 1",
        .text(app), .text(endpoint), .integer(now.milliseconds)
      ).isEmpty
    }

    /// Leases the deliveries of an endpoint that are due, each the first of its lane.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - endpoint: The endpoint.
    ///   - now: The current time.
    ///   - duration: For how long.
    ///   - limit: The maximum number.
    /// - Returns: The leases; ``end(_:_:at:random:)`` each.
    /// - Throws: ``DatabaseError``.
    package func lease(
      app: String, endpoint: String, at now: Timestamp, for duration: Duration, limit: Int
    ) async throws -> [Lease] {
      let expires = now.addingSeconds(duration / .seconds(1)).milliseconds
      return try await database.write { session in
        let lanes = EndpointLanes(app: app, endpoint: endpoint, session: session)
        let due = try session.run(
          """
          SELECT lane FROM lanes WHERE app = ?1 AND endpoint = ?2 AND due <= ?3 AND leased <= ?3
          ORDER BY due LIMIT ?4 FOR UPDATE SKIP LOCKED
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

    /// Ends a lease. One that was taken over meanwhile changes nothing: the other delivers, too.
    ///
    /// - Parameters:
    ///   - lease: The lease.
    ///   - outcome: The outcome of the attempt.
    ///   - now: The current time.
    ///   - random: From 0 to 1: spreads the attempts after a failure.
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
          try session.run("DELETE FROM deliveries WHERE app = ?1 AND endpoint = ?2 AND change = ?3", delivery)
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

    /// Corrects the lanes after the clock was ahead: deliveries that were due in the future, and leases that were to
    /// end there, are tried now.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The number of lanes.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    func correct(at now: Timestamp) async throws -> Int {
      let latest = now.addingSeconds(ClockCheck.tolerance).milliseconds
      let isWrong = try await database.read { session in
        try !session.run("SELECT 1 FROM lanes WHERE noted > ?1 LIMIT 1", .integer(latest)).isEmpty
      }
      guard isWrong else { return 0 }
      return try await database.write { session in
        try session.run(
          "UPDATE lanes SET due = ?1, leased = 0, noted = ?1 WHERE noted > ?2 RETURNING lane",
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
        UPDATE deliveries SET error = ?4, attempts = ?5, state = ?6
        WHERE app = ?1 AND endpoint = ?2 AND change = ?3
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

    /// The numbers of waiting and of dead deliveries of each of an app's endpoints.
    package func counts(app: String) async throws -> [String: (waiting: Int, dead: Int)] {
      try await database.read { session in
        try session.run(
          "SELECT endpoint, state, count(*) FROM deliveries WHERE app = ?1 GROUP BY endpoint, state",
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
    ///   - sequence: The sequence after which the letters begin.
    ///   - limit: The maximum number of letters.
    /// - Returns: The letters.
    /// - Throws: ``DatabaseError``.
    package func deadLetters(
      app: String, endpoint: String, after sequence: Int64 = 0, limit: Int = 100
    ) async throws -> [DeadLetter] {
      try await database.read { session in
        try session.run(
          """
          SELECT \(EntitlementChange.columns), attempts, error FROM deliveries
          JOIN changes ON sequence = change
          WHERE deliveries.app = ?1 AND endpoint = ?2 AND state = 1 AND change > ?3 ORDER BY change LIMIT ?4
          """, .text(app), .text(endpoint), .integer(sequence), .integer(Int64(limit))
        ).map { row in
          DeadLetter(
            endpoint: endpoint, attempts: Int(row.integer(8)), error: row.text(9),
            change: EntitlementChange(row))
        }
      }
    }

    /// Lets dead letters of an endpoint be delivered again, with all attempts.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - endpoint: The endpoint.
    ///   - id: The `webhook-id` of one; all without.
    ///   - now: The current time.
    /// - Returns: The number of these letters.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    package func replay(app: String, endpoint: String, id: String? = nil, at now: Timestamp) async throws
      -> Int
    {
      try await database.write { session in
        let letters = try session.run(
          """
          SELECT change, lane, previous_lane FROM deliveries JOIN changes ON sequence = change
          WHERE deliveries.app = ?1 AND endpoint = ?2 AND state = 1 \(id == nil ? "" : "AND id = ?3")
          ORDER BY lane, change
          """, [.text(app), .text(endpoint)] + (id.map { [.text($0)] } ?? []))
        let lanes = Set(letters.flatMap { [$0.optionalText(1), $0.optionalText(2)] }.compactMap(\.self))
        for lane in lanes.sorted() {
          try Self.openLane(lane, app: app, endpoint: endpoint, at: now, in: session)
          try session.run(
            "UPDATE lanes SET due = ?4, noted = ?4 WHERE app = ?1 AND endpoint = ?2 AND lane = ?3",
            .text(app),
            .text(endpoint), .text(lane), .integer(now.milliseconds))
        }
        for letter in letters {
          try session.run(
            """
            UPDATE deliveries SET state = 0, attempts = 0, error = NULL
            WHERE app = ?1 AND endpoint = ?2 AND change = ?3
            """, .text(app), .text(endpoint), .integer(letter.integer(0)))
        }
        return letters.count
      }
    }
  }
#endif
