// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Logging
  package import ReceiptCodec
  internal import ServiceLifecycle

  extension ServiceEntitlements {
    /// Removes notifications and changes from before an instant, except changes still queued for a webhook or given up,
    /// and returns their number, at most `limit` of each kind; 0 if nothing is left to remove.
    @discardableResult
    package func remove(before instant: Timestamp, limit: Int = 500) async throws -> Int {
      let values: [DatabaseValue] = [.integer(instant.milliseconds), .integer(Int64(limit))]
      return try await database.write { session in
        let notifications = try session.run(
          """
          DELETE FROM notifications WHERE (app, key) IN (
            SELECT app, key FROM notifications WHERE received < $1 ORDER BY received LIMIT $2)
          RETURNING received
          """, values)
        let changes = try session.run(
          """
          DELETE FROM changes WHERE sequence IN (
            SELECT sequence FROM changes
            WHERE time < $1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.change = changes.sequence)
            ORDER BY time LIMIT $2)
          RETURNING sequence, app
          """, values)
        for change in changes {
          try session.run("DELETE FROM delivered WHERE change = $1", .integer(change.integer(0)))
        }
        for (app, changes) in Dictionary(grouping: changes, by: { $0.text(1) }) {
          try RemovedChanges.note(changes.map { $0.integer(0) }.max() ?? 0, app: app, in: session)
        }
        return notifications.count + changes.count
      }
    }

    /// Removes deliveries of changes from before an instant to endpoints that are no longer in the configuration.
    ///
    /// Such deliveries are never made, and would keep their changes forever. Later ones are kept, because another
    /// process may have a later configuration.
    ///
    /// - Returns: The endpoints, each with the number of removed deliveries.
    package func removeDeliveries(
      except configured: Set<EndpointName>, before instant: Timestamp
    ) async throws -> [EndpointName: Int] {
      let known = try await database.rows("SELECT DISTINCT app, endpoint FROM deliveries").map {
        EndpointName(app: $0.text(0), endpoint: $0.text(1))
      }
      var removed: [EndpointName: Int] = [:]
      for name in known where !configured.contains(name) {
        let key: [DatabaseValue] = [.text(name.app), .text(name.endpoint)]
        removed[name] = try await database.write { session in
          // Lock lanes before deliveries, in the same order as the sender does.
          try session.run(
            "SELECT lane FROM lanes WHERE app = $1 AND endpoint = $2 \(session.dialect.lockingRows)", key)
          let deliveries = try session.run(
            """
            DELETE FROM deliveries WHERE app = $1 AND endpoint = $2
            AND change IN (SELECT sequence FROM changes WHERE time < $3) RETURNING change
            """, key + [.integer(instant.milliseconds)])
          try session.run(
            """
            DELETE FROM lanes WHERE app = $1 AND endpoint = $2 AND NOT EXISTS (
              SELECT 1 FROM deliveries
              WHERE deliveries.app = $1 AND deliveries.endpoint = $2 AND deliveries.lane = lanes.lane)
            AND NOT EXISTS (
              SELECT 1 FROM deliveries
              WHERE deliveries.app = $1 AND deliveries.endpoint = $2 AND deliveries.previous_lane = lanes.lane)
            """, key)
          return deliveries.count
        }
      }
      return removed.filter { $0.value > 0 }
    }
  }

  /// Removes rows that are no longer needed, in small transactions, while a `ServiceGroup` runs.
  ///
  /// Several processes may do so on one database.
  package struct RetentionJob: Service {
    private static let interval = Duration.seconds(3600)
    /// The pause between two transactions, which lets other transactions run.
    private static let pause = Duration.milliseconds(50)

    let entitlements: ServiceEntitlements
    let apps: [AppConfiguration]
    let days: Int
    let logger: Logger

    /// Runs until graceful shutdown or cancellation.
    package func run() async throws {
      await repeatUntilShutdown(every: Self.interval) { await removeOld() }
    }

    private func removeOld() async {
      let instant = entitlements.clock().addingSeconds(-86_400 * Double(days))
      let endpoints = Set(
        apps.flatMap { app in app.webhooks.map { EndpointName(app: app.name, endpoint: $0.name) } })
      var removed = 0
      await logger.attempt("Removing old notifications and changes failed.") {
        for (name, count) in try await entitlements.removeDeliveries(except: endpoints, before: instant) {
          logger.warning(
            "Old deliveries to an endpoint that is not in the configuration were removed.",
            metadata: ["app": "\(name.app)", "endpoint": "\(name.endpoint)", "count": "\(count)"])
        }
        let forwarding = Set(apps.filter { $0.forwarding != nil }.map(\.name))
        let forwards = try await ForwardingQueue(entitlements.database).remove(
          except: forwarding, before: instant)
        if forwards > 0 {
          logger.warning(
            "Old notifications that waited in apps without forwarding.url were removed.",
            metadata: ["count": "\(forwards)"])
        }
        while !Task.isCancelled {
          let count = try await entitlements.remove(before: instant)
          guard count > 0 else { break }
          removed += count
          try await Task.sleep(for: Self.pause)
        }
      }
      if removed > 0 {
        logger.info("Old notifications and changes were removed.", metadata: ["count": "\(removed)"])
      }
    }
  }

  /// The latest removed change of each app.
  ///
  /// It preserves the end of an app's changes after the latest ones were removed. A reader who claims to have read
  /// beyond that end has read a different database, such as the one from before a restore.
  enum RemovedChanges {
    /// Notes the removal of changes, within the transaction that removes them.
    static func note(_ sequence: Int64, app: String, in session: any DatabaseSession) throws {
      try session.run(
        """
        INSERT INTO removed_changes(app, sequence) VALUES ($1, $2)
        ON CONFLICT(app) DO UPDATE SET sequence = excluded.sequence WHERE excluded.sequence > removed_changes.sequence
        """, .text(app), .integer(sequence))
    }

    /// The sequence of an app's latest removed change; 0 if no change was removed.
    static func latest(app: String, in session: any DatabaseSession) throws -> Int64 {
      try session.integer("SELECT sequence FROM removed_changes WHERE app = $1", .text(app))
    }
  }
#endif
