// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import CoreMetrics
  package import Logging
  internal import ReceiptCodec
  internal import ServiceLifecycle

  /// Forwards the stores' notifications of each app to the app's old system, one at a time and in order, while a
  /// `ServiceGroup` runs.
  ///
  /// A failed attempt is repeated, with growing pauses, until the old system accepts the notification or an
  /// administrator drops it. Several processes may forward from one database.
  package final class NotificationForwarder: Service {
    /// The interval of polling for commits of other processes and for notifications that are due again.
    static let pollInterval = Duration.seconds(1)
    /// The interval of counting the waiting notifications.
    private static let countInterval = Duration.seconds(10)

    private let targets: [(app: String, target: PostTarget)]
    private let queue: ForwardingQueue
    private let client: WebhookClient
    private let lease: Duration
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let wake = CommitSignal()

    package init(
      apps: [AppConfiguration], _ entitlements: ServiceEntitlements, timeout: Duration, logger: Logger
    ) {
      targets = apps.compactMap { app in app.forwarding.map { (app.name, $0) } }
      queue = ForwardingQueue(entitlements.database)
      client = WebhookClient(timeout: timeout)
      // A lease must be longer than an attempt can take.
      lease = (timeout + WebhookClient.drainTimeout) * 2
      clock = entitlements.clock
      self.logger = logger
      entitlements.commits.add(wake)
    }

    /// Runs until graceful shutdown, which completes the attempts under way, or until cancellation, which gives them
    /// up.
    package func run() async {
      await reportStopped()
      guard !targets.isEmpty else {
        // A service that ends would end the group.
        return await repeatUntilShutdown(every: .seconds(3600)) {}
      }
      await withDiscardingTaskGroup { group in
        await withGracefulShutdownHandler {
          for (app, target) in targets {
            group.addTask { await self.forward(of: app, to: target) }
          }
          await repeatUntilShutdown(every: Self.countInterval) { await self.count() }
        } onGracefulShutdown: {
          self.wake.signal()
        }
      }
    }

    private func forward(of app: String, to target: PostTarget) async {
      while !Task.isCancelled, !Task.isShuttingDownGracefully {
        let seen = wake.count
        await logger.attempt("Reading the notifications to forward failed.", ["app": "\(app)"]) {
          var next = try await queue.lease(app: app, at: clock(), for: lease)
          while let lease = next { next = try await forward(lease, to: target) }
        }
        await wake.wait(beyond: seen, atMost: Self.pollInterval)
      }
    }

    /// Makes one attempt, and returns the lease of the next notification.
    private func forward(
      _ lease: ForwardingQueue.Lease, to target: PostTarget
    ) async throws -> ForwardingQueue.Lease? {
      let outcome = await client.post(lease.delivery, to: target, at: clock())
      switch outcome {
      case .failed(let message, _), .dead(let message):
        logger.warning(
          "Forwarding a notification failed. It is tried again, and later ones wait.",
          metadata: [
            "app": "\(lease.app)", "forward": "\(lease.sequence)", "attempt": "\(lease.attempts + 1)",
            "error": "\(message)",
          ])
        Counter(label: "receipt_forwarding_failures", dimensions: [("app", lease.app)]).increment()
      case .delivered:
        Counter(label: "receipt_forwarded_notifications", dimensions: [("app", lease.app)]).increment()
      case .interrupted: break
      }
      // If this fails, the lease expires, and the notification is forwarded again.
      return try await queue.end(
        lease, outcome, at: clock(), random: Double.random(in: 0..<1),
        nextFor: Task.isCancelled || Task.isShuttingDownGracefully ? nil : self.lease)
    }

    private func count() async {
      await logger.attempt("Counting the notifications to forward failed.") {
        let states = try await queue.states()
        for (app, _) in targets {
          Gauge(label: "receipt_forwarding_waiting", dimensions: [("app", app)]).record(
            states.first { $0.app == app }?.waiting ?? 0)
        }
      }
    }

    /// Reports the notifications that wait in apps whose notifications are no longer forwarded.
    private func reportStopped() async {
      await logger.attempt("Counting the notifications to forward failed.") {
        for state in try await queue.states() where !targets.contains(where: { $0.app == state.app }) {
          logger.warning(
            "Notifications wait, and the app has no forwarding.url. They are kept until it is set again, or until receipt-server forwarding drop deletes them.",
            metadata: ["app": "\(state.app)", "count": "\(state.waiting)"])
        }
      }
    }
  }
#endif
