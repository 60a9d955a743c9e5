// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  package import ReceiptCodec

  extension WebhookQueue {
    /// The delivery of a change to an endpoint.
    package enum Delivery: Sendable, Hashable {
      /// The endpoint took it, at this time.
      case delivered(Timestamp)
      /// It waits; the next attempt is due at this time, or after an earlier change of the same customer was delivered.
      case waiting(attempts: Int, error: String?, next: Timestamp?)
      /// It was given up.
      case dead(attempts: Int, error: String?)
    }

    /// The latest changes that concern a customer, also those by which a purchase moved to another one, latest first.
    package func changes(app: String, customer: String, limit: Int) async throws -> [EntitlementChange] {
      let customer = RecordingOptions.canonicalCustomer(customer)
      return try await database.rows(
        """
        SELECT \(EntitlementChange.columns) FROM changes
        WHERE app = $1 AND (customer = $2 OR previous_customer = $2) ORDER BY sequence DESC LIMIT $3
        """, .text(app), .text(customer), .integer(Int64(limit))
      ).map(EntitlementChange.init)
    }

    /// The deliveries of changes, by change and endpoint. There is none to an endpoint that was added later, or that took
    /// the change before deliveries were noted.
    package func deliveries(
      of changes: [EntitlementChange], app: String
    ) async throws -> [Int64: [String: Delivery]] {
      try await database.read { session in
        var found: [Int64: [String: Delivery]] = [:]
        // The first waiting change of each lane, and the time of the next attempt.
        var lanes: [EndpointLane: (first: Int64?, due: Timestamp?)] = [:]
        for change in changes {
          let key: [DatabaseValue] = [.text(app), .integer(change.sequence)]
          for row in try session.run(
            "SELECT endpoint, time FROM delivered WHERE app = $1 AND change = $2", key)
          {
            found[change.sequence, default: [:]][row.text(0)] = .delivered(
              Timestamp(milliseconds: row.integer(1)))
          }
          for row in try session.run(
            "SELECT endpoint, state, attempts, error, lane FROM deliveries WHERE app = $1 AND change = $2",
            key)
          {
            let (endpoint, attempts, error) = (row.text(0), Int(row.integer(2)), row.optionalText(3))
            guard row.integer(1) == 0 else {
              found[change.sequence, default: [:]][endpoint] = .dead(attempts: attempts, error: error)
              continue
            }
            let place = EndpointLane(endpoint: endpoint, lane: row.text(4))
            let lane = try lanes[place] ?? Self.state(of: place, app: app, in: session)
            lanes[place] = lane
            found[change.sequence, default: [:]][endpoint] = .waiting(
              attempts: attempts, error: error, next: lane.first == change.sequence ? lane.due : nil)
          }
        }
        return found
      }
    }

    private struct EndpointLane: Hashable {
      let endpoint: String
      let lane: String
    }

    private static func state(
      of place: EndpointLane, app: String, in session: any DatabaseSession
    ) throws -> (first: Int64?, due: Timestamp?) {
      let lanes = EndpointLanes(app: app, endpoint: place.endpoint, session: session)
      let due = try session.run(
        "SELECT due FROM lanes WHERE app = $1 AND endpoint = $2 AND lane = $3", .text(app),
        .text(place.endpoint), .text(place.lane)
      ).first.map { Timestamp(milliseconds: $0.integer(0)) }
      return (try lanes.first(of: place.lane)?.change, due)
    }
  }
#endif
