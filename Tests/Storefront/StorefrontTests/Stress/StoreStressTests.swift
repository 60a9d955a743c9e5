// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptTesting
import Storefront
import Testing

/// For the thread sanitizer: the components around the queue, used from 64 tasks each, with several observers.
@Suite("Store, requests, downloads and items: from many tasks", .timeLimit(.minutes(5)))
struct StoreStressTests {
  private let tasks = 64

  /// Runs the tasks at once.
  private func atOnce(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      for task in 0..<tasks { group.addTask { try await body(task) } }
      try await group.waitForAll()
    }
  }

  // MARK: The store

  private actor Sink {
    private(set) var numbers: [Int64] = []
    func add(_ notification: SignedNotification) { numbers.append(notification.number) }
  }

  @Test("a store sells each request once, and sends all notifications in order")
  func store() async throws {
    let sink = Sink()
    var options = StoreFixture.options()
    options.sink = { await sink.add($0) }
    let storage = MemoryRecordStorage()
    let now = StoreFixture.start
    let store = try LocalStore(
      catalog: StoreFixture.catalog, identity: TestAuthority.es256().identity, storage: storage,
      options: options, clock: { now })
    let rounds = 3
    try await atOnce { task in
      // Two tasks send the same request, like a queue without an answer.
      let account = "a\(task / 2 % 8)"
      let session = store.session(account: account)
      for round in 0..<rounds {
        let sold = try await session.buy("coins", request: "\(task / 2)-\(round)")
        switch task % 4 {
        case 0: try await session.finish(transactionIdentifier: sold.transactionIdentifier)
        case 1: _ = try await session.unfinishedTransactions(after: nil, limit: 9)
        case 2: _ = try await session.restore(RestoreRequest(id: "r\(task)"), after: nil, limit: 9)
        default: _ = try await store.notifications(limit: 9)
        }
        _ = try await store.purchaseRecord(of: account)
      }
    }
    var requests: [String] = []
    for account in 0..<8 {
      let purchases = try await store.purchaseRecord(of: "a\(account)")
      requests += purchases.compactMap(\.transaction.requestIdentifier)
      #expect(purchases.allSatisfy { $0.charged == 990 })
    }
    #expect(requests.count == tasks / 2 * rounds)
    #expect(Set(requests).count == requests.count)
    let made = try await store.notifications(limit: 10_000).map(\.number)
    #expect(made.count == requests.count)
    try await eventually { await sink.numbers.count >= made.count }
    #expect(await sink.numbers == made)
  }

  // MARK: Requests for products

  @Test("a products request calls its delegate once, or not at all after it was cancelled")
  func products() async throws {
    let store = CatalogStore(try CatalogSamples.catalog)
    let lines = Lines()
    let identifiers: Set = ["com.example.coins", "com.example.gems"]
    @Sendable func make() -> ProductsRequest {
      ProductsRequest(
        productIdentifiers: identifiers, store: store, preferredLocales: [Locale(identifier: "en_US")],
        log: lines.log)
    }
    let shared = make()
    let listener = RecordingDelegate()
    shared.delegate = listener
    try await atOnce { task in
      shared.start()
      let request = make()
      let delegate = RecordingDelegate()
      request.delegate = delegate
      request.start()
      if task.isMultiple(of: 2) {
        if task.isMultiple(of: 4) { await Task.yield() }
        await request.cancel()
        let events = await delegate.events
        #expect(events.count <= 2)
        for _ in 0..<5 { await Task.yield() }
        #expect(await delegate.events == events)
      } else {
        let response = try await request.response()
        await delegate.wait(for: 2)
        #expect(await delegate.events == [.received(response), .finished])
      }
      #expect(try await shared.response().products.count == 1)
    }
    await listener.wait(for: 2)
    await letOtherTasksRun()
    #expect(await listener.events.count == 2)
    await shared.cancel()
  }

  // MARK: Downloads

  private actor Listener: TransactionObserver {
    private(set) var states: [Download.ID: Download.State] = [:]

    func paymentQueue(_ queue: PaymentQueue, updated transactions: [PaymentTransaction]) async {}

    func paymentQueue(_ queue: PaymentQueue, updatedDownloads downloads: [Download]) async {
      for download in downloads { states[download.id] = download.state }
    }
  }

  @Test("downloads that many tasks start, pause, resume and cancel end complete")
  func downloads() async throws {
    let bytes = DownloadFixture.bytes
    let server = ContentServer(bytes)
    let directory = try ScratchDirectory()
    var answers = ClosureStore.Answers()
    answers.purchase = { request throws(StoreUnavailable) in
      .purchased(
        StoreTransaction(
          transactionIdentifier: request.id, originalTransactionIdentifier: request.id,
          transactionDate: StoreOverHTTP.now, payment: request.payment, requestIdentifier: request.id,
          receipt: [1], downloads: [DownloadFixture.content(), DownloadFixture.content()]))
    }
    let queue = try PaymentQueue(store: ClosureStore(answers), storage: MemoryRecordStorage())
    try await queue.enableDownloads(DownloadFixture.options(server, directory, active: 4))
    let listeners = [Listener(), Listener(), Listener()]
    for listener in listeners { await queue.addObserver(listener) }
    var bought: [PaymentTransaction.ID] = []
    for number in 0..<4 {
      bought.append(try await queue.purchase(Payment(productIdentifier: "level \(number)")).id)
    }
    let transactions = bought
    try await atOnce { task in
      let downloads = try await queue.downloads(of: transactions[task % transactions.count])
      do {
        try await queue.startDownloads(downloads)
        await Task.yield()
        switch task % 4 {
        case 0:
          try await queue.pauseDownloads(downloads)
          try await queue.resumeDownloads(downloads)
        case 1: try await queue.cancelDownloads([downloads[task % 2]])
        case 2:
          let observer = Listener()
          await queue.addObserver(observer)
          _ = await queue.downloads
          await queue.removeObserver(observer)
        default: try await queue.resumeDownloads(downloads)
        }
      } catch let error as DownloadError where error.code == .unknownDownload {
        // Another task cancelled it.
      }
    }
    for transaction in transactions {
      let downloads = try await queue.downloads(of: transaction)
      try await queue.startDownloads(downloads)
      try await queue.resumeDownloads(downloads)
    }
    try await eventually { await queue.downloads.allSatisfy { $0.state == .finished } }
    let finished = await queue.downloads
    #expect(finished.count == 2 * transactions.count)
    for download in finished { #expect(directory.read(download.contentPath) == bytes) }
    #expect(directory.names.count == finished.count)
    for listener in listeners {
      try await eventually { await listener.states == finished.reduce(into: [:]) { $0[$1.id] = .finished } }
      await queue.removeObserver(listener)
    }
    try await queue.close()
  }

  // MARK: Items

  private actor Changes {
    private(set) var identifiers: Set<String> = []
    func add(_ identifier: String) { identifiers.insert(identifier) }
  }

  @Test("each item is sold once, however many tasks buy it")
  func items() async throws {
    let fixture = try ItemFixture()
    var made: [PurchasableItem] = []
    for number in 0..<8 {
      made.append(await fixture.items.item("item \(number)", productIdentifier: "product\(number)"))
    }
    let items = made
    let changes = [Changes(), Changes(), Changes()]
    var listening: [Task<Void, Never>] = []
    for heard in changes {
      let stream = await fixture.items.orderStatusChanges
      listening.append(Task { for await identifier in stream { await heard.add(identifier) } })
    }
    try await atOnce { task in
      let item = items[task % items.count]
      do {
        let purchase = try await item.purchase()
        #expect(purchase.isPurchased)
      } catch let error as PurchasableItemError {
        #expect([.alreadyPurchased, .beingPurchased].contains(error.code))
      }
      do throws(PurchasableItemError) {
        let price = try await item.fetchPriceInformation()
        #expect(await item.priceInformation == price)
      } catch {
        #expect([.alreadyFetching, .cancelled].contains(error.code))
      }
      if task % 8 == 3 { await item.cancelFetchingPriceInformation() }
      _ = await item.isBeingPurchased
      _ = try await item.isPurchased
      let page = await fixture.items.page("page \(task)", linking: [item])
      #expect(page.canBePurchased)
      let passing = await fixture.items.orderStatusChanges
      _ = passing
    }
    let sold = await fixture.store.purchases.map(\.payment.productIdentifier).sorted()
    #expect(sold == items.compactMap(\.productIdentifier).sorted())
    for item in items { #expect(try await item.isPurchased) }
    let expected = Set(items.map(\.identifier))
    for heard in changes { try await eventually { await heard.identifiers.isSuperset(of: expected) } }
    for task in listening { task.cancel() }
    try await fixture.queue.close()
  }
}
