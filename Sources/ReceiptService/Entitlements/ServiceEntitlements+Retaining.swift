// SPDX-License-Identifier: Apache-2.0

#if Server
  package import Logging
  package import ReceiptCodec
  internal import ServiceLifecycle

  extension ServiceEntitlements {
    /// Removes notifications and changes from before an instant, but for changes that a webhook waits for or gave up.
    ///
    /// - Parameters:
    ///   - instant: What is as old as this stays.
    ///   - limit: How many of each are removed at most, in one transaction.
    /// - Returns: How many were removed; 0 where nothing is left to remove.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    package func remove(before instant: Timestamp, limit: Int = 500) async throws -> Int {
      let values: [DatabaseValue] = [.integer(instant.milliseconds), .integer(Int64(limit))]
      return try await database.write { session in
        let notifications = try session.run(
          """
          DELETE FROM notifications WHERE (app, key) IN (
            SELECT app, key FROM notifications WHERE received < ?1 ORDER BY received LIMIT ?2)
          RETURNING received
          """, values)
        let changes = try session.run(
          """
          DELETE FROM changes WHERE sequence IN (
            SELECT sequence FROM changes
            WHERE time < ?1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.change = changes.sequence)
            ORDER BY time LIMIT ?2)
          RETURNING sequence
          """, values)
        return notifications.count + changes.count
      }
    }
  }

  /// Removes what is older than it has to be, in small transactions, for as long as a `ServiceGroup` runs. Several processes
  /// may do so on one database.
  package struct RetentionJob: Service {
    private static let interval = Duration.seconds(3600)
    /// Between two transactions: others have their turn.
    private static let pause = Duration.milliseconds(50)

    private let entitlements: ServiceEntitlements
    private let days: Int
    private let logger: Logger

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - entitlements: The entitlements.
    ///   - days: How old what stays may be.
    ///   - logger: Takes what goes wrong.
    package init(_ entitlements: ServiceEntitlements, days: Int, logger: Logger) {
      self.entitlements = entitlements
      self.days = days
      self.logger = logger
    }

    /// Runs until graceful shutdown or cancellation.
    package func run() async throws {
      await cancelWhenGracefulShutdown {
        while !Task.isCancelled {
          await removeOld()
          try? await Task.sleep(for: Self.interval)
        }
      }
    }

    private func removeOld() async {
      let instant = entitlements.clock().addingSeconds(-86_400 * Double(days))
      var removed = 0
      do {
        while !Task.isCancelled {
          let count = try await entitlements.remove(before: instant)
          guard count > 0 else { break }
          removed += count
          try await Task.sleep(for: Self.pause)
        }
      } catch is CancellationError {
      } catch {
        logger.error(
          "Old notifications and changes could not be removed.", metadata: ["error": "\(error)"])
      }
      if removed > 0 {
        logger.info("Old notifications and changes were removed.", metadata: ["count": "\(removed)"])
      }
    }
  }
#endif
