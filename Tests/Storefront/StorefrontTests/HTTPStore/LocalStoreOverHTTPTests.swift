// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptHTTP
import ReceiptTesting
import Storefront
import Testing

/// A complete session: a store on another machine, its customers, their purchases and downloads.
@Suite(.timeLimit(.minutes(2))) struct LocalStoreOverHTTPTests {
  /// A server that identifies its customers by their tokens.
  private struct Server: HTTPTransport {
    let handler: StoreRequestHandler

    init(_ store: LocalStore) {
      handler = StoreRequestHandler { token in
        switch token {
        case "token-of-anna": store.session(account: "anna")
        case "token-of-bert": store.session(account: "bert")
        default: nil
        }
      }
    }

    func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
      await handler.response(
        method: request.method.rawValue, path: String(request.url.path.dropFirst("/shop".count)),
        headers: request.headers, body: request.body ?? [])
    }
  }

  private let clock = FixedClock(StoreFixture.start)

  private func store(_ authorization: LocalStore.AuthorizationPolicy = .approve) throws -> LocalStore {
    var options = StoreFixture.options()
    options.authorization = authorization
    var level = CatalogProduct(productIdentifier: "level", type: .nonConsumable, price: 3)
    level.downloads = [DownloadFixture.content()]
    return try LocalStore(
      catalog: ProductCatalog(products: [level]), identity: TestAuthority.es256().identity,
      storage: MemoryRecordStorage(), options: options, clock: clock.reading)
  }

  private func client(_ server: Server, _ customer: String) throws -> HTTPStore {
    try StoreOverHTTP.store(server, token: Secret("token-of-\(customer)"))
  }

  @Test func purchasesAreVerifiedFetchedAndRestored() async throws {
    let server = Server(try store())
    let anna = try client(server, "anna")
    let found = try await anna.products(
      for: ["level", "other"], preferredLocales: [Locale(identifier: "de")])
    #expect(found.products.map(\.productIdentifier) == ["level"])
    #expect(found.products.map(\.price) == [3])
    #expect(found.invalidProductIdentifiers == ["other"])

    let queue = try PaymentQueue(store: anna, storage: MemoryRecordStorage())
    let directory = try ScratchDirectory()
    try await queue.enableDownloads(
      DownloadFixture.options(ContentServer(DownloadFixture.bytes), directory))
    let sold = try await queue.purchase(Payment(productIdentifier: "level"))
    let receipt = try StoreFixture.verified(try #require(sold.transactionReceipt))
    #expect(receipt.productId == "level")
    #expect(receipt.transactionId == sold.transactionIdentifier)
    try await queue.startDownloads(try await queue.downloads(of: sold.id))
    try await eventually { await queue.downloads.first?.state == .finished }
    #expect(directory.read(await queue.downloads.first?.contentPath) == DownloadFixture.bytes)
    try await queue.finish(sold)
    try await queue.synchronize()

    try await queue.restoreCompletedTransactions()
    let identifier = try #require(await queue.transactions.first?.id)
    let restored = try #require(try await queue.transaction(identifier))
    #expect(restored.transactionState == .restored)
    let again = try StoreFixture.verified(try #require(restored.storeTransaction?.receipt))
    #expect(again.originalTransactionId == sold.transactionIdentifier)
    #expect(again.transactionId != sold.transactionIdentifier)
    #expect(restored.originalTransaction?.transactionIdentifier == sold.transactionIdentifier)
    try await queue.close()

    let bert = try PaymentQueue(store: try client(server, "bert"), storage: MemoryRecordStorage())
    try await bert.restoreCompletedTransactions()
    #expect(await bert.transactions == [])
    try await bert.close()
  }

  @Test func purchasesApprovedLaterArrive() async throws {
    let local = try store(.ask)
    let queue = try PaymentQueue(store: try client(Server(local), "anna"), storage: MemoryRecordStorage())
    let buying = Task { try await queue.purchase(Payment(productIdentifier: "level")) }
    try await eventually { try await local.pendingPurchases().count == 1 }
    let pending = try #require(try await local.pendingPurchases().first)
    #expect(pending.account == "anna")
    #expect(await queue.transactions.map(\.transactionState) == [.purchasing])
    try await local.approve(pending.requestIdentifier, account: "anna")
    try await queue.synchronize()
    let sold = try await buying.value
    #expect(sold.transactionState == .purchased)
    #expect(try StoreFixture.verified(try #require(sold.transactionReceipt)).productId == "level")
    try await queue.close()
  }

  @Test func unknownCustomersAreRefused() async throws {
    let mallory = try client(Server(try store()), "mallory")
    await #expect(throws: StoreUnavailable.self) {
      try await mallory.purchase(PurchaseRequest(id: "1", payment: Payment(productIdentifier: "level")))
    }
    await #expect(throws: StoreError.self) {
      try await mallory.products(for: ["level"], preferredLocales: [])
    }
  }
}
