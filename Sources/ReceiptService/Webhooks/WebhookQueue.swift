// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// The changes that webhook endpoints have not taken, in the service's database.
  ///
  /// Changes about one customer are a lane of an endpoint: of a lane one delivery is under way at a time, in order. Whoever
  /// delivers leases the lane, first of all in a transaction, so that it waits for one that enters something into it.
  package struct WebhookQueue: Sendable {
    let database: any ServiceDatabase

    /// Enters a change, within the transaction that finds it.
    static func enter(
      _ change: Int64, app: String, endpoint: String, lane: String, at now: Timestamp,
      in session: any DatabaseSession
    ) throws {
      try openLane(lane, app: app, endpoint: endpoint, at: now, in: session)
      try session.run(
        """
        INSERT INTO deliveries(app, endpoint, change, lane, state, attempts) VALUES (?1, ?2, ?3, ?4, 0, 0)
        """, .text(app), .text(endpoint), .integer(change), .text(lane))
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
  }
#endif
