// SPDX-License-Identifier: Apache-2.0

import ReceiptHTTP
import Storefront
import Testing

/// Downloads of a payment queue.
@Suite(.timeLimit(.minutes(2))) struct PaymentQueueDownloadTests {
  private let directory: ScratchDirectory
  private let storage = MemoryRecordStorage()
  private let bytes = DownloadFixture.bytes

  init() throws { directory = try ScratchDirectory() }

  /// An observer that records updates of downloads.
  private actor Listener: TransactionObserver {
    private let news = DownloadNews()

    func paymentQueue(_ queue: PaymentQueue, updated transactions: [PaymentTransaction]) async {}

    func paymentQueue(_ queue: PaymentQueue, updatedDownloads downloads: [Download]) async {
      await news.note(downloads)
    }

    func first(_ state: Download.State) async throws -> Download {
      try await news.first { $0.state == state }
    }
  }

  /// A store that sells everything with the same content, except `plain`, which has none, and `dear`, which fails.
  private func store(_ contents: [DownloadableContent] = [DownloadFixture.content()]) -> ClosureStore {
    var answers = ClosureStore.Answers()
    answers.purchase = { request throws(StoreUnavailable) in
      let product = request.payment.productIdentifier
      if product == "dear" { return .failed(StoreError(.paymentCancelled, "no")) }
      return .purchased(
        StoreTransaction(
          transactionIdentifier: request.id, originalTransactionIdentifier: request.id,
          transactionDate: StoreOverHTTP.now, payment: request.payment, requestIdentifier: request.id,
          receipt: [1], downloads: product == "plain" ? [] : contents))
    }
    return ClosureStore(answers)
  }

  private func queue(
    _ server: ContentServer, storage: (any RecordStorage)? = nil, store: (any Store)? = nil
  ) async throws -> PaymentQueue {
    let queue = try PaymentQueue(store: store ?? self.store(), storage: storage ?? self.storage)
    try await queue.enableDownloads(DownloadFixture.options(server, directory))
    return queue
  }

  @Test("SKPaymentQueue: startDownloads:")
  func onlyContentOfUnfinishedPurchasesIsStarted() async throws {
    let queue = try await queue(ContentServer(bytes))
    let listener = Listener()
    await queue.addObserver(listener)

    let purchased = try await queue.purchase(Payment(productIdentifier: "level-2"))
    let downloads = try await queue.downloads(of: purchased.id)
    #expect(downloads == purchased.downloads)
    try await queue.startDownloads(purchased.downloads)
    #expect(directory.read(try await listener.first(.finished).contentPath) == bytes)

    let failed = try await queue.purchase(Payment(productIdentifier: "dear"))
    let refused = await #expect(throws: DownloadError.self) { try await queue.downloads(of: failed.id) }
    #expect(refused?.code == .notPurchased)

    try await queue.finish(purchased)
    let late = await #expect(throws: DownloadError.self) { try await queue.startDownloads(downloads) }
    #expect(late?.code == .notPurchased)
    try await queue.close()
  }

  @Test("SKPaymentQueue: cancelDownloads: / pauseDownloads: / resumeDownloads:")
  func downloadsArePausedResumedAndCancelled() async throws {
    let server = ContentServer(bytes)
    await server.hold()
    let queue = try await queue(server)
    let listener = Listener()
    await queue.addObserver(listener)
    let purchased = try await queue.purchase(Payment(productIdentifier: "level-2"))
    let downloads = try await queue.downloads(of: purchased.id)
    try await queue.startDownloads(downloads)
    _ = try await listener.first(.active)

    try await queue.pauseDownloads(downloads)
    #expect(await queue.downloads.map(\.state) == [.paused])
    await server.release()
    try await queue.resumeDownloads(downloads)
    #expect(directory.read(try await listener.first(.finished).contentPath) == bytes)

    let other = try await queue.purchase(Payment(productIdentifier: "level-3"))
    await server.hold()
    let others = try await queue.downloads(of: other.id)
    try await queue.startDownloads(others)
    try await queue.cancelDownloads(others)
    #expect(try await listener.first(.cancelled).transaction == other.id)
    #expect(await queue.downloads.map(\.transaction) == [purchased.id])
    #expect(directory.names.count == 1)
    await server.release()
    try await queue.close()
  }

  @Test("SKDownload")
  func aDownloadHasItsContentStateAndProgress() async throws {
    let queue = try await queue(ContentServer(bytes))
    let purchased = try await queue.purchase(Payment(productIdentifier: "level-2"))
    let download = try #require(try await queue.downloads(of: purchased.id).first)
    #expect(download.contentIdentifier == "level-2")
    #expect(download.contentVersion == "1.0")
    #expect(download.contentLength == 4500)
    #expect(download.transaction == purchased.id)
    #expect(download.state == .waiting)
    #expect(download.progress == 0)
    #expect(download.timeRemaining == nil)
    #expect(download.contentPath == nil)
    #expect(download.error == nil)
    #expect(Download.State.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5])

    let listener = Listener()
    await queue.addObserver(listener)
    try await queue.startDownloads([download])
    let finished = try await listener.first(.finished)
    #expect(finished.id == download.id)
    #expect(finished.progress == 1)
    #expect(directory.read(finished.contentPath) == bytes)
    let plain = try await queue.purchase(Payment(productIdentifier: "plain"))
    #expect(try await queue.downloads(of: plain.id) == [])
    try await queue.close()
  }

  @Test("SKPaymentQueue: Fulfilment kinds")
  func purchasesAreEnabledDownloadedOrFetchedFromTheVendorsServer() async throws {
    let server = ContentServer(bytes)
    let queue = try await queue(server)
    let listener = Listener()
    await queue.addObserver(listener)

    // A built-in feature: nothing is fetched, so that it can be enabled and finished at once.
    let builtIn = try await queue.purchase(Payment(productIdentifier: "plain"))
    #expect(builtIn.downloads == [])
    try await queue.finish(builtIn)

    // Hosted by the store: queue the downloads, and finish when they are.
    let hosted = try await queue.purchase(Payment(productIdentifier: "level-2"))
    try await queue.startDownloads(try await queue.downloads(of: hosted.id))
    #expect(directory.read(try await listener.first(.finished).contentPath) == bytes)
    try await queue.finish(hosted)

    // On the vendor's own server: the receipt is sent there, and the transaction stays until the content is here.
    let own = try await queue.purchase(Payment(productIdentifier: "plain"))
    #expect(own.transactionReceipt == [1])
    #expect(await queue.transactions.map(\.id) == [own.id])
    try await queue.finish(own)
    #expect(await queue.transactions == [])
    try await queue.close()
  }

  @Test func downloadsGoOnAfterARelaunch() async throws {
    let broken = ContentServer(bytes) { number, _, response throws(HTTPTransportError) in
      if number >= 2 { throw HTTPTransportError(.connectionLost, "gone") }
      return response
    }
    let first = try await queue(broken)
    let listener = Listener()
    await first.addObserver(listener)
    let purchased = try await first.purchase(Payment(productIdentifier: "level-2"))
    try await first.startDownloads(try await first.downloads(of: purchased.id))
    _ = try await listener.first(.failed)
    let reopened = storage.reopened()
    try await first.close()

    let server = ContentServer(bytes)
    let second = try await queue(server, storage: reopened)
    let again = Listener()
    await second.addObserver(again)
    #expect(await second.downloads.map(\.receivedByteCount) == [2048])
    try await second.resumeDownloads(await second.downloads)
    #expect(directory.read(try await again.first(.finished).contentPath) == bytes)
    #expect(await server.ranges.first == "bytes=2048-3071")
    try await second.close()
  }

  @Test func finishingATransactionEndsItsDownloads() async throws {
    let server = ContentServer(bytes)
    await server.hold()
    let queue = try await queue(server)
    let listener = Listener()
    await queue.addObserver(listener)
    let purchased = try await queue.purchase(Payment(productIdentifier: "level-2"))
    try await queue.startDownloads(try await queue.downloads(of: purchased.id))
    try await queue.finish(purchased)
    _ = try await listener.first(.cancelled)
    await server.release()
    #expect(await queue.downloads == [])
    #expect(directory.names == [])
    try await queue.close()
  }

  /// An observer that is blocked in its first update.
  private actor SlowListener: TransactionObserver {
    private(set) var heard: [[Download]] = []
    private var isReleased = false
    private var waiting: CheckedContinuation<Void, Never>?

    func paymentQueue(_ queue: PaymentQueue, updated transactions: [PaymentTransaction]) async {}

    func paymentQueue(_ queue: PaymentQueue, updatedDownloads downloads: [Download]) async {
      heard.append(downloads)
      if !isReleased { await withCheckedContinuation { waiting = $0 } }
    }

    func release() {
      isReleased = true
      waiting?.resume()
    }
  }

  @Test func aSlowObserverReceivesTheLatestState() async throws {
    let queue = try await queue(ContentServer(bytes))
    let listener = SlowListener()
    await queue.addObserver(listener)
    let purchased = try await queue.purchase(Payment(productIdentifier: "level-2"))
    try await queue.startDownloads(try await queue.downloads(of: purchased.id))
    try await eventually { await queue.downloads.first?.state == .finished }
    await listener.release()
    try await eventually { await listener.heard.last?.map(\.state) == [.finished] }
    // The first update, possibly one in flight, and the last; not one for each of five ranges.
    #expect(await listener.heard.count <= 3)
    #expect(await listener.heard.allSatisfy { $0.count == 1 })
    try await queue.close()
  }

  @Test func withoutADirectoryThereAreNoDownloads() async throws {
    let queue = try PaymentQueue(store: store(), storage: storage)
    let purchased = try await queue.purchase(Payment(productIdentifier: "level-2"))
    let error = await #expect(throws: DownloadError.self) { try await queue.downloads(of: purchased.id) }
    #expect(error?.code == .notEnabled)
    let options = DownloadOptions(directory: "/dev/null/here", transport: ContentServer(bytes))
    await #expect(throws: DownloadError.self) { try await queue.enableDownloads(options) }
    #expect(await queue.downloads == [])
    try await queue.close()
    let closed = await #expect(throws: DownloadError.self) { try await queue.startDownloads([]) }
    #expect(closed?.code == .closed)
  }

  @Test func anUnreferencedQueueIsReleased() async throws {
    let server = ContentServer(bytes)
    await server.hold()
    weak var gone: PaymentQueue?
    do {
      let queue = try await queue(server)
      gone = queue
      let purchased = try await queue.purchase(Payment(productIdentifier: "level-2"))
      try await queue.startDownloads(try await queue.downloads(of: purchased.id))
    }
    await server.release()
    for _ in 0..<1000 where gone != nil { try await Task.sleep(for: .milliseconds(5)) }
    #expect(gone == nil)
  }
}
