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
    /// The outcome of an attempt.
    package enum Outcome: Sendable, Hashable {
      case delivered
      /// The attempt failed.
      ///
      /// The next one must not come before an instant, if the endpoint stated one.
      case failed(String, retryAfter: Timestamp? = nil)
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

    let database: any ServiceDatabase

    package init(_ database: any ServiceDatabase) { self.database = database }

    /// The lane of a customer's changes, or of an entitlement if it has no customer.
    static func lane(of customer: String?, entitlement name: String) -> String {
      customer.map { "customer \($0)" } ?? name
    }

    // MARK: Delivering

    /// Leases the due deliveries of an endpoint, each the first of its lane.
    ///
    /// Call ``end(_:_:at:random:)`` for each.
    package func lease(
      app: String, endpoint: String, at now: Timestamp, for duration: Duration, limit: Int
    ) async throws -> [Lease] {
      let expires = now.addingSeconds(duration / .seconds(1)).milliseconds
      return try await database.write { session in
        let lanes = EndpointLanes(app: app, endpoint: endpoint, session: session)
        var round = LeaseRound(at: now)
        return try lanes.due(at: now, limit: limit).compactMap { lane in
          let action = try round.action(on: lane, first: lanes.first) { try lanes.freeTime(of: $0, at: now) }
          switch action {
          case .goOn: return nil
          case .close:
            try lanes.close(lane)
            return nil
          case .wait(let instant):
            try lanes.release(lane, due: instant, at: now)
            return nil
          case .lease(let first):
            for lane in first.lanes { try lanes.lease(lane, until: expires, at: now) }
            return try lanes.lease(of: first, expires: expires)
          }
        }
      }
    }

    /// Ends a lease, with a number from 0 to 1 that spreads the attempts after a failure.
    ///
    /// If the lease was taken over meanwhile, this changes nothing: the other process delivers, too.
    package func end(_ lease: Lease, _ outcome: Outcome, at now: Timestamp, random: Double) async throws {
      let change = lease.change.sequence
      try await database.write { session in
        let lanes = EndpointLanes(app: lease.change.app, endpoint: lease.endpoint, session: session)
        guard let ended = try lanes.delivery(change),
          try ended.lanes.sorted().allSatisfy({ try lanes.leased($0) == lease.expires })
        else { return }
        var due = now
        switch LeaseEnding(of: outcome, after: lease.attempts, at: now, random: random) {
        case .complete: try lanes.complete(change, at: now)
        case .retry(let instant, let error, let attempts):
          due = instant
          try lanes.note(error, attempts: attempts, isDead: false, change)
        case .giveUp(let error, let attempts):
          try lanes.note(error, attempts: attempts, isDead: true, change)
        case .release: break
        }
        for lane in ended.lanes {
          guard let next = try lanes.first(of: lane) else {
            try lanes.close(lane)
            continue
          }
          try lanes.release(lane, due: due, at: now)
          for other in next.lanes where !ended.lanes.contains(other) {
            try lanes.wake(other, for: next, at: now)
          }
        }
      }
    }

    /// Corrects the lanes that were set by a clock that was ahead: ends their leases, and makes them due now.
    ///
    /// - Returns: The number of corrected lanes.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    func correct(at now: Timestamp) async throws -> Int {
      let latest = now.addingSeconds(ClockCheck.tolerance).milliseconds
      let isWrong = try await !database.rows("SELECT 1 FROM lanes WHERE noted > $1 LIMIT 1", .integer(latest))
        .isEmpty
      guard isWrong else { return 0 }
      return try await database.run(
        "UPDATE lanes SET due = $1, leased = 0, noted = $1 WHERE noted > $2 RETURNING lane",
        .integer(now.milliseconds), .integer(latest)
      ).count
    }

    /// The number of seconds until the next attempt; `nil` if no attempt follows.
    static func delay(
      afterAttempt attempts: Int, until retryAfter: Timestamp?, now: Timestamp, random: Double
    ) -> Double? {
      guard delays.indices.contains(attempts) else { return nil }
      let usual = delays[attempts] * (0.9 + 0.2 * random)
      return max(usual, requestedDelay(until: retryAfter, now: now, atMost: maximumDelay))
    }

    /// The number of seconds for which a receiver asked to be left alone; 0 if it did not ask.
    static func requestedDelay(until instant: Timestamp?, now: Timestamp, atMost longest: Double) -> Double {
      instant.map { min(($0.millisecondsSince1970 - now.millisecondsSince1970) / 1000, longest) } ?? 0
    }

    // MARK: Dead letters

    /// The number of waiting and of dead deliveries of each endpoint of an app.
    package func counts(app: String) async throws -> [String: (waiting: Int, dead: Int)] {
      try await database.rows(
        "SELECT endpoint, state, count(*) FROM deliveries WHERE app = $1 GROUP BY endpoint, state", .text(app)
      ).reduce(into: [:]) { counts, row in
        let count = Int(row.integer(2))
        if row.integer(1) == 0 {
          counts[row.text(0), default: (0, 0)].waiting = count
        } else {
          counts[row.text(0), default: (0, 0)].dead = count
        }
      }
    }

    /// The dead letters of an app's endpoint, in the order of the changes, after a sequence.
    package func deadLetters(
      app: String, endpoint: String, after sequence: Int64 = 0, limit: Int = 100
    ) async throws -> [DeadLetter] {
      try await database.rows(
        """
        SELECT \(EntitlementChange.columns), attempts, error FROM deliveries
        JOIN changes ON sequence = change
        WHERE deliveries.app = $1 AND endpoint = $2 AND state = 1 AND change > $3 ORDER BY change LIMIT $4
        """, .text(app), .text(endpoint), .integer(sequence), .integer(Int64(limit))
      ).map { DeadLetter(attempts: $0.integer(8), error: $0.text(9), change: EntitlementChange($0)) }
    }

    /// Queues dead letters of an endpoint for delivery again, with all attempts: that of a `webhook-id`, or all; and
    /// records the administrator who asked for it.
    ///
    /// - Returns: The number of queued dead letters.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    package func replay(
      app: String, endpoint: String, id: String? = nil, by actor: String? = nil, at now: Timestamp
    ) async throws -> Int {
      try await database.write { session in
        let count = try EndpointLanes(app: app, endpoint: endpoint, session: session).revive(id: id, at: now)
        if let actor {
          try AdministrativeAct.record(
            "webhooks.replay", "app=\(app) endpoint=\(endpoint) id=\(id ?? "*") count=\(count)", by: actor,
            at: now.milliseconds, in: session)
        }
        return count
      }
    }
  }
#endif
