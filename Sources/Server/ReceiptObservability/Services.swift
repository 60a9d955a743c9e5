// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  public import ServiceLifecycle

  /// Closes a transport, an audit trail, a store or a revocation checker when a `ServiceGroup` ends, after the services
  /// that were started after it have ended.
  ///
  /// ```swift
  /// let group = ServiceGroup(
  ///   services: [ClosingService { try log.close() }, ClosingService { transport.shutdown() }, server], logger: logger)
  /// ```
  public struct ClosingService: Service {
    private let work: @Sendable () async throws -> Void
    private let close: @Sendable () async throws -> Void

    /// Creates a service that calls a closure when it ends.
    ///
    /// - Parameters:
    ///   - work: The work until then, which ends when its task is cancelled; none by default. An example is the `run`
    ///     of a `LocalStore`, by which subscriptions renew when they are due.
    ///   - close: Closes it.
    public init(
      running work: @escaping @Sendable () async throws -> Void = { try? await gracefulShutdown() },
      _ close: @escaping @Sendable () async throws -> Void
    ) {
      self.work = work
      self.close = close
    }

    /// Works until graceful shutdown or cancellation, then closes.
    ///
    /// - Throws: The errors of the work, or else those of closing.
    public func run() async throws {
      do {
        try await cancelWhenGracefulShutdown(work)
      } catch {
        try? await close()
        throw error
      }
      try await close()
    }
  }
#endif
