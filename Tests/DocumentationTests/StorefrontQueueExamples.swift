// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptHTTP
import ReceiptTesting
import ReceiptVerification
import Storefront
import StorefrontSQLite
import Testing

/// Storefront: the payment queue, its downloads, and items.
@Suite(.timeLimit(.minutes(10))) struct StorefrontQueueExamples {
  private struct NotCheckedYet: Error {}

  /// The bytes of a hosted product, the transport that serves them, and their description.
  private static let bytes = Array("level 2".utf8)
  private static let transport = AnsweringTransport { _ in RemoteResponse(status: 200, body: bytes) }
  private static let content = DownloadableContent(
    contentIdentifier: "level-2", url: "https://content.example/level-2", contentLength: Int64(bytes.count),
    sha256: Digest.hash(bytes, using: .sha256))

  @Test func aPurchase() async throws {
    let folder = try ScratchFolder()
    let file = folder.path("purchases.queue")
    let shop = try StorefrontShop.open([
      CatalogProduct(productIdentifier: "coins", type: .consumable, price: 1)
    ])
    let store = shop.session(account: "alice")

    let storage = try SQLiteRecordStorage(at: file)
    let queue = try PaymentQueue(store: store, storage: storage)

    let transaction = try await queue.purchase(Payment(productIdentifier: "coins"))
    switch transaction.transactionState {
    case .purchased:
      // Verify transaction.transactionReceipt, deliver the coins, and then:
      try await queue.finish(transaction)
    case .failed:
      // Show transaction.error, and then:
      try await queue.finish(transaction)
    case .purchasing, .restored:
      break  // Not an outcome of a purchase.
    }

    #expect(transaction.transactionState == .purchased)
    #expect(await queue.transactions.isEmpty)
    try await queue.close()
  }

  @Test func observingAQueue() async throws {
    let shop = try StorefrontShop.open([
      CatalogProduct(productIdentifier: "coins", type: .consumable, price: 1)
    ])
    let queue = try PaymentQueue(store: shop.session(account: "alice"), storage: MemoryRecordStorage())
    let (delivered, deliveries) = AsyncStream.makeStream(of: String.self)
    @Sendable func deliver(_ transaction: PaymentTransaction) async throws {
      guard transaction.transactionState == .purchased else { return }
      deliveries.yield(transaction.payment.productIdentifier)
    }

    let task = Task {
      defer { deliveries.finish() }

      for await update in await queue.updates {
        guard case .updated(let transactions) = update else { continue }
        for transaction in transactions { try await deliver(transaction) }
      }
    }

    try await queue.add(Payment(productIdentifier: "coins"))
    #expect(await delivered.first { _ in true } == "coins")
    task.cancel()
  }

  @Test func downloads() async throws {
    let folder = try ScratchFolder()
    let directory = folder.path("downloads")
    let shop = try StorefrontShop.open([
      CatalogProduct(productIdentifier: "level", type: .nonConsumable, price: 3, downloads: [Self.content])
    ])
    let (store, storage, transport) = (
      shop.session(account: "alice"), MemoryRecordStorage(), Self.transport
    )
    // The queue learns of it from the store.
    _ = try await store.purchase(PurchaseRequest(id: "1", payment: Payment(productIdentifier: "level")))
    let (installed, installations) = AsyncStream.makeStream(of: [String: String].self)
    @Sendable func install(_ path: String?, as identifier: String) throws {
      let path = try #require(path)
      installations.yield([identifier: try String(contentsOfFile: path, encoding: .utf8)])
    }

    let task = Task {
      defer { installations.finish() }

      let queue = try PaymentQueue(store: store, storage: storage)
      try await queue.enableDownloads(DownloadOptions(directory: directory, transport: transport))

      for await update in await queue.updates {
        switch update {
        case .updated(let transactions):
          for transaction in transactions where transaction.transactionState == .purchased {
            // Verify transaction.transactionReceipt first.
            try await queue.startDownloads(transaction.downloads)
          }
        case .updatedDownloads(let downloads):
          for download in downloads where download.state == .finished {
            try install(download.contentPath, as: download.contentIdentifier)  // moves the file
            if let transaction = try await queue.transaction(download.transaction) {
              try await queue.finish(transaction)
            }
          }
        case .removed, .restoreFinished, .restoreFailed: break
        }
      }
    }

    #expect(await installed.first { _ in true } == ["level-2": "level 2"])
    // Finished, so that the store does not deliver it again.
    while try await !store.unfinishedTransactions(after: nil, limit: 1).transactions.isEmpty {
      try await Task.sleep(for: .milliseconds(2))
    }
    task.cancel()
  }

  @Test func items() async throws {
    let shop = try StorefrontShop.open([
      CatalogProduct(
        productIdentifier: "com.example.phone.holidays", type: .nonConsumable, price: 3,
        downloads: [Self.content])
    ])
    let (store, transport) = (shop.session(account: "alice"), Self.transport)
    let queue = try PaymentQueue(store: store, storage: MemoryRecordStorage())
    let verifier = ReceiptVerifier(
      trust: try TestAuthority.es256().trustAnchors,
      policy: VerificationPolicy(bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox]))
    var installed: [ContentBundle?] = []
    func install(_ bundle: ContentBundle?) throws { installed.append(bundle) }

    let record = QueuePurchaseRecord(queue) { transaction in
      guard let receipt = transaction.transactionReceipt else { return nil }
      switch verifier.verify(receipt) {
      case .valid(let receipt):
        guard case .jws(.transaction(let transaction)) = receipt.content else { return nil }
        return OwnedPurchase(verified: transaction)
      case .invalid: return nil
      case .undetermined: throw NotCheckedYet()
      }
    }
    let items = PurchasableItems(queue: queue, store: store, record: record, transport: transport)
    let holidays = await items.item(
      "calendar.holidays", productIdentifier: "com.example.phone.holidays",
      relatedProductIdentifiers: ["com.example.tablet.holidays"])

    let price = try await holidays.fetchPriceInformation()
    if try await !holidays.isPurchased, await !holidays.isBeingPurchased {
      let purchase = try await holidays.purchase()
      if purchase.isPurchased {
        try install(try await holidays.bundleRequest?.bundle())
        try await queue.finish(purchase.transaction)
      }
    }

    #expect(price.price == 3)
    #expect(installed.map { $0?.bytes } == [Self.bytes])
    #expect(try await holidays.isPurchased)
  }

  @Test func aSubscription() async throws {
    let shop = try StorefrontShop.open([])
    let store = shop.session(account: "alice")
    let queue = try PaymentQueue(store: store, storage: MemoryRecordStorage())
    let record = OnePurchase(
      purchase: OwnedPurchase(
        productIdentifier: "com.example.monthly", transactionIdentifier: "1",
        expiresAt: SystemClock.now().addingSeconds(86_400)))
    let items = PurchasableItems(queue: queue, store: store, record: record, transport: Self.transport)
    var shown = 0
    func showContent() { shown += 1 }

    SubscriptionHandler.configureShared(
      await SubscriptionHandler(items, identifier: "subscription", productIdentifier: "com.example.monthly"))
    // Anywhere:
    if try await SubscriptionHandler.shared?.subscription.status.isSubscribed == true { showContent() }

    SubscriptionHandler.configureShared(nil)
    #expect(shown == 1)
  }

  private struct OnePurchase: PurchaseRecord {
    let purchase: OwnedPurchase
    func purchases(of productIdentifiers: Set<String>) async throws -> [OwnedPurchase] { [purchase] }
  }
}
