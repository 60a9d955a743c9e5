// SPDX-License-Identifier: Apache-2.0

import Shop
import StoreTesting
import Testing

@Suite(.appStore())
struct ShopTests {
  let store: TestAppStore
  let shop: Shop

  init() throws {
    let store = try TestAppStore.current
    self.store = store
    shop = Shop(verifier: store.verifier, clock: { store.now })
  }

  @Test func aSubscriptionRenewsUntilItIsCancelled() async throws {
    await store.sendNotifications { [shop] body in await shop.receive(body) }
    let sale = try await store.buy("com.example.app.monthly", by: "alice")
    #expect(await shop.purchases.count == 1)

    try await store.advance(by: "P3M")
    #expect(await shop.purchases.count == 1)

    try await store.cancel(sale.originalTransactionIdentifier)
    try await store.advance(by: "P1M")
    #expect(await shop.purchases.isEmpty)
  }

  @Test func aRefundTakesAccessAway() async throws {
    await store.sendNotifications { [shop] body in await shop.receive(body) }
    let sale = try await store.buy("com.example.app.pro", by: "alice")
    #expect(await shop.purchases.count == 1)

    try await store.refund(sale.transactionIdentifier)
    #expect(await shop.purchases.isEmpty)
  }

  @Test func aForgedNotificationChangesNothing() async throws {
    try await store.buy("com.example.app.pro", by: "alice")
    for notification in try await store.notifications() {
      let forged = notification.signedPayload.dropLast(8) + "AAAAAAAA"
      #expect(await shop.receive(Array(#"{"signedPayload":"\#(forged)"}"#.utf8)) == 400)
    }
    #expect(await shop.purchases.isEmpty)
  }

  @Test func theStoreIsAskedAboutATransaction() async throws {
    let sale = try await store.buy("com.example.app.coins", by: "alice", quantity: 3)
    let transaction = try await store.client.send(.transaction(sale.transactionIdentifier))
    #expect(transaction.payload.quantity == 3)
  }

  /// Each argument has a store of its own.
  @Test(arguments: ["com.example.app.monthly", "com.example.app.yearly"])
  func everyPlanGivesAccess(plan: String) async throws {
    await store.sendNotifications { [shop] body in await shop.receive(body) }
    try await store.buy(plan, by: "alice")
    #expect(await shop.purchases.count == 1)
  }
}
