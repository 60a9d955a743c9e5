// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptHTTP
import ReceiptHTTPCurl
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Storefront
import Testing

/// Storefront: a store in the same process, one on another machine, and the subscriptions behind them.
@Suite struct StorefrontStoreExamples {
  @Test func aStoreInTheSameProcess() async throws {
    let catalog = ProductCatalog(products: [
      CatalogProduct(productIdentifier: "level", type: .nonConsumable, price: 3)
    ])
    let storage = MemoryRecordStorage()
    var unlocked: [String] = []
    func unlock(_ product: String) { unlocked.append(product) }

    func sell() async throws {
      let identity = try SigningIdentity.create(.init(organization: "Example", start: SystemClock.now()))
      let store = try LocalStore(
        catalog: catalog, identity: identity, storage: storage,
        options: .init(bundleIdentifier: "com.example.app"),
        clock: { SystemClock.now() })

      let alice = store.session(account: "alice")
      let request = PurchaseRequest(id: "5f0c", payment: Payment(productIdentifier: "level"))
      guard case .purchased(let sale) = try await alice.purchase(request) else { return }
      unlock(sale.payment.productIdentifier)
      try await alice.finish(transactionIdentifier: sale.transactionIdentifier)

      for notification in try await store.notifications() {
        print(notification.number, notification.type.rawValue)
      }

      #expect(try await store.notifications().map(\.type) == [.oneTimeCharge])
    }

    try await sell()
    #expect(unlocked == ["level"])
  }

  /// Nothing is sent before the queue is observed.
  @Test func theClient() async throws {
    let (token, storage) = ("5up3rs3cr3t", MemoryRecordStorage())

    let store = HTTPStore(
      try RemoteURL("https://shop.example/store"), transport: CurlTransport(), token: Secret(token))
    let queue = try PaymentQueue(store: store, storage: storage)

    #expect(await queue.transactions.isEmpty)
  }

  private struct Sessions {
    let shop: LocalStore
    func store(for token: String?) async -> (any Store)? {
      token == "5up3rs3cr3t" ? shop.session(account: "alice") : nil
    }
  }

  @Test func theServer() async throws {
    let sessions = Sessions(
      shop: try StorefrontShop.open([
        CatalogProduct(productIdentifier: "com.example.coins", type: .consumable, price: 1)
      ]))
    let body = Array(
      #"{"requestIdentifier":"b1946ac9","payment":{"productIdentifier":"com.example.coins","quantity":3}}"#
        .utf8)
    let type = HTTPHeader("Content-Type", "application/json")
    var statuses: [Int] = []

    for headers in [[type, HTTPHeader("Authorization", "Bearer 5up3rs3cr3t")], [type]] {
      let handler = StoreRequestHandler { token in await sessions.store(for: token) }
      // For each request below /store:
      let response = await handler.response(
        method: "POST", path: "/v1/purchase", headers: headers, body: body)

      statuses.append(response.status)
    }

    #expect(statuses == [200, 401])
  }

  @Test func subscriptions() async throws {
    let month = try #require(SubscriptionPeriod("P1M"))
    let catalog = ProductCatalog(
      products: [
        CatalogProduct(
          productIdentifier: "pro.monthly", type: .autoRenewableSubscription, price: 10,
          subscription: SubscriptionTerms(groupIdentifier: "pro", period: month))
      ], subscriptionGroups: [SubscriptionGroup(id: "pro")])
    let identity = try TestAuthority.es256().identity
    let start = Timestamp(secondsSince1970: 1_735_689_600)
    var sent: [String] = []
    func send(_ notification: String) { sent.append(notification) }

    var engine = SubscriptionEngine.Options(bundleIdentifier: "com.example.app", seed: 1)
    engine.gracePeriodDays = 16
    engine.billing = .random(failures: 0.05, recoveries: 0.1)
    let store = try LocalStore(
      catalog: catalog, identity: identity, storage: MemoryRecordStorage(), options: .init(engine: engine),
      clock: { start })

    let request = PurchaseRequest(id: "1", payment: Payment(productIdentifier: "pro.monthly"))
    let outcome = try await store.session(account: "alice").purchase(request)
    try await store.advance(to: start.addingSeconds(365 * 86_400))
    for notification in try await store.notifications() { send(notification.signedPayload) }

    guard case .purchased = outcome else { return #expect(Bool(false), "\(outcome)") }
    // The purchase, and a renewal or a failure a month.
    #expect(sent.count >= 12)
    let verifier = ReceiptVerifier(
      trust: try TestAuthority.es256().trustAnchors,
      policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.sandbox]))
    #expect(sent.allSatisfy { verifier.verify($0).receipt?.kind == .signedNotification })
  }
}
