// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// The lanes of an endpoint and their deliveries, within one transaction: see ``WebhookQueue``.
  struct EndpointLanes {
    let app: String
    let endpoint: String
    let session: any DatabaseSession

    private static let ofLane = "app = $1 AND endpoint = $2 AND lane = $3"
    private static let ofDelivery = "app = $1 AND endpoint = $2 AND change = $3"

    /// Runs a statement whose first two parameters are the app and the endpoint.
    @discardableResult
    private func run(_ statement: String, _ others: DatabaseValue...) throws -> [DatabaseRow] {
      try session.run(statement, [.text(app), .text(endpoint)] + others)
    }

    // MARK: Lanes

    func areDue(at now: Timestamp) throws -> Bool {
      try !run(
        "SELECT 1 FROM lanes WHERE app = $1 AND endpoint = $2 AND due <= $3 AND leased <= $3 LIMIT 1",
        .integer(now.milliseconds)
      ).isEmpty
    }

    /// Locks the rows of due lanes that are free, and returns their names.
    func due(at now: Timestamp, limit: Int) throws -> [String] {
      try run(
        """
        SELECT lane FROM lanes WHERE app = $1 AND endpoint = $2 AND due <= $3 AND leased <= $3
        ORDER BY due LIMIT $4 \(session.dialect.lockingFreeRows)
        """, .integer(now.milliseconds), .integer(Int64(limit))
      ).map { $0.text(0) }
    }

    /// Makes sure that a lane exists, and locks its row.
    func open(_ lane: String, at now: Timestamp) throws {
      // The update changes nothing, but locks the row.
      try run(
        """
        INSERT INTO lanes(app, endpoint, lane, due, leased, noted) VALUES ($1, $2, $3, $4, 0, $4)
        ON CONFLICT(app, endpoint, lane) DO UPDATE SET lane = excluded.lane
        """, .text(lane), .integer(now.milliseconds))
    }

    /// Locks the row of a lane, and returns the end of its lease; `nil` if the lane does not exist.
    func leased(_ lane: String) throws -> Int64? {
      try run(
        "SELECT leased FROM lanes WHERE \(Self.ofLane) \(session.dialect.lockingRows)", .text(lane)
      ).first?.integer(0)
    }

    /// Locks the row of another lane and returns when it is due and not leased; `nil` if another transaction holds it.
    func freeTime(of lane: String, at now: Timestamp) throws -> Timestamp? {
      // This must not wait for a lock, because the other transaction may wait for a lock of this one.
      let row = try run(
        "SELECT due, leased FROM lanes WHERE \(Self.ofLane) \(session.dialect.lockingFreeRows)", .text(lane)
      ).first
      if row == nil {
        // The row is locked or missing. A missing lane would never be found again.
        try run(
          """
          INSERT INTO lanes(app, endpoint, lane, due, leased, noted) VALUES ($1, $2, $3, $4, 0, $4)
          ON CONFLICT(app, endpoint, lane) DO NOTHING
          """, .text(lane), .integer(now.milliseconds))
      }
      return row.map { Timestamp(milliseconds: max($0.integer(0), $0.integer(1))) }
    }

    /// Makes a lane due now if its first delivery is the given one, which waited for another lane.
    func wake(_ lane: String, for delivery: WaitingDelivery, at now: Timestamp) throws {
      guard try first(of: lane) == delivery else { return }
      try run(
        """
        UPDATE lanes SET due = $4, noted = $4 WHERE app = $1 AND endpoint = $2 AND due > $4 AND lane IN (
          SELECT lane FROM lanes WHERE \(Self.ofLane) \(session.dialect.lockingFreeRows))
        """, .text(lane), .integer(now.milliseconds))
    }

    /// Makes a lane due now, whose lease continues.
    func makeDue(_ lane: String, at now: Timestamp) throws {
      try run(
        "UPDATE lanes SET due = $4, noted = $4 WHERE \(Self.ofLane)", .text(lane), .integer(now.milliseconds))
    }

    func release(_ lane: String, due: Timestamp, at now: Timestamp) throws {
      try run(
        "UPDATE lanes SET due = $4, leased = 0, noted = $5 WHERE \(Self.ofLane)", .text(lane),
        .integer(due.milliseconds), .integer(now.milliseconds))
    }

    func lease(_ lane: String, until expires: Int64, at now: Timestamp) throws {
      try run(
        "UPDATE lanes SET leased = $4, noted = $5 WHERE \(Self.ofLane)", .text(lane), .integer(expires),
        .integer(now.milliseconds))
    }

    func close(_ lane: String) throws { try run("DELETE FROM lanes WHERE \(Self.ofLane)", .text(lane)) }

    // MARK: Deliveries

    /// The waiting delivery of a change; `nil` if it was delivered or given up.
    func delivery(_ change: Int64) throws -> WaitingDelivery? {
      try run(
        "SELECT change, lane, previous_lane FROM deliveries WHERE \(Self.ofDelivery) AND state = 0",
        .integer(change)
      ).first.map(Self.delivery)
    }

    func first(of lane: String) throws -> WaitingDelivery? {
      // Use one statement for each column, so that each can use an index.
      try ["lane", "previous_lane"].compactMap { column in
        try run(
          """
          SELECT change, lane, previous_lane FROM deliveries
          WHERE app = $1 AND endpoint = $2 AND \(column) = $3 AND state = 0 ORDER BY change LIMIT 1
          """, .text(lane)
        ).first.map(Self.delivery)
      }.min { $0.change < $1.change }
    }

    private static func delivery(_ row: DatabaseRow) -> WaitingDelivery {
      WaitingDelivery(
        change: row.integer(0), lanes: [row.optionalText(1), row.optionalText(2)].compactMap(\.self))
    }

    /// Stores the delivery of a change, within the transaction that stores the change.
    ///
    /// The previous lane is that of the customer who had the entitlement before.
    func enter(_ change: Int64, lane: String, after previousLane: String?, at now: Timestamp) throws {
      let previousLane = previousLane == lane ? nil : previousLane
      for lane in [lane, previousLane].compactMap(\.self).sorted() { try open(lane, at: now) }
      try run(
        """
        INSERT INTO deliveries(app, endpoint, change, lane, previous_lane, state, attempts)
        VALUES ($1, $2, $3, $4, $5, 0, 0)
        """, .integer(change), .text(lane), .text(previousLane))
    }

    /// The lease of a delivery whose lanes are leased.
    func lease(of delivery: WaitingDelivery, expires: Int64) throws -> WebhookQueue.Lease? {
      try run(
        """
        SELECT \(EntitlementChange.columns), attempts, trace FROM deliveries JOIN changes ON sequence = change
        WHERE deliveries.app = $1 AND endpoint = $2 AND change = $3
        """, .integer(delivery.change)
      ).first.map { row in
        WebhookQueue.Lease(
          endpoint: endpoint, attempts: Int(row.integer(8)), expires: expires, change: EntitlementChange(row),
          trace: row.optionalText(9))
      }
    }

    /// Removes a delivery that the endpoint took, and notes when.
    func complete(_ change: Int64, at now: Timestamp) throws {
      try run("DELETE FROM deliveries WHERE \(Self.ofDelivery)", .integer(change))
      try run(
        """
        INSERT INTO delivered(app, endpoint, change, time) VALUES ($1, $2, $3, $4)
        ON CONFLICT(app, endpoint, change) DO UPDATE SET time = excluded.time
        """, .integer(change), .integer(now.milliseconds))
    }

    func note(_ error: String, attempts: Int, isDead: Bool, _ change: Int64) throws {
      try run(
        "UPDATE deliveries SET error = $4, attempts = $5, state = $6 WHERE \(Self.ofDelivery)",
        .integer(change), .text(error), .integer(Int64(attempts)), .integer(isDead ? 1 : 0))
    }

    func revive(id: String?, at now: Timestamp) throws -> Int {
      let letters = try session.run(
        """
        SELECT change, lane, previous_lane FROM deliveries JOIN changes ON sequence = change
        WHERE deliveries.app = $1 AND endpoint = $2 AND state = 1 \(id == nil ? "" : "AND id = $3")
        ORDER BY lane, change
        """, [.text(app), .text(endpoint)] + (id.map { [.text($0)] } ?? []))
      let lanes = Set(letters.flatMap { [$0.optionalText(1), $0.optionalText(2)] }.compactMap(\.self))
      for lane in lanes.sorted() {
        try open(lane, at: now)
        try makeDue(lane, at: now)
      }
      for letter in letters {
        try run(
          "UPDATE deliveries SET state = 0, attempts = 0, error = NULL WHERE \(Self.ofDelivery)",
          .integer(letter.integer(0)))
      }
      return letters.count
    }
  }
#endif
