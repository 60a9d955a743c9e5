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
    #expect(try await status() == .none)
    #expect(try await status(ItemFixture.owned("yearly", until: 60)) == .none)
    #expect(try await status(purchase) == .active(until: future))
    #expect(try await status(purchase, ItemFixture.owned("monthly", until: -600)) == .active(until: future))
    purchase.revokedAt = past
    #expect(try await status(purchase) == .revoked(at: past))
    purchase.revokedAt = nil
    purchase.isUpgraded = true
    #expect(try await status(purchase) == .none)
    var ended = ItemFixture.owned("monthly", until: -60)
    #expect(try await status(ended) == .expired(at: past))
    ended.isInBillingRetry = true
    #expect(try await status(ended) == .inBillingRetry(since: past))
    ended.gracePeriodEndsAt = future
    #expect(try await status(ended) == .inGracePeriod(until: future))
    #expect(SubscriptionItem.Status.inGracePeriod(until: future).isSubscribed)
    #expect(!SubscriptionItem.Status.inBillingRetry(since: past).isSubscribed)
    // A one-time purchase is not a subscription.
    #expect(try await status(ItemFixture.owned("monthly")) == .none)
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
    #expect(try await record.purchases(of: ["holidays"]) == [])
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
