// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import AppStoreServer
import Entitlements
import FoundationEssentials
import GooglePlay
import ReceiptCodec
import ReceiptVerification
import StoreTesting
import Storefront
import Synchronization
import Testing

@Suite("The traits that give a test a store", .timeLimit(.minutes(10)))
struct StoreTraitTests {
  private static let monthly = "com.example.app.monthly"

  // MARK: Scope

  @Test("without the trait there is no store, and the error says what to do")
  func withoutTheTrait() {
    let error = #expect(throws: TestStoreError.self) { try TestAppStore.current }
    #expect(error?.description.contains("@Test(.appStore())") == true)
    #expect(throws: TestStoreError.self) { try TestGooglePlay.current }
  }

  @Test("a detached task does not inherit the store, and a child task does", .appStore())
  func tasks() async throws {
    let store = try TestAppStore.current
    let child = try await withThrowingTaskGroup(of: TestAppStore.self) { group in
      group.addTask { try TestAppStore.current }
      return try await group.next()
    }
    #expect(child === store)
    await #expect(throws: TestStoreError.self) { try await Task.detached { try TestAppStore.current }.value }
  }

  @Test("the store is closed when the test ends, also if the body throws", arguments: [false, true])
  func teardown(throwing: Bool) async throws {
    struct Failure: Error {}
    let seen = Mutex<TestAppStore?>(nil)
    let test = try #require(Test.current)
    let trait: StoreTrait = .appStore()
    do {
      try await trait.provideScope(for: test, testCase: Test.Case.current) {
        let store = try TestAppStore.current
        try await store.buy(Self.monthly, by: "alice")
        seen.withLock { $0 = store }
        if throwing { throw Failure() }
      }
      #expect(!throwing)
    } catch is Failure {
      #expect(throwing)
    }
    let store = try #require(seen.withLock { $0 })
    await #expect(throws: (any Error).self) { try await store.buy(Self.monthly, by: "bob") }
    #expect(throws: TestStoreError.self) { try TestAppStore.current }
  }

