// SPDX-License-Identifier: Apache-2.0

#if Server
  package import Logging
  internal import ServiceLifecycle

  /// Enters the changes that the passing of time makes, and asks the stores about what went silent, for as long as a
  /// `ServiceGroup` runs. Several processes may do so on one database.
  package struct EntitlementJobs: Service {
    private let entitlements: ServiceEntitlements
    private let interval: Duration
    private let logger: Logger
    private let ask: ServiceEntitlements.StoreQuestion

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - entitlements: The entitlements.
    ///   - interval: How often it looks; a second by default.
    ///   - logger: Takes what goes wrong.
    ///   - ask: Asks a store.
    package init(
      _ entitlements: ServiceEntitlements, interval: Duration = .seconds(1), logger: Logger,
      ask: @escaping ServiceEntitlements.StoreQuestion
    ) {
      self.entitlements = entitlements
      self.interval = interval
      self.logger = logger
      self.ask = { app, entitlement in
        do { return try await ask(app, entitlement) } catch {
          logger.warning("A store was asked in vain", metadata: ["app": "\(app)", "error": "\(error)"])
          throw error
        }
      }
    }

    /// Runs until graceful shutdown or cancellation.
    package func run() async throws {
      await cancelWhenGracefulShutdown {
        while !Task.isCancelled {
          do {
            while try await entitlements.expireDue(limit: 100) == 100 {}
            try await entitlements.reconcile(ask)
          } catch {
            logger.error("Entitlements that are due could not be dealt with", metadata: ["error": "\(error)"])
          }
          try? await Task.sleep(for: interval)
        }
      }
    }
  }
#endif
