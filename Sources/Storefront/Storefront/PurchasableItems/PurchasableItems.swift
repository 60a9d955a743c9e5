// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptCodec
public import ReceiptHTTP

/// Creates the items of an app, sells them through its queue, and reports changes of their order status. Create one per
/// queue.
public actor PurchasableItems {
  private let queue: PaymentQueue
  private let store: any Store
  private let record: any PurchaseRecord
  private let preferredLocales: [Locale]
  nonisolated let fetcher: ContentFetcher
  private let clock: @Sendable () -> Timestamp

  /// The identifiers of items by their products, for status notifications.
  private var itemsOfProduct: [String: Set<String>] = [:]
  /// The products of the orders in progress.
  private var ordered: Set<String> = []
  private var listeners: [UInt64: AsyncStream<String>.Continuation] = [:]
  private var listenerCount: UInt64 = 0
  private var watches: [Task<Void, Never>] = []

  /// Creates the items of an app.
  ///
  /// - Parameters:
  ///   - queue: The queue that receives the payments.
  ///   - store: The store of the queue, for prices.
  ///   - record: The verified purchases.
  ///   - preferredLocales: The languages that the customer reads, best first.
  ///   - transport: Fetches bundles. The caller owns it and shuts it down.
  ///   - retry: The retry policy of each range of a bundle.
  ///   - time: The clocks. The wall clock determines which subscriptions have expired.
  public init(
    queue: PaymentQueue, store: any Store, record: any PurchaseRecord,
    preferredLocales: [Locale] = [.current],
    transport: any HTTPTransport, retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.queue = queue
    self.store = store
    self.record = record
    self.preferredLocales = preferredLocales
    fetcher = ContentFetcher(transport: transport, retry: retry, time: time)
    clock = time.now
  }

  deinit {
    for watch in watches { watch.cancel() }
    for listener in listeners.values { listener.finish() }
  }

  // MARK: Making items

  /// Makes an item.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the item.
  ///   - productIdentifier: The product identifier of its in-app purchase.
  ///   - relatedProductIdentifiers: The product identifiers of the same purchase in sibling apps.
  ///   - content: The content that its bundle request fetches.
  /// - Returns: The item.
  public func item(
    _ identifier: String, productIdentifier: String?, relatedProductIdentifiers: Set<String>? = nil,
    content: DownloadableContent? = nil
  ) -> PurchasableItem {
    register(
      PurchasableItem(
        identifier: identifier, productIdentifier: productIdentifier,
        relatedProductIdentifiers: relatedProductIdentifiers, content: content, linkedItems: [], items: self))
  }

  /// Creates an item that shows other items (`CalStorePageItemPage`). It can be purchased only if all of them share
  /// one purchase, which is then the page's own.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the page.
  ///   - items: The items that it shows.
  /// - Returns: The item.
  public func page(_ identifier: String, linking items: [PurchasableItem]) -> PurchasableItem {
    let shared = items.first?.productIdentifier
    let isShared = items.allSatisfy { $0.canBePurchased && $0.productIdentifier == shared }
    let related = items.reduce(into: Set<String>()) { $0.formUnion($1.relatedProductIdentifiers ?? []) }
    return register(
      PurchasableItem(
        identifier: identifier, productIdentifier: isShared ? shared : nil,
        relatedProductIdentifiers: isShared ? related : nil, content: nil, linkedItems: items, items: self))
  }

  private func register(_ item: PurchasableItem) -> PurchasableItem {
    for product in item.allProductIdentifiers { itemsOfProduct[product, default: []].insert(item.identifier) }
    return item
  }

  // MARK: Status of orders

  /// The identifiers of items whose order status changed (`kCalStoreOrderStatusChangedNotification`). Each sequence is
  /// independent. It observes the queue, so the queue synchronizes with the store.
  public var orderStatusChanges: AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    listenerCount += 1
    let number = listenerCount
    listeners[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeListener(number) } }
    if watches.isEmpty { watches = [watchQueue(), watchRecord()] }
    return stream
  }

  private func watchQueue() -> Task<Void, Never> {
    Task { [weak self, queue] in
      for await update in await queue.updates {
        guard let self else { return }
        switch update {
        case .updated(let transactions), .removed(let transactions):
          await self.notify(Set(transactions.map(\.payment.productIdentifier)))
        case .restoreFinished, .restoreFailed, .updatedDownloads: break
        }
      }
    }
  }

  private func watchRecord() -> Task<Void, Never> {
    Task { [weak self, record] in
      guard let changes = await record.changes() else { return }
      for await products in changes { await self?.notify(products) }
    }
  }

  private func removeListener(_ number: UInt64) {
    listeners[number] = nil
    if listeners.isEmpty {
      for watch in watches { watch.cancel() }
      watches = []
    }
  }

  private func notify(_ products: Set<String>) {
    let changed = products.reduce(into: Set<String>()) { $0.formUnion(itemsOfProduct[$1] ?? []) }
    for identifier in changed.sorted() {
      for listener in listeners.values { listener.yield(identifier) }
    }
  }

  // MARK: Calls of items

  func purchases(of products: Set<String>) async throws -> (purchases: [OwnedPurchase], now: Timestamp) {
    let purchases = try await record.purchases(of: products)
    return (purchases.filter { products.contains($0.productIdentifier) }, clock())
  }

  func isOwned(_ products: Set<String>) async throws -> Bool {
    let (purchases, now) = try await purchases(of: products)
    return purchases.contains { $0.isOwned(at: now) }
  }

  /// The content of an unfinished transaction of one of the products.
  func content(of products: Set<String>) async -> DownloadableContent? {
    await queue.transactions.lazy.filter { products.contains($0.payment.productIdentifier) }
      .compactMap { $0.storeTransaction?.downloads.first }.first
  }

  func isBeingPurchased(_ products: Set<String>) async -> Bool {
    if !ordered.isDisjoint(with: products) { return true }
    return await isInQueue(products)
  }

  private func isInQueue(_ products: Set<String>) async -> Bool {
    await queue.transactions.contains {
      $0.transactionState == .purchasing && products.contains($0.payment.productIdentifier)
    }
  }

  func price(of product: String, item: String) async throws(PurchasableItemError) -> PriceInformation {
    let response: ProductsResponse
    do { response = try await store.products(for: [product], preferredLocales: preferredLocales) } catch {
      throw PurchasableItemError(
        .notFetched, at: item, "The price was not fetched: \(error)", storeError: error)
    }
    guard let product = response.products.first(where: { $0.productIdentifier == product }) else {
      throw PurchasableItemError(.unknownProduct, at: item, "The store does not know its product identifier.")
    }
    return PriceInformation(product: product)
  }

  func purchase(_ product: String, of item: PurchasableItem) async throws -> ItemPurchase {
    let products = item.allProductIdentifiers
    let beingPurchased = PurchasableItemError(
      .beingPurchased, at: item.identifier, "It is being purchased: wait for what becomes of it.")
    // Reserve the products before the first suspension, so that one of two simultaneous orders is refused.
    guard ordered.isDisjoint(with: products) else { throw beingPurchased }
    ordered.formUnion(products)
    defer {
      ordered.subtract(products)
      notify(products)
    }
    guard await !isInQueue(products) else { throw beingPurchased }
    guard try await !isOwned(products) else {
      throw PurchasableItemError(.alreadyPurchased, at: item.identifier, "It is purchased: install it.")
    }
    notify(products)
    let transaction = try await queue.purchase(Payment(productIdentifier: product))
    if let error = transaction.error {
      try await queue.finish(transaction)
      throw PurchasableItemError(
        .notSold, at: item.identifier, "The store did not sell it: \(error)", storeError: error)
    }
    return ItemPurchase(transaction: transaction, isPurchased: try await isOwned(products))
  }
}
