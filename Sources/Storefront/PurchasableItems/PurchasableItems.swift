// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptCodec
public import ReceiptHTTP

/// Makes the items of an app, sells them through its queue, and tells when the status of an order changes. Of one queue
/// make one.
public actor PurchasableItems {
  private let queue: PaymentQueue
  private let store: any Store
  private let record: any PurchaseRecord
  private let preferredLocales: [Locale]
  nonisolated let fetcher: ContentFetcher
  private let clock: @Sendable () -> Timestamp

  /// The identifiers of items by their products, for status notifications.
  private var itemsOfProduct: [String: Set<String>] = [:]
  /// The products of orders that go on here.
  private var ordered: [String: Int] = [:]
  private var listeners: [UInt64: AsyncStream<String>.Continuation] = [:]
  private var listenerCount: UInt64 = 0
  private var watch: Task<Void, Never>?

  /// Creates one.
  ///
  /// - Parameters:
  ///   - queue: Where payments go.
  ///   - store: What knows the prices: the store behind the queue.
  ///   - record: Knows what is owned, from verified purchases.
  ///   - preferredLocales: The languages that the customer reads, best first.
  ///   - transport: What fetches bundles. It stays the caller's, who shuts it down.
  ///   - retry: How often and how long each part of a bundle is tried.
  ///   - time: The clocks. The time of day says which subscriptions have expired.
  public init(
    queue: PaymentQueue, store: any Store, record: any PurchaseRecord, preferredLocales: [Locale] = [],
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
    watch?.cancel()
    for listener in listeners.values { listener.finish() }
  }

  // MARK: Making items

  /// Makes an item.
  ///
  /// - Parameters:
  ///   - identifier: Which item.
  ///   - productIdentifier: The in-app purchase that it belongs to.
  ///   - relatedProductIdentifiers: The same purchase in sibling apps.
  ///   - content: What its bundle request fetches.
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

  /// Makes an item that shows others (`CalStorePageItemPage`). It can be purchased only if all of them share one
  /// purchase, which is then its own.
  ///
  /// - Parameters:
  ///   - identifier: Which item.
  ///   - items: What it shows.
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

  /// The identifiers of items whose order status changed (`kCalStoreOrderStatusChangedNotification`): look at the
  /// item anew. Each sequence is of its own. While there is one, the queue is watched, which has it speak with the store.
  public var orderStatusChanges: AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    listenerCount += 1
    let number = listenerCount
    listeners[number] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeListener(number) } }
    if watch == nil {
      watch = Task { [weak self, queue] in
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
    return stream
  }

  private func removeListener(_ number: UInt64) {
    listeners[number] = nil
    if listeners.isEmpty {
      watch?.cancel()
      watch = nil
    }
  }

  private func notify(_ products: Set<String>) {
    let changed = products.reduce(into: Set<String>()) { $0.formUnion(itemsOfProduct[$1] ?? []) }
    for identifier in changed.sorted() {
      for listener in listeners.values { listener.yield(identifier) }
    }
  }

  // MARK: What items ask

  func isOwned(_ products: Set<String>) async throws -> Bool {
    let purchases = try await record.purchases(of: products)
    let now = clock()
    return purchases.contains { products.contains($0.productIdentifier) && $0.isOwned(at: now) }
  }

  func purchases(of products: Set<String>) async throws -> (purchases: [OwnedPurchase], now: Timestamp) {
    let purchases = try await record.purchases(of: products)
    return (purchases.filter { products.contains($0.productIdentifier) }, clock())
  }

  func isBeingPurchased(_ products: Set<String>) async -> Bool {
    if products.contains(where: { ordered[$0] != nil }) { return true }
    return await isInQueue(products)
  }

  private func isInQueue(_ products: Set<String>) async -> Bool {
    await queue.transactions.contains {
      $0.transactionState == .purchasing && products.contains($0.payment.productIdentifier)
    }
  }

  func price(
    of product: String, item: String
  ) async -> Result<PriceInformation, PurchasableItemError> {
    do throws(StoreError) {
      let response = try await store.products(for: [product], preferredLocales: preferredLocales)
      guard let product = response.products.first(where: { $0.productIdentifier == product }) else {
        return .failure(
          PurchasableItemError(.unknownProduct, at: item, "The store does not know its product identifier."))
      }
      return .success(PriceInformation(product: product))
    } catch {
      return .failure(
        PurchasableItemError(.notFetched, at: item, "The price was not fetched: \(error)", storeError: error))
    }
  }

  func purchase(_ order: ItemOrder) async throws -> ItemPurchase {
    // Taken before anything is waited for, so that of two orders at the same time one is refused.
    guard order.allProducts.allSatisfy({ ordered[$0] == nil }) else { throw order.beingPurchased }
    for product in order.allProducts { ordered[product, default: 0] += 1 }
    defer { end(order) }
    guard await !isInQueue(order.allProducts) else { throw order.beingPurchased }
    guard try await !isOwned(order.allProducts) else {
      throw PurchasableItemError(.alreadyPurchased, at: order.item, "It is purchased: install it.")
    }
    notify(order.allProducts)
    let transaction = try await queue.purchase(Payment(productIdentifier: order.product))
    if let error = transaction.error {
      try await queue.finish(transaction)
      throw PurchasableItemError(
        .notSold, at: order.item, "The store did not sell it: \(error)", storeError: error)
    }
    return ItemPurchase(transaction: transaction, isPurchased: try await isOwned(order.allProducts))
  }

  private func end(_ order: ItemOrder) {
    for product in order.allProducts {
      let count = (ordered[product] ?? 0) - 1
      ordered[product] = count > 0 ? count : nil
    }
    notify(order.allProducts)
  }
}

/// The purchase of an item.
struct ItemOrder: Sendable {
  let item: String
  let product: String
  let allProducts: Set<String>

  var beingPurchased: PurchasableItemError {
    PurchasableItemError(.beingPurchased, at: item, "It is being purchased: wait for what becomes of it.")
  }
}
