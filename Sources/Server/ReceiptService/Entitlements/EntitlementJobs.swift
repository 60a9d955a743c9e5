// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  package import Logging
  internal import ServiceLifecycle

  /// Stores changes that are due to time, and asks the stores about silent subscriptions, while a `ServiceGroup` runs.
  ///
  /// Several processes may do so on one database.
  package struct EntitlementJobs: Service {
    private let entitlements: ServiceEntitlements
    private let interval: Duration
    private let logger: Logger
    private let questions: [String: StoreQuestion]

    package init(
      _ entitlements: ServiceEntitlements, apps: [AppConfiguration], interval: Duration = .seconds(1),
      logger: Logger
    ) {
      self.entitlements = entitlements
      self.interval = interval
      self.logger = logger
      questions = apps.reduce(into: [:]) { $0[$1.name] = $1.storeQuestion }
    }

    /// Runs until graceful shutdown or cancellation.
    package func run() async throws {
      await withDiscardingTaskGroup { group in
        group.addTask { await expire() }
        // Each app has its own loop, so that a slow store delays only the requests to that store.
        for (app, question) in questions {
          group.addTask { await repeatUntilShutdown(every: interval) { await ask(question, of: app) } }
        }
      }
    }

    private func expire() async {
      await cancelWhenGracefulShutdown {
        var check = ClockCheck()
        while !Task.isCancelled {
          // Both steps use the same reading of the clock. If it is wrong, the next check sees that the clock was set
          // back.
          let now = entitlements.clock()
          await check.ifDue(at: now) { await correct() }
          await attempt { while try await entitlements.expireDue(at: now, limit: 100) == 100 {} }
          try? await Task.sleep(for: interval)
        }
      }
    }

    /// Returns `true` if the work succeeded, and logs errors.
    @discardableResult
    private func attempt(_ body: () async throws -> Void) async -> Bool {
      do {
        try await body()
        return true
      } catch {
        logger.error("Processing the due entitlements failed.", metadata: ["error": "\(error)"])
        return false
      }
    }

    /// Returns `true` if the whole check succeeded.
    private func correct() async -> Bool {
      await attempt {
        var (count, found) = (0, 0)
        repeat {
          found = try await entitlements.correct(limit: 100)
          count += found
        } while found == 100
        guard count > 0 else { return }
        logger.error(
          "Entitlements were evaluated in the future: the clock of this or another process was ahead. They are corrected.",
          metadata: ["count": "\(count)"])
      }
    }

    private func ask(_ question: StoreQuestion, of app: String) async {
      do {
        try await entitlements.reconcile(app: app) { app, entitlement in
          do {
            return try await question(entitlement)
          } catch {
            logger.warning("Asking the store failed.", metadata: ["app": "\(app)", "error": "\(error)"])
            throw error
          }
        }
      } catch {
        logger.error(
          "Processing the overdue subscriptions failed.", metadata: ["app": "\(app)", "error": "\(error)"])
      }
    }
  }

  /// Repeats work at an interval, until graceful shutdown or cancellation.
  func repeatUntilShutdown(every interval: Duration, _ work: @escaping @Sendable () async -> Void) async {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        await work()
        try? await Task.sleep(for: interval)
      }
    }
  }
#endif
