// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  package import Logging
  internal import ServiceLifecycle

  /// Enters the changes that the passing of time makes, and asks the stores about what went silent, for as long as a
  /// `ServiceGroup` runs. Several processes may do so on one database.
  package struct EntitlementJobs: Service {
    private let entitlements: ServiceEntitlements
    private let interval: Duration
    private let logger: Logger
    private let questions: [String: StoreQuestion]

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - entitlements: The entitlements.
    ///   - apps: The apps, for whom to ask about their subscriptions.
    ///   - interval: How often it looks; a second by default.
    ///   - logger: Takes what goes wrong.
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
      await cancelWhenGracefulShutdown {
        while !Task.isCancelled {
          do {
            while try await entitlements.expireDue(limit: 100) == 100 {}
            try await entitlements.reconcile { try await ask(about: $1, app: $0) }
          } catch {
            logger.error(
              "Entitlements that are due could not be dealt with.", metadata: ["error": "\(error)"])
          }
          try? await Task.sleep(for: interval)
        }
      }
    }

    private func ask(about entitlement: StoredEntitlement, app: String) async throws -> EntitlementLedger? {
      do {
        return try await questions[app]?(entitlement)
      } catch {
        logger.warning("A store was asked in vain.", metadata: ["app": "\(app)", "error": "\(error)"])
        throw error
      }
    }
  }
#endif
