// SPDX-License-Identifier: Apache-2.0

#if Server
  package import ReceiptCodec

  /// The changes that webhook endpoints have not taken, in the service's database.
  ///
  /// Changes about one customer are a lane of an endpoint: of a lane one delivery is under way at a time, in order. Who
  /// delivers leases the lane; a lease that is not ended in time is taken over. The row of the lane is locked first in each
  /// transaction, so that one that enters a delivery and one that ends another see each other.
  package struct WebhookQueue: Sendable {
    /// A delivery that is under way.
    package struct Lease: Sendable {
      package let endpoint: String
      package let lane: String
      /// How often it was tried before.
      package let attempts: Int
      /// Until when, in milliseconds; tells it from a later lease of the lane.
      let expires: Int64
      package let change: EntitlementChange
      /// The trace that it belongs to, as ``TraceHeaders`` stores it.
      var trace: String?
    }

    /// What came of an attempt.
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
      /// What came of the last attempt.
      package let error: String
      package let change: EntitlementChange
    }

    /// How long after each attempt the next one follows, in seconds, as Standard Webhooks recommends.
    package static let delays: [Double] = [
      5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]
    /// The longest time that an endpoint may ask for, in seconds.
    static let maximumDelay: Double = 86_400

    let database: any ServiceDatabase

    /// Creates the queue of a database.
    package init(_ database: any ServiceDatabase) { self.database = database }

    /// Enters a change, within the transaction that finds it.
    static func enter(
      _ change: Int64, app: String, endpoint: String, lane: String, at now: Timestamp,
      in session: any DatabaseSession
    ) throws {
      try openLane(lane, app: app, endpoint: endpoint, at: now, in: session)
      try session.run(
        "INSERT INTO deliveries(app, endpoint, change, lane, state, attempts) VALUES (?1, ?2, ?3, ?4, 0, 0)",
        .text(app), .text(endpoint), .integer(change), .text(lane))
    }

    private static func openLane(
      _ lane: String, app: String, endpoint: String, at now: Timestamp, in session: any DatabaseSession
    ) throws {
      // The update changes nothing, and locks the row.
      try session.run(
        """
        INSERT INTO lanes(app, endpoint, lane, due, leased) VALUES (?1, ?2, ?3, ?4, 0)
        ON CONFLICT(app, endpoint, lane) DO UPDATE SET lane = excluded.lane
        """, .text(app), .text(endpoint), .text(lane), .integer(now.milliseconds))
    }

    // MARK: Delivering

    /// Whether a delivery of an endpoint is due.
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
    ///   - limit: How many at most.
    /// - Returns: The leases; ``end(_:_:at:random:)`` each.
    /// - Throws: ``DatabaseError``.
    package func lease(
      app: String, endpoint: String, at now: Timestamp, for duration: Duration, limit: Int
    ) async throws -> [Lease] {
      let expires = now.addingSeconds(duration / .seconds(1)).milliseconds
      return try await database.write { session in
        let lanes = try session.run(
          """
          SELECT lane FROM lanes WHERE app = ?1 AND endpoint = ?2 AND due <= ?3 AND leased <= ?3
          ORDER BY due LIMIT ?4 FOR UPDATE SKIP LOCKED
          """, .text(app), .text(endpoint), .integer(now.milliseconds), .integer(Int64(limit)))
        return try lanes.compactMap { row in
          let lane = row.text(0)
          let first = try session.run(
            """
            SELECT \(EntitlementChange.columns), attempts, trace FROM deliveries
            JOIN changes ON sequence = change
            WHERE deliveries.app = ?1 AND endpoint = ?2 AND lane = ?3 AND state = 0 ORDER BY change LIMIT 1
            """, .text(app), .text(endpoint), .text(lane)
          ).first
          guard let first else {
            try Self.closeLane(lane, app: app, endpoint: endpoint, in: session)
            return nil
          }
          try session.run(
            "UPDATE lanes SET leased = ?4 WHERE app = ?1 AND endpoint = ?2 AND lane = ?3", .text(app),
            .text(endpoint), .text(lane), .integer(expires))
          return Lease(
            endpoint: endpoint, lane: lane, attempts: Int(first.integer(8)), expires: expires,
            change: EntitlementChange(first), trace: first.optionalText(9))
        }
      }
    }

    /// Ends a lease. One that was taken over meanwhile changes nothing: the other delivers, too.
    ///
    /// - Parameters:
    ///   - lease: The lease.
    ///   - outcome: What came of the attempt.
    ///   - now: The current time.
    ///   - random: From 0 to 1: spreads the attempts after a failure.
    /// - Throws: ``DatabaseError``.
    package func end(_ lease: Lease, _ outcome: Outcome, at now: Timestamp, random: Double) async throws {
      let app = lease.change.app
      let key: [DatabaseValue] = [.text(app), .text(lease.endpoint), .text(lease.lane)]
      let delivery: [DatabaseValue] = [.text(app), .text(lease.endpoint), .integer(lease.change.sequence)]
      try await database.write { session in
        let held = try session.run(
          "SELECT leased FROM lanes WHERE app = ?1 AND endpoint = ?2 AND lane = ?3 FOR UPDATE", key)
        guard held.first?.integer(0) == lease.expires else { return }
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
        let isMore = try !session.run(
          "SELECT 1 FROM deliveries WHERE app = ?1 AND endpoint = ?2 AND lane = ?3 AND state = 0 LIMIT 1", key
        ).isEmpty
        if isMore {
          try session.run(
            "UPDATE lanes SET leased = 0, due = ?4 WHERE app = ?1 AND endpoint = ?2 AND lane = ?3",
            key + [.integer(due.milliseconds)])
        } else {
          try Self.closeLane(lease.lane, app: app, endpoint: lease.endpoint, in: session)
        }
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

    /// Seconds until the next attempt; `nil` where there is none.
    static func delay(
      afterAttempt attempts: Int, until retryAfter: Timestamp?, now: Timestamp, random: Double
    ) -> Double? {
      guard delays.indices.contains(attempts) else { return nil }
      let usual = delays[attempts] * (0.9 + 0.2 * random)
      let asked = retryAfter.map { ($0.millisecondsSince1970 - now.millisecondsSince1970) / 1000 } ?? 0
      return max(usual, min(asked, maximumDelay))
    }

    private static func closeLane(
      _ lane: String, app: String, endpoint: String, in session: any DatabaseSession
    ) throws {
      try session.run(
        "DELETE FROM lanes WHERE app = ?1 AND endpoint = ?2 AND lane = ?3", .text(app), .text(endpoint),
        .text(lane))
    }

    // MARK: Dead letters

    /// How many deliveries of an app's endpoints wait, and how many are dead.
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
    ///   - sequence: Only those after this one.
    ///   - limit: How many at most.
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
    /// - Returns: How many there are.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    package func replay(app: String, endpoint: String, id: String? = nil, at now: Timestamp) async throws
      -> Int
    {
      try await database.write { session in
        let letters = try session.run(
          """
          SELECT change, lane FROM deliveries JOIN changes ON sequence = change
          WHERE deliveries.app = ?1 AND endpoint = ?2 AND state = 1 \(id == nil ? "" : "AND id = ?3")
          ORDER BY lane, change
          """, [.text(app), .text(endpoint)] + (id.map { [.text($0)] } ?? []))
        for letter in letters {
          let lane = letter.text(1)
          try Self.openLane(lane, app: app, endpoint: endpoint, at: now, in: session)
          try session.run(
            "UPDATE lanes SET due = ?4 WHERE app = ?1 AND endpoint = ?2 AND lane = ?3", .text(app),
            .text(endpoint), .text(lane), .integer(now.milliseconds))
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
