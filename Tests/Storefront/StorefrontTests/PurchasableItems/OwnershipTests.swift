// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Storefront
import Testing

@Suite(.timeLimit(.minutes(1))) struct OwnershipTests {
  private let now = ItemFixture.now

  @Test func aPurchaseIsOwnedUntilItIsRevokedOrExpires() {
    var purchase = OwnedPurchase(productIdentifier: "a", transactionIdentifier: "1")
    #expect(purchase.isOwned(at: now))
    purchase.expiresAt = now.addingSeconds(1)
    #expect(purchase.isOwned(at: now))
    purchase.expiresAt = now
    #expect(!purchase.isOwned(at: now))
    purchase.gracePeriodEndsAt = now.addingSeconds(1)
    #expect(purchase.isOwned(at: now))
    // A grace period that ends before the period has no effect.
    purchase.expiresAt = now.addingSeconds(5)
    purchase.gracePeriodEndsAt = now
    #expect(purchase.isOwned(at: now))
    purchase.isUpgraded = true
    #expect(!purchase.isOwned(at: now))
    purchase.isUpgraded = false
    purchase.revokedAt = now.addingSeconds(-5)
    #expect(!purchase.isOwned(at: now))
  }

  @Test func theReceiptDeterminesOwnership() {
    #expect(OwnedPurchase(verified: Transaction(transactionId: "1")) == nil)
    #expect(OwnedPurchase(verified: Transaction(productId: "a")) == nil)
    let verified = Transaction(transactionId: "1", productId: "a", expiresDate: now, revocationDate: now)
    #expect(
      OwnedPurchase(verified: verified)
        == OwnedPurchase(productIdentifier: "a", transactionIdentifier: "1", expiresAt: now, revokedAt: now))
  }

  @Test func everyStatusOfASubscription() async throws {
    let fixture = try ItemFixture()
    let handler = await SubscriptionHandler(fixture.items, identifier: "s", productIdentifier: "monthly")
    func status(_ purchases: OwnedPurchase...) async throws -> SubscriptionItem.Status {
      await fixture.notebook.replace(purchases)
      return try await handler.subscription.status
    }
    let (past, future) = (now.addingSeconds(-60), now.addingSeconds(60))
    var purchase = ItemFixture.owned("monthly", until: 60)
    #expect(try await status() == .notPurchased)
    #expect(try await status(ItemFixture.owned("yearly", until: 60)) == .notPurchased)
    #expect(try await status(purchase) == .active(until: future))
    #expect(try await status(purchase, ItemFixture.owned("monthly", until: -600)) == .active(until: future))
    purchase.revokedAt = past
    #expect(try await status(purchase) == .revoked(at: past))
    purchase.revokedAt = nil
    purchase.isUpgraded = true
    #expect(try await status(purchase) == .notPurchased)
    var ended = ItemFixture.owned("monthly", until: -60)
    #expect(try await status(ended) == .expired(at: past))
    ended.isInBillingRetry = true
    #expect(try await status(ended) == .inBillingRetry(since: past))
    ended.gracePeriodEndsAt = future
    #expect(try await status(ended) == .inGracePeriod(until: future))
    #expect(SubscriptionItem.Status.inGracePeriod(until: future).isSubscribed)
    #expect(!SubscriptionItem.Status.inBillingRetry(since: past).isSubscribed)
    // A one-time purchase is not a subscription.
    #expect(try await status(ItemFixture.owned("monthly")) == .notPurchased)
  }

  @Test func unverifiablePurchasesAreNeitherOwnedNorBoughtAgain() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    await fixture.notebook.setUnreadable(true)
    await #expect(throws: Notebook.Unreadable.self) { try await item.isPurchased }
    await #expect(throws: Notebook.Unreadable.self) { try await item.purchase() }
    #expect(await fixture.store.purchases.isEmpty)
    #expect(await !item.isBeingPurchased)
    await fixture.notebook.setUnreadable(false)
    #expect(try await item.purchase().isPurchased)
  }

  @Test func aReceiptIsVerifiedOnceUnlessVerificationThrows() async throws {
    let store = GatedStore()
    let queue = try PaymentQueue(store: store, storage: MemoryRecordStorage())
    let verifier = CountingVerifier()
    let record = QueuePurchaseRecord(queue) { try await verifier.verify($0) }
    let sold = try await queue.purchase(Payment(productIdentifier: "holidays"))
    _ = try await queue.purchase(Payment(productIdentifier: "sports"))
    await #expect(throws: CountingVerifier.NotNow.self) { try await record.purchases(of: ["holidays"]) }
    for _ in 0..<3 { #expect(try await record.purchases(of: ["holidays"]).count == 1) }
    #expect(await verifier.count == 2)
    #expect(try await record.purchases(of: ["other"]) == [])
    #expect(await verifier.count == 2)
    try await queue.finish(sold)
    #expect(try await record.purchases(of: ["holidays"]).count == 1)
    #expect(await verifier.count == 2)
  }

  @Test(arguments: RecordStorageKind.all)
  func aFinishedPurchaseIsRememberedAfterARelaunch(_ kind: RecordStorageKind) async throws {
    let file = try kind.make()
    let store = GatedStore()
    for launch in 0..<2 {
      let storage = launch == 0 ? file.storage : try file.reopened()
      let queue = try PaymentQueue(store: store, storage: storage, options: testOptions())
      let record = QueuePurchaseRecord(queue) { transaction in
        guard transaction.transactionReceipt != nil else { return nil }
        return OwnedPurchase(
          productIdentifier: transaction.payment.productIdentifier,
          transactionIdentifier: transaction.transactionIdentifier ?? "",
          isConsumable: transaction.payment.productIdentifier == "coins")
      }
      if launch == 0 {
        // The record is not asked before the observer finishes what was bought, nor before the relaunch.
        let observer = RecordingObserver(finishes: { $0.transactionState == .purchased })
        await queue.addObserver(observer)
        for product in ["holidays", "coins"] {
          _ = try await queue.purchase(Payment(productIdentifier: product))
        }
        try await observer.wait { $0.removed.count == 2 }
      } else {
        #expect(await queue.transactions == [])
        for _ in 0..<2 {
          #expect(
            try await record.purchases(of: ["holidays", "coins"]).map(\.productIdentifier) == ["holidays"])
        }
        #expect(try storage.records(in: .init(rawValue: "queue-kept"), after: nil, limit: 9) == [])
        #expect(try storage.records(in: .init(rawValue: "queue-receipts"), after: nil, limit: 9) == [])
      }
      try await queue.close()
    }
  }

  @Test func aRefundReachesTheRecordAndTheApp() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    let bought = try await item.purchase()
    try await fixture.queue.finish(bought.transaction)
    #expect(try await item.isPurchased)
    let identifier = try #require(bought.transaction.transactionIdentifier)
    let refund = OwnedPurchase(
      productIdentifier: "holidays", transactionIdentifier: identifier, revokedAt: now)
    let (heard, continuation) = AsyncStream.makeStream(of: String.self)
    let listener = Task {
      for await identifier in await fixture.items.orderStatusChanges { continuation.yield(identifier) }
    }
    // Nobody knows when the items listen to the record.
    let refunds = Task {
      while !Task.isCancelled {
        try await fixture.record.remember(refund)
        await Task.yield()
      }
    }
    #expect(await heard.first { _ in true } == "calendar")
    refunds.cancel()
    listener.cancel()
    #expect(try await !item.isPurchased)
    // It can be bought again.
    #expect(try await item.purchase().isPurchased)
  }

  @Test(arguments: [false, true])
  func whatIsRememberedIsNewerThanTheReceipt(isFinished: Bool) async throws {
    let fixture = try ItemFixture()
    let bought = try await fixture.queue.purchase(Payment(productIdentifier: "holidays"))
    if isFinished { try await fixture.queue.finish(bought) }
    let identifier = try #require(bought.transactionIdentifier)
    try await fixture.record.remember(
      OwnedPurchase(productIdentifier: "holidays", transactionIdentifier: identifier, revokedAt: now))
    for _ in 0..<2 {
      let purchases = try await fixture.record.purchases(of: ["holidays"])
      #expect(purchases.map(\.revokedAt) == [now])
    }
  }

  @Test func aSignedTransactionSaysWhetherItIsConsumableOrUpgraded() {
    var transaction = JWSTransaction()
    #expect(OwnedPurchase(verified: transaction) == nil)
    transaction.productId = "a"
    transaction.transactionId = "1"
    transaction.type = .consumable
    transaction.isUpgraded = true
    #expect(
      OwnedPurchase(verified: transaction)
        == OwnedPurchase(
          productIdentifier: "a", transactionIdentifier: "1", isUpgraded: true, isConsumable: true))
  }

  private actor CountingVerifier {
    struct NotNow: Error {}

    private(set) var count = 0

    /// The first verification throws.
    func verify(_ transaction: PaymentTransaction) throws -> OwnedPurchase? {
      count += 1
      if count == 1 { throw NotNow() }
      return OwnedPurchase(
        productIdentifier: transaction.payment.productIdentifier, transactionIdentifier: "1")
    }
  }
}