  @Test(
    "scopes nest: the inner store is the current one, and then the outer one again",
    .appStore(bundleId: "a.b"))
  func nesting() async throws {
    let outer = try TestAppStore.current
    let (test, inner): (Test, StoreTrait) = (try #require(Test.current), .appStore(bundleId: "c.d"))
    try await inner.provideScope(for: test, testCase: nil) {
      let current = try TestAppStore.current
      #expect(current.bundleId == "c.d")
    }
    let current = try TestAppStore.current
    #expect(current === outer)
    try await outer.buy(Self.monthly, by: "alice")
  }

  // MARK: Isolation

  @Test("tests in parallel share neither purchases nor keys nor clock", .appStore(), arguments: 0..<16)
  func isolation(number: Int) async throws {
    let store = try TestAppStore.current
    #expect(store.now == TestAppStore.start)
    let sale = try await store.buy(Self.monthly, by: "alice")
    #expect(store.verifier.verify(sale.receipt).receipt != nil)
    for _ in 0..<number % 4 { try await store.advance(by: "P1M") }
    await Task.yield()
    #expect(store.now == store.clock.now && store.now >= TestAppStore.start)
    let renewals = try await store.notifications().filter { $0.type == .didRenew }
    #expect(renewals.count == number % 4)
    // Another store's verifier trusts another root.
    let (test, other): (Test, StoreTrait) = (try #require(Test.current), .appStore())
    try await other.provideScope(for: test, testCase: nil) {
      let other = try TestAppStore.current
      #expect(other.root != store.root)
      guard case .invalid(let refused) = other.verifier.verify(sale.receipt) else {
        Issue.record("A receipt of another test's store is not refused.")
        return
      }
      #expect(refused.reason.code == .chainUntrusted)
      #expect(try await other.notifications().isEmpty)
    }
  }

  @Test("the same seed gives the same identifiers and dates, and another seed others", .appStore(seed: 7))
  func seed() async throws {
    @Sendable func life(of store: TestAppStore) async throws -> [String] {
      try await store.buy(Self.monthly, by: "alice")
      try await store.advance(by: "P2M")
      return try await store.notifications().map {
        "\($0.uuid) \($0.type) \($0.signedDate) \($0.transactionIdentifier)"
      }
    }
    let test = try #require(Test.current)
    let first = try await life(of: TestAppStore.current)
    #expect(first.count == 3)
    for (seed, isSame) in [(UInt64(7), true), (8, false)] {
      let trait: StoreTrait = .appStore(seed: seed)
      try await trait.provideScope(for: test, testCase: nil) {
        let second = try await life(of: TestAppStore.current)
        #expect((second == first) == isSame)
      }
    }
  }

  // MARK: The App Store

  @Test("the clock stands still until it is advanced, and everything happens at its own date", .appStore())
  func time() async throws {
    let store = try TestAppStore.current
    let sale = try await store.buy(Self.monthly, by: "alice")
    try await Task.sleep(for: .milliseconds(20))
    #expect(store.now == TestAppStore.start.addingSeconds(1))
    #expect(try await store.notifications().map(\.type) == [.subscribed])
    try await store.advance(by: "P1Y")
    let renewals = try await store.notifications()
    #expect(renewals.map(\.type) == Array(repeating: .didRenew, count: 12))
    #expect(Set(renewals.map(\.signedDate)).count == 12 && renewals.allSatisfy { $0.signedDate <= store.now })
    #expect(store.now == Timestamp(secondsSince1970: 1_767_225_601))
    try await store.advance(to: TestAppStore.start)
    #expect(store.now == Timestamp(secondsSince1970: 1_767_225_601))
    try await store.cancel(sale.originalTransactionIdentifier)
    try await store.advance(by: "P1M")
    #expect(try await store.notifications().map(\.type) == [.didChangeRenewalStatus, .expired])
    await #expect(throws: TestStoreError.self) { try await store.advance(by: "a month") }
  }

  @Test(
    "a catalogue of one's own is sold, and nothing else",
    .appStore(
      catalog: ProductCatalog(products: [
        CatalogProduct(productIdentifier: "coins", type: .consumable, price: 1)
      ]), bundleId: "com.example.shop"))
  func catalog() async throws {
    let store = try TestAppStore.current
    let sale = try await store.buy(
      "coins", by: "alice", appAccountToken: "7E3FB204-2B3A-4C8F-9D5E-6A1B2C3D4E5F")
    let verified = try #require(store.verifier.verify(sale.receipt).receipt)
    #expect(verified.bundleId == "com.example.shop")
    let error = await #expect(throws: TestStoreError.self) { try await store.buy(Self.monthly, by: "alice") }
    #expect(error?.description.contains(Self.monthly) == true)
    let transaction = try await store.client.send(.transaction(sale.transactionIdentifier))
    #expect(transaction.payload.appAccountToken?.rawValue == "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f")
  }

  @Test(
    "options change the store: a failed renewal has its grace period",
    .appStore { options in options.gracePeriodDays = 16 })
  func options() async throws {
    let store = try TestAppStore.current
    try await store.buy(Self.monthly, by: "alice")
    try await store.perform(.setBillingIssue(true, of: "alice"))
    try await store.advance(by: "P1M")
    let failed = try #require(try await store.notifications().last)
    #expect(failed.type == .didFailToRenew && failed.subtype == .gracePeriod)
  }

  @Test("a backend gets every notification, again if it refuses one, by the clock of the store", .appStore())
  func sending() async throws {
    let store = try TestAppStore.current
    let bodies = Mutex<[[UInt8]]>([])
    let refusals = Mutex(2)
    await store.sendNotifications { body in
      let refuses = refusals.withLock { count in
        count -= 1
        return count >= 0
      }
      if !refuses { bodies.withLock { $0.append(body) } }
      return refuses ? 503 : 200
    }
    let sale = try await store.buy("com.example.app.pro", by: "alice")
    #expect(bodies.withLock { $0 }.isEmpty)
    // Again after one hour, and after twelve more.
    try await store.advance(to: store.now.addingSeconds(3600))
    #expect(bodies.withLock { $0 }.isEmpty)
    try await store.advance(by: "P1D")
    #expect(bodies.withLock { $0 }.count == 1)
    try await store.refund(sale.transactionIdentifier)
    let receiver = NotificationReceiver(verifier: store.verifier)
    var ledger = EntitlementLedger()
    for body in bodies.withLock({ $0 }) { ledger.apply(try receiver.receive(body)) }
    #expect(bodies.withLock { $0 }.count == 2)
    #expect(ledger.entitlements.map { $0.standing(at: store.now).status } == [.refunded])
  }

  // MARK: Google Play

  @Test("a Google Play purchase is signed, asked about, renewed and refunded", .googlePlay())
  func googlePlay() async throws {
    let store = try TestGooglePlay.current
    let messages = Mutex(0)
    store.sendNotifications { authorization, body in
      messages.withLock { $0 += authorization?.hasPrefix("Bearer ") == true && !body.isEmpty ? 1 : 0 }
      return 200
    }
    let purchase = try await store.buy(Self.monthly, by: "alice", obfuscatedAccountId: "customer-1")
    #expect(try await store.verifier().verify(purchase.receipt).receipt != nil)
    #expect(messages.withLock { $0 } == 1)
    var answer = try await store.client.send(.subscription(purchase.purchaseToken))
    #expect(answer.subscriptionState == .active)
    try await store.client.send(
      .acknowledgeSubscription(
        of: Self.monthly, token: purchase.purchaseToken, with: SubscriptionAcknowledgeRequest()))
    try await store.advance(by: "P1M")
    #expect(messages.withLock { $0 } == 2)
    try await store.cancel(purchase.purchaseToken)
    answer = try await store.client.send(.subscription(purchase.purchaseToken))
    #expect(answer.subscriptionState == .canceled)
    await #expect(throws: TestStoreError.self) { try await store.buy("no product", by: "alice") }
    await #expect(throws: TestStoreError.self) { try await store.control("pause", ["purchaseToken": "none"]) }
  }

  @Test("what nobody acknowledges is taken back after three days", .googlePlay())
  func acknowledgement() async throws {
    let store = try TestGooglePlay.current
    let purchase = try await store.buy("com.example.app.pro", by: "alice")
    try await store.advance(by: "P4D")
    #expect(
      try await store.client.send(.product(purchase.purchaseToken)).purchaseStateContext?.purchaseState
        == .cancelled)
    await #expect(throws: TestStoreError.self) { try await store.refund(purchase.orderId) }
  }

  @Test("two stores of a test have one clock", .appStore(), .googlePlay())
  func bothStores() async throws {
    let (apple, google) = (try TestAppStore.current, try TestGooglePlay.current)
    #expect(apple.clock === google.clock)
    try await apple.buy(Self.monthly, by: "alice")
    let purchase = try await google.buy("com.example.app.pro", by: "alice")
    try await google.advance(by: "P1M")
    #expect(try await apple.notifications().map(\.type) == [.subscribed, .didRenew])
    try await apple.advance(by: "P1M")
    #expect(try await apple.notifications().map(\.type) == [.didRenew])
    #expect(
      try await google.client.send(.product(purchase.purchaseToken)).purchaseStateContext?.purchaseState
        == .cancelled)
  }
}

/// A suite gives each of its tests a store of its own.
@Suite(
  "A suite with a store", .appStore(at: Timestamp(secondsSince1970: 1_700_000_000)), .timeLimit(.minutes(10)))
struct StoreSuiteTests {
  private let store: TestAppStore

  init() throws { store = try TestAppStore.current }

  @Test(arguments: 0..<4) func nobodyBoughtBefore(number: Int) async throws {
    #expect(store.now == Timestamp(secondsSince1970: 1_700_000_000))
    #expect(try await store.notifications().isEmpty)
    let sale = try await store.buy("com.example.app.coins", by: "alice")
    #expect(store.verifier.verify(sale.receipt).receipt != nil)
    #expect(try await store.notifications().map(\.type) == [.oneTimeCharge])
  }

  @Suite struct Nested {
    @Test func hasAStoreToo() async throws {
      let store = try TestAppStore.current
      #expect(try await store.notifications().isEmpty)
    }
  }
}
