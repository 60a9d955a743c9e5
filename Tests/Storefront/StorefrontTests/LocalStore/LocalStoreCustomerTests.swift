// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Storefront
import Synchronization
import Testing

/// The ways in which a store asks, delays and refuses its customers, and reaches their queues.
@Suite(.timeLimit(.minutes(1))) struct LocalStoreCustomerTests {
  private var fixture = StoreFixture()

  @Test func aQueueIsWokenWhenAPendingPaymentIsDecided() async throws {
    var fixture = fixture
    fixture.options.authorization = .ask
    let store = try fixture.store()
    // Time stands still, so that the queue cannot poll.
    let queue = try PaymentQueue(
      store: store.session(account: "alice"), storage: MemoryRecordStorage(), options: testOptions())
    for isApproved in [true, false] {
      let purchase = Task { try await queue.purchase(Payment(productIdentifier: "coins")) }
      while try await store.pendingPurchases().isEmpty { await Task.yield() }
      let pending = try #require(try await store.pendingPurchases().first)
      if isApproved {
        try await store.approve(pending.requestIdentifier, account: "alice")
      } else {
        try await store.decline(pending.requestIdentifier, account: "alice")
      }
      let transaction = try await purchase.value
      #expect(transaction.transactionState == (isApproved ? .purchased : .failed))
      try await queue.finishAndConfirm(transaction)
    }
    while await !store.listeners.isEmpty { await Task.yield() }
  }

  @Test func aQueueIsWokenByARenewal() async throws {
    let store = try fixture.store()
    let queue = try PaymentQueue(
      store: store.session(account: "alice"), storage: MemoryRecordStorage(), options: testOptions())
    let observer = RecordingObserver(finishes: { $0.transactionState != .purchasing })
    await queue.addObserver(observer)
    try await queue.add(Payment(productIdentifier: "news"))
    try await observer.wait { $0.removed.count == 1 }
    try await store.advance(to: StoreFixture.start.addingSeconds(8 * 86_400))
    try await observer.wait { $0.removed.count == 2 }
    try await queue.close()
  }

  @Test("Product-list guide: Testing")
  func theCustomerIsAskedOncePerPayment() async throws {
    let prompts = Mutex<[PurchasePrompt]>([])
    var fixture = fixture
    fixture.options.authorize = { prompt, account in
      prompts.withLock { $0.append(prompt) }
      return account == "alice" ? .approve : .decline(StoreError(.paymentCancelled, "no"))
    }
    let store = try fixture.store()
    let alice = store.session(account: "alice")
    let sold = try await alice.buy("level", request: "1")
    #expect(try await alice.buy("level", request: "1") == sold)
    #expect(
      prompts.withLock { $0.map(\.description) } == [
        "Do you want to buy one Level for $3.00?\n[Environment: Sandbox]"
      ])
    #expect(try await store.session(account: "bob").refusal("level", request: "1") == .paymentCancelled)
    // The customer is not asked about what the store refuses.
    #expect(try await alice.refusal("gone", request: "2") == .storeProductNotAvailable)
    #expect(prompts.withLock { $0.count } == 2)
  }

  @Test("SKError: SKErrorPaymentNotAllowed 4")
  func restrictedAccountsMayNotPay() async throws {
    var fixture = fixture
    fixture.options.restrictedAccounts = ["child"]
    let child = try fixture.store().session(account: "child")
    #expect(try await child.refusal("coins", request: "1") == .paymentNotAllowed)
    #expect(StoreError.Code.paymentNotAllowed.rawValue == 4)
    let queue = try PaymentQueue(store: child, storage: MemoryRecordStorage(), options: testOptions())
    #expect(!queue.canMakePayments)
    #expect(
      await queueCode { try await queue.add(Payment(productIdentifier: "coins")) } == .paymentsNotAllowed)
    let parent = try fixture.store().session(account: "parent")
    #expect(parent.canMakePayments)
    _ = try await parent.buy("coins", request: "1")
  }

  @Test func testAccountsMayNotBeUsedInProduction() async throws {
    for environment in [ReceiptEnvironment.production, .sandbox] {
      var fixture = StoreFixture()
      fixture.options.engine.environment = environment
      fixture.options.testAccounts = ["tester"]
      let tester = try fixture.store().session(account: "tester")
      guard environment == .production else {
        _ = try await tester.buy("coins", request: "1")
        continue
      }
      #expect(try await tester.refusal("coins", request: "1") == .clientInvalid)
      let refused = await #expect(throws: StoreError.self) {
        try await tester.restore(RestoreRequest(id: "1"), after: nil, limit: 9)
      }
      #expect(refused?.code == .clientInvalid)
    }
  }

  @Test func aQueueRefusesWhatTheCatalogueDoesNotHave() async throws {
    let session = try fixture.store().session(account: "alice")
    let queue = try PaymentQueue(store: session, storage: MemoryRecordStorage(), options: testOptions())
    for product in ["ruby", ""] {
      #expect(
        await queueCode { try await queue.add(Payment(productIdentifier: product)) } == .unknownProduct)
    }
    // The store refuses a product that is not for sale at present.
    #expect(
      try await queue.purchase(Payment(productIdentifier: "gone")).error?.code == .storeProductNotAvailable)
  }

  @Test func everyCallCanBeDelayed() async throws {
    let slept = Mutex<[Duration]>([])
    var fixture = fixture
    fixture.options.sleep = { duration in slept.withLock { $0.append(duration) } }
    for (number, call) in LocalStore.Fault.Call.allCases.enumerated() {
      fixture.options.delays[call] = .seconds(number + 1)
    }
    let alice = try fixture.store().session(account: "alice")
    _ = try await alice.products(for: ["coins"], preferredLocales: [])
    let sold = try await alice.buy("coins", request: "1")
    _ = try await alice.unfinishedTransactions(after: nil, limit: 1)
    try await alice.finish(transactionIdentifier: sold.transactionIdentifier)
    _ = try await alice.restore(RestoreRequest(id: "1"), after: nil, limit: 9)
    #expect(slept.withLock { $0 } == (1...5).map { .seconds($0) })
    fixture.options.sleep = { _ in throw CancellationError() }
    let abandoned = try fixture.store().session(account: "bob")
    await #expect(throws: StoreUnavailable.self) { try await abandoned.buy("coins", request: "1") }
  }

  @Test func aClosedStoreAnswersNothing() async throws {
    let store = try fixture.store()
    let alice = store.session(account: "alice")
    let changes = try #require(await alice.changes())
    let running = Task { try await store.run() }
    try await store.close()
    try await store.close()
    for await _ in changes { Issue.record("A closed store has no changes.") }
    await #expect(throws: LocalStoreError.self) { try await running.value }
    await #expect(throws: StoreUnavailable.self) { try await alice.buy("coins", request: "1") }
    await #expect(throws: StoreError.self) { try await alice.products(for: ["coins"], preferredLocales: []) }
    let error = await #expect(throws: LocalStoreError.self) { try await store.purchaseRecord(of: "alice") }
    #expect(error?.code == .storage)
  }
}
