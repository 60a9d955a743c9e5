// SPDX-License-Identifier: Apache-2.0

#if Server
  package import Logging
  internal import ReceiptCodec
  internal import ServiceLifecycle
  internal import Synchronization

  /// Delivers the changes of entitlements to the endpoints of the apps, at least once and in order for each customer,
  /// while a `ServiceGroup` runs.
  ///
  /// Several processes may do so on one database. After a replay, the caller must also signal
  /// ``ServiceEntitlements/commits``.
  package final class WebhookSender: Service {
    private let endpoints: [(key: EndpointName, endpoint: WebhookEndpoint)]
    private let queue: WebhookQueue
    private let client: WebhookClient
    private let limits: Limits
    private let clock: @Sendable () -> Timestamp
    private let random: @Sendable () -> Double
    private let logger: Logger
    /// The signal of commits and of the end of deliveries.
    private let wake = CommitSignal()
    private let running: Mutex<RunningDeliveries<EndpointName>>

    package convenience init(
      apps: [AppConfiguration], _ entitlements: ServiceEntitlements, timeout: Duration, logger: Logger
    ) {
      var limits = Limits()
      limits.lease = (timeout + WebhookClient.drainTimeout) * 2
      self.init(
        apps: apps, entitlements, client: WebhookClient(timeout: timeout), limits: limits,
        random: { Double.random(in: 0..<1) }, logger: logger)
    }

    init(
      apps: [AppConfiguration], _ entitlements: ServiceEntitlements, client: WebhookClient, limits: Limits,
      random: @escaping @Sendable () -> Double, logger: Logger
    ) {
      endpoints = apps.flatMap { app in
        app.webhooks.map { (EndpointName(app: app.name, endpoint: $0.name), $0) }
      }
      let share = max(
        1, min(limits.concurrentDeliveriesPerEndpoint, limits.concurrentDeliveries / max(1, endpoints.count)))
      running = Mutex(RunningDeliveries(share: share))
      queue = WebhookQueue(entitlements.database)
      clock = entitlements.clock
      self.client = client
      self.limits = limits
      self.random = random
      self.logger = logger
      entitlements.commits.add(wake)
    }

    /// Runs until graceful shutdown, which completes deliveries under way, or until cancellation, which gives them up.
    package func run() async {
      await withDiscardingTaskGroup { group in
        await withGracefulShutdownHandler {
          var check = ClockCheck()
          while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let seen = wake.count
            // Both steps use the same reading of the clock. If it is wrong, the next check sees that the clock was set
            // back.
            let now = clock()
            await check.ifDue(at: now) { await correctLanes(at: now) }
            await leaseDue(at: now) { lease, endpoint in
              group.addTask { await self.deliver(lease, to: endpoint) }
            }
            await wake.wait(beyond: seen, atMost: limits.pollInterval)
          }
        } onGracefulShutdown: {
          self.wake.signal()
        }
      }
    }

    /// Returns `true` if the lanes could be checked.
    private func correctLanes(at now: Timestamp) async -> Bool {
      await logger.attempt("Checking the due times of webhooks against the clock failed.") {
        let count = try await queue.correct(at: now)
        guard count > 0 else { return }
        logger.error(
          "Webhooks were due in the future: the clock of this or another process was ahead. They are sent now.",
          metadata: ["count": "\(count)"])
      }
    }

    /// Leases and starts the due deliveries one by one, so that a later error does not undo it.
    private func leaseDue(
      at now: Timestamp, _ deliver: (WebhookQueue.Lease, WebhookEndpoint) -> Void
    ) async {
      await logger.attempt("Reading the due webhooks failed.") {
        let running = running.withLock { $0 }
        let open = endpoints.filter { running.free(of: $0.key) > 0 }
        let due = try await queue.database.read { session in
          try open.filter {
            try EndpointLanes(app: $0.key.app, endpoint: $0.key.endpoint, session: session).areDue(at: now)
          }
        }
        // The order is random, so that an error does not always keep the same endpoints waiting.
        for (key, endpoint) in due.shuffled() {
          let leases = try await queue.lease(
            app: key.app, endpoint: key.endpoint, at: now, for: limits.lease,
            limit: running.free(of: key))
          for lease in leases {
            self.running.withLock { $0.begin(key) }
            deliver(lease, endpoint)
          }
        }
      }
    }

    private func deliver(_ lease: WebhookQueue.Lease, to endpoint: WebhookEndpoint) async {
      let key = EndpointName(app: lease.change.app, endpoint: lease.endpoint)
      defer {
        running.withLock { $0.end(key) }
        wake.signal()
      }
      let outcome = await client.post(lease.change, trace: lease.trace, to: endpoint, at: clock())
      let metadata: Logger.Metadata = [
        "app": "\(lease.change.app)", "endpoint": "\(lease.endpoint)", "webhook-id": "\(lease.change.id)",
        "attempt": "\(lease.attempts + 1)",
      ]
      switch outcome {
      case .failed(let message, _), .dead(let message):
        logger.warning(
          "Delivering a webhook failed.", metadata: metadata.merging(["error": "\(message)"]) { $1 })
      case .delivered, .interrupted: break
      }
      // If this fails, the lease expires, and the change is delivered again.
      await logger.attempt("Storing the outcome of a webhook delivery failed.", metadata) {
        try await queue.end(lease, outcome, at: clock(), random: random())
      }
    }
  }
#endif
