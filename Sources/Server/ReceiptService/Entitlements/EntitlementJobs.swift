// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import Logging
  internal import ServiceLifecycle

  /// Stores changes that are due to time, and asks the stores about silent subscriptions, while a `ServiceGroup` runs.
  ///
  /// Several processes may do so on one database.
  package struct EntitlementJobs: Service {
    let entitlements: ServiceEntitlements
    let apps: [AppConfiguration]
    var interval: Duration = .seconds(1)
    let logger: Logger

    /// Runs until graceful shutdown or cancellation.
    package func run() async throws {
      await withDiscardingTaskGroup { group in
        group.addTask { await expire() }
        // Each app has its own loop, so that a slow store delays only the requests to that store.
        for app in apps {
          guard let question = app.storeQuestion else { continue }
          group.addTask { await repeatUntilShutdown(every: interval) { await ask(question, of: app.name) } }
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

    @discardableResult
    private func attempt(_ work: () async throws -> Void) async -> Bool {
      await logger.attempt("Processing the due entitlements failed.", [:], work)
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
      await logger.attempt("Processing the overdue subscriptions failed.", ["app": "\(app)"]) {
        try await entitlements.reconcile(app: app) { app, entitlement in
          do {
            return try await question(entitlement)
          } catch {
            logger.warning("Asking the store failed.", metadata: ["app": "\(app)", "error": "\(error)"])
            throw error
          }
        }
      }
    }
  }

  extension Logger {
    /// Returns `true` if work succeeded, and logs its error, unless it was cancelled.
    @discardableResult
    func attempt(
      _ failure: Message, _ metadata: Metadata = [:], _ work: () async throws -> Void
    ) async -> Bool {
      do {
        try await work()
        return true
      } catch is CancellationError {
      } catch {
        self.error(failure, metadata: metadata.merging(["error": "\(error)"]) { $1 })
      }
      return false
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
