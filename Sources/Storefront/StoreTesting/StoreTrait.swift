// SPDX-License-Identifier: Apache-2.0

public import AppStoreEmulator
public import ReceiptCodec
public import Storefront
public import Testing

/// A trait that gives each test a store of its own, which lives until the test ends.
///
/// ```swift
/// @Test(.appStore())
/// func aPurchaseUnlocks() async throws {
///   let store = try TestAppStore.current
///   let sale = try await store.buy("com.example.app.monthly", by: "alice")
///   #expect(store.verifier.verify(sale.receipt).receipt != nil)
/// }
/// ```
///
/// A suite with the trait gives a store to each of its tests, and a parameterized test one to each of its arguments. So
/// tests that run in parallel share no purchases, no clock and no keys. A test may have both traits: its two stores then
/// have one clock.
public struct StoreTrait: TestTrait, SuiteTrait, TestScoping {
  private let scope: @Sendable (@Sendable () async throws -> Void) async throws -> Void

  /// `true`: each test of a suite gets a store.
  public var isRecursive: Bool { true }

  fileprivate init<Store: ScopedStore>(_ make: @escaping @Sendable () async throws -> Store) {
    scope = { body in
      let store = try await make()
      do { try await Store.scope.withValue(store) { try await body() } } catch {
        await store.end()
        throw error
      }
      await store.end()
    }
  }

  /// Runs a test with its store, and closes the store when the test ends, also if the test fails or throws.
  ///
  /// - Throws: The test's error, or one of making the store.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await scope(function)
  }
}

/// A store that a test finds in a task-local value.
protocol ScopedStore: Sendable {
  static var scope: TaskLocal<Self?> { get }
  func end() async
}

extension Trait where Self == StoreTrait {
  /// Gives the test an App Store: ``TestAppStore/current``.
  ///
  /// - Parameters:
  ///   - catalog: The products to sell; by default those of the sample receipts.
  ///   - bundleId: The app.
  ///   - start: The time at which the store's clock stands; by default 2025-01-01T00:00:00Z. Begin in the past: a
  ///     receipt that is signed in the future does not verify with the system's clock.
  ///   - seed: The seed of the identifiers of notifications. The same calls give the same identifiers and dates.
  ///   - configure: Changes the rules of subscriptions, such as the grace period.
  /// - Returns: The trait.
  public static func appStore(
    catalog: ProductCatalog = .sample, bundleId: String = "com.example.app",
    at start: Timestamp = TestAppStore.start, seed: UInt64 = 0,
    configure: @escaping @Sendable (inout SubscriptionEngine.Options) -> Void = { _ in }
  ) -> StoreTrait {
    StoreTrait {
      try TestAppStore(
        catalog: catalog, bundleId: bundleId, clock: TestGooglePlay.scope.get()?.clock, start: start,
        seed: seed, configure: configure)
    }
  }

  /// Gives the test a Google Play: ``TestGooglePlay/current``.
  ///
  /// - Parameters:
  ///   - catalog: The products to sell; by default those of the sample receipts.
  ///   - packageName: The app.
  ///   - start: The time at which the store's clock stands; by default 2025-01-01T00:00:00Z.
  ///   - configure: Changes the rules of subscriptions, such as the grace period.
  /// - Returns: The trait.
  public static func googlePlay(
    catalog: ProductCatalog = .sample, packageName: String = "com.example.app",
    at start: Timestamp = TestAppStore.start,
    configure: @escaping @Sendable (inout SubscriptionEngine.Options) -> Void = { _ in }
  ) -> StoreTrait {
    StoreTrait {
      try TestGooglePlay(
        catalog: catalog, packageName: packageName, clock: TestAppStore.scope.get()?.clock, start: start,
        configure: configure)
    }
  }
}
