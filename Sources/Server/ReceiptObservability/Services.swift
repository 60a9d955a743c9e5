// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  public import ServiceLifecycle
  public import Storefront

  /// Runs a store in a `ServiceGroup`: renewals, billing and expiries happen when they are due.
  ///
  /// The store is closed when the group shuts down.
  public struct StoreService: Service {
    private let store: LocalStore

    /// Creates the service of a store.
    public init(_ store: LocalStore) { self.store = store }

    /// Runs until graceful shutdown or cancellation, then closes the store.
    ///
    /// - Throws: `LocalStoreError` if the store fails or cannot be closed.
    public func run() async throws {
      do {
        try await cancelWhenGracefulShutdown { try await store.run() }
      } catch {
        try? await store.close()
        throw error
      }
      try await store.close()
    }
  }

  /// Closes a transport, an audit trail or a revocation checker when a `ServiceGroup` ends, after the services that
  /// were started after it have ended.
  ///
  /// ```swift
  /// let group = ServiceGroup(
  ///   services: [ClosingService { try log.close() }, ClosingService { transport.shutdown() }, server], logger: logger)
  /// ```
  public struct ClosingService: Service {
    private let close: @Sendable () async throws -> Void

    /// Creates a service that calls a closure when it ends.
    public init(_ close: @escaping @Sendable () async throws -> Void) { self.close = close }

    /// Waits until graceful shutdown or cancellation, then closes.
    ///
    /// - Throws: The errors of closing.
    public func run() async throws {
      try? await gracefulShutdown()
      try await close()
    }
  }
#endif
