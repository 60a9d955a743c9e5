// SPDX-License-Identifier: Apache-2.0

#if Server
  package import Logging
  internal import ServiceLifecycle

  /// Completes unfinished erasures while a `ServiceGroup` runs.
  ///
  /// Several processes may do so on one database.
  package struct ErasureJob: Service {
    private static let interval = Duration.seconds(5)

    private let erasures: ErasureQueue
    private let logger: Logger

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - erasures: The erasures.
    ///   - logger: The logger for errors.
    package init(_ erasures: ErasureQueue, logger: Logger) {
      self.erasures = erasures
      self.logger = logger
    }

    /// Runs until graceful shutdown or cancellation.
    package func run() async throws {
      await cancelWhenGracefulShutdown {
        while !Task.isCancelled {
          do {
            let count = try await erasures.resume()
            if count > 0 { logger.info("Pending erasures were completed.", metadata: ["count": "\(count)"]) }
          } catch is CancellationError {
          } catch {
            logger.error("Completing an erasure failed.", metadata: ["error": "\(error)"])
          }
          try? await Task.sleep(for: Self.interval)
        }
      }
    }
  }
#endif
