// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// The lanes of an endpoint, within one transaction: see ``WebhookQueue``.
  struct EndpointLanes {
    let app: String
    let endpoint: String
    let session: any DatabaseSession

    /// A waiting delivery.
    struct Delivery: Sendable, Hashable {
      let change: Int64
      /// The lane of the customer and, if it differs, that of the previous customer.
      let lanes: [String]
    }

    private func values(_ others: DatabaseValue...) -> [DatabaseValue] {
      [.text(app), .text(endpoint)] + others
    }

    /// The waiting delivery of a change; `nil` if it was delivered or given up.
    func delivery(_ change: Int64) throws -> Delivery? {
      try session.run(
        """
        SELECT change, lane, previous_lane FROM deliveries
        WHERE app = $1 AND endpoint = $2 AND change = $3 AND state = 0
        """, values(.integer(change))
      ).first.map(Self.delivery)
    }

    /// The first waiting delivery of a lane.
    func first(of lane: String) throws -> Delivery? {
      // Use one statement for each column, so that each can use an index.
      try ["lane", "previous_lane"].compactMap { column in
        try session.run(
          """
          SELECT change, lane, previous_lane FROM deliveries
          WHERE app = $1 AND endpoint = $2 AND \(column) = $3 AND state = 0 ORDER BY change LIMIT 1
          """, values(.text(lane))
        ).first.map(Self.delivery)
      }.min { $0.change < $1.change }
    }

    private static func delivery(_ row: DatabaseRow) -> Delivery {
      Delivery(change: row.integer(0), lanes: [row.optionalText(1), row.optionalText(2)].compactMap(\.self))
    }

    /// Locks the row of a lane, and returns the end of its lease; `nil` if the lane does not exist.
    func leased(_ lane: String) throws -> Int64? {
      try session.run(
        "SELECT leased FROM lanes WHERE app = $1 AND endpoint = $2 AND lane = $3 \(session.dialect.lockingRows)",
        values(.text(lane))
      ).first?.integer(0)
    }

    /// The time until which a delivery must wait for another one in one of its lanes; `nil` if it can be leased there.
    func wait(for lane: String, before delivery: Delivery, at now: Timestamp) throws -> Timestamp? {
      // This must not wait for a lock, because the other transaction may wait for a lock of this one.
      let rows = try session.run(
        """
        SELECT due, leased FROM lanes WHERE app = $1 AND endpoint = $2 AND lane = $3 \(session.dialect.lockingFreeRows)
        """, values(.text(lane)))
      if rows.isEmpty {
        // The row is locked or missing. A missing lane would never be found again.
        try session.run(
          """
          INSERT INTO lanes(app, endpoint, lane, due, leased, noted) VALUES ($1, $2, $3, $4, 0, $4)
          ON CONFLICT(app, endpoint, lane) DO NOTHING
          """, values(.text(lane), .integer(now.milliseconds)))
      }
      let instant = rows.first.map { Timestamp(milliseconds: max($0.integer(0), $0.integer(1))) }
      if let instant, instant > now { return instant }
      // The end of the previous delivery wakes this lane. The second of delay is for the case that both end at once.
      guard instant != nil, try first(of: lane) == delivery else { return now.addingSeconds(1) }
      return nil
    }

    /// Makes a lane due now if its first delivery is the given one, which waited for another lane.
    func wake(_ lane: String, for delivery: Delivery, at now: Timestamp) throws {
      guard try first(of: lane) == delivery else { return }
      try session.run(
        """
        UPDATE lanes SET due = $4, noted = $4 WHERE app = $1 AND endpoint = $2 AND due > $4 AND lane IN (
          SELECT lane FROM lanes WHERE app = $1 AND endpoint = $2 AND lane = $3 \(session.dialect.lockingFreeRows))
        """, values(.text(lane), .integer(now.milliseconds)))
    }

    /// Sets the time at which a lane is due, and the end of its lease.
    func set(_ lane: String, due: Timestamp, leased: Int64, at now: Timestamp) throws {
      try session.run(
        """
        UPDATE lanes SET due = $4, leased = $5, noted = $6 WHERE app = $1 AND endpoint = $2 AND lane = $3
        """,
        values(
          .text(lane), .integer(due.milliseconds), .integer(leased), .integer(now.milliseconds)))
    }

    /// Leases a lane.
    func lease(_ lane: String, until expires: Int64, at now: Timestamp) throws {
      try session.run(
        "UPDATE lanes SET leased = $4, noted = $5 WHERE app = $1 AND endpoint = $2 AND lane = $3",
        values(.text(lane), .integer(expires), .integer(now.milliseconds)))
    }

    /// The lease of a delivery whose lanes are leased.
    func lease(of delivery: Delivery, expires: Int64) throws -> WebhookQueue.Lease? {
      try session.run(
        """
        SELECT \(EntitlementChange.columns), attempts, trace, lane FROM deliveries
        JOIN changes ON sequence = change
        WHERE deliveries.app = $1 AND endpoint = $2 AND change = $3
        """, values(.integer(delivery.change))
      ).first.map { row in
        WebhookQueue.Lease(
          endpoint: endpoint, lane: row.text(10), attempts: Int(row.integer(8)), expires: expires,
          change: EntitlementChange(row), trace: row.optionalText(9))
      }
    }

    /// Removes a lane without waiting deliveries.
    func close(_ lane: String) throws {
      try session.run(
        "DELETE FROM lanes WHERE app = $1 AND endpoint = $2 AND lane = $3", values(.text(lane)))
    }
  }
#endif
