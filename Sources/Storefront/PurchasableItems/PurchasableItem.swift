// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Something with an in-app purchase of its own (`CalStorePageItemPurchasable`): content, a page of content, a
/// subscription. ``PurchasableItems`` makes them.
///
/// ```swift
/// for await identifier in await items.orderStatusChanges where identifier == item.identifier {
///   try await showStatus(isPurchased: item.isPurchased, isBeingPurchased: item.isBeingPurchased)
/// }
/// ```
///
/// To sell one: observe it, look whether it is purchased or being purchased, ``purchase()`` only if it is neither, look
/// again whether it is purchased, and install it.
public actor PurchasableItem: Identifiable {
  /// Which item: what notifications name (`identifier`).
  public nonisolated let identifier: String
  /// The in-app purchase that it belongs to (`productIdentifier`); `nil` if none.
  public nonisolated let productIdentifier: String?
  /// The same purchase in the vendor's sibling apps (`relatedProductIdentifiers`): bought in one, it is bought in all.
  /// `nil` if there are none.
  public nonisolated let relatedProductIdentifiers: Set<String>?
  /// The items that a page shows; none for any other item.
  public nonisolated let linkedItems: [PurchasableItem]

  /// ``identifier``.
  public nonisolated var id: String { identifier }

  /// What it costs (`priceInfo`); `nil` until it was fetched.
  public private(set) var priceInformation: PriceInformation?

  private let items: PurchasableItems
  private nonisolated let content: DownloadableContent?
  private var fetch: PriceFetch?
  private var fetchCount: UInt64 = 0

  init(
    identifier: String, productIdentifier: String?, relatedProductIdentifiers: Set<String>?,
    content: DownloadableContent?, linkedItems: [PurchasableItem], items: PurchasableItems
  ) {
    self.identifier = identifier
    self.productIdentifier = productIdentifier
    self.relatedProductIdentifiers =
      relatedProductIdentifiers?.isEmpty == true ? nil : relatedProductIdentifiers
    self.content = content
    self.linkedItems = linkedItems
    self.items = items
  }

  /// The purchase under all the names that it has.
  nonisolated var allProductIdentifiers: Set<String> {
    Set([productIdentifier].compactMap { $0 }).union(relatedProductIdentifiers ?? [])
  }

  // MARK: State

  /// Whether it can be bought by itself (`canBePurchased`): it has a valid product identifier. A page has one only if
  /// all items that it shows share one purchase.
  public nonisolated var canBePurchased: Bool {
    guard let productIdentifier else { return false }
    return 1...255 ~= productIdentifier.utf8.count
      && productIdentifier.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
  }

  /// Whether it is bought (`isPurchased`), here or in a sibling app: then install it.
  ///
  /// - Throws: What keeps the record from knowing.
  public var isPurchased: Bool {
    get async throws {
      let products = allProductIdentifiers
      return products.isEmpty ? false : try await items.isOwned(products)
    }
  }

  /// Whether it is being bought (`isBeingPurchased`), also by a payment that has been waiting since an earlier launch.
  public var isBeingPurchased: Bool {
    get async { await items.isBeingPurchased(allProductIdentifiers) }
  }

  /// Fetches the content (`calendarBundleRequest`); `nil` if it cannot be purchased or has no content of its own.
  public nonisolated var bundleRequest: BundleRequest? {
    guard canBePurchased, let content else { return nil }
    return BundleRequest(content, items: items)
  }

  // MARK: Purchasing

  /// Buys it (`purchaseWithCompletionHandler:`). This cannot be cancelled: the payment is in the queue, and even when
  /// the task is cancelled this waits for what becomes of it, which may take days where somebody must approve.
  ///
  /// A failed transaction is finished here. One that is purchased is the caller's: install the content, then finish it.
  ///
  /// - Returns: The transaction, and whether the item is purchased now: the store may have sold what the record does not
  ///   accept.
  /// - Throws: ``PurchasableItemError`` with `not-purchasable`, `already-purchased`, `being-purchased`, and then nothing
  ///   was bought, or `not-sold`; ``PaymentQueueError``; what keeps the record from knowing.
  @discardableResult
  public func purchase() async throws -> ItemPurchase {
    guard canBePurchased, let productIdentifier else {
      throw PurchasableItemError(.notPurchasable, at: identifier, "It is not for sale by itself.")
    }
    let order = ItemOrder(item: identifier, product: productIdentifier, allProducts: allProductIdentifiers)
    // A task of its own does not hear of the caller's cancellation.
    return try await Task { [items] in try await items.purchase(order) }.value
  }

  // MARK: Price

  private struct PriceFetch {
    let number: UInt64
    let task: Task<Void, Never>
    var continuation: CheckedContinuation<Result<PriceInformation, PurchasableItemError>, Never>?
  }

  /// Whether the price is being fetched (`isFetchingPriceInfo`).
  public var isFetchingPriceInformation: Bool { fetch != nil }

  /// Asks the store for the price (`fetchPriceInfoWithCompletionHandler:`), and sets ``priceInformation``. Call it while
  /// that is `nil`. It always ends, in success or not; cancelling the task ends it, too.
  ///
  /// - Returns: The price.
  /// - Throws: ``PurchasableItemError`` with `already-fetching`, and then the fetch that goes on is not disturbed;
  ///   `not-purchasable`, `unknown-product`, `not-fetched` or `cancelled`.
  @discardableResult
  public func fetchPriceInformation() async throws(PurchasableItemError) -> PriceInformation {
    guard fetch == nil else {
      throw PurchasableItemError(.alreadyFetching, at: identifier, "Wait for the fetch that goes on.")
    }
    guard canBePurchased, let productIdentifier else {
      throw PurchasableItemError(.notPurchasable, at: identifier, "It is not for sale by itself.")
    }
    fetchCount += 1
    let number = fetchCount
    fetch = PriceFetch(
      number: number,
      task: Task { [items, identifier] in
        endFetch(number, await items.price(of: productIdentifier, item: identifier))
      })
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        fetch?.continuation = continuation
        if Task.isCancelled { cancelFetch(number) }
      }
    } onCancel: {
      Task { await self.cancelFetch(number) }
    }
    return try result.get()
  }

  /// The same with a completion handler on the main actor, called on success and on failure.
  ///
  /// - Parameter completion: Is called once, with the price, or with what ``fetchPriceInformation()`` throws.
  public nonisolated func fetchPriceInformation(
    completion: @escaping @MainActor @Sendable (Result<PriceInformation, PurchasableItemError>) -> Void
  ) {
    Task {
      let result: Result<PriceInformation, PurchasableItemError>
      do throws(PurchasableItemError) {
        result = .success(try await fetchPriceInformation())
      } catch {
        result = .failure(error)
      }
      await completion(result)
    }
  }

  /// Ends the fetch that goes on (`cancelFetchingPriceInfo`), which throws `cancelled`. What it brings later is dropped.
  /// Without one it does nothing.
  public func cancelFetchingPriceInformation() {
    if let fetch { cancelFetch(fetch.number) }
  }

  private func cancelFetch(_ number: UInt64) {
    guard fetch?.number == number else { return }
    fetch?.task.cancel()
    endFetch(
      number, .failure(PurchasableItemError(.cancelled, at: identifier, "Fetching the price was cancelled.")))
  }

  private func endFetch(_ number: UInt64, _ result: Result<PriceInformation, PurchasableItemError>) {
    guard let ended = fetch, ended.number == number else { return }
    fetch = nil
    if case .success(let price) = result { priceInformation = price }
    ended.continuation?.resume(returning: result)
  }
}

/// What became of an item's purchase.
public struct ItemPurchase: Sendable, Hashable {
  /// The transaction, purchased and not finished.
  public let transaction: PaymentTransaction
  /// Whether the item is purchased now, by what the record says.
  public let isPurchased: Bool
}

/// What an item costs (`CalStorePriceInfo`), and all else that the store says of its product.
public struct PriceInformation: Sendable, Hashable {
  /// The product.
  public let product: Product

  /// The price for one, in ``currency``.
  public var price: Decimal { product.price }

  /// How the price is written: the store's way, not the user's.
  public var priceLocale: Locale { product.priceLocale }

  /// The currency, by ISO 4217.
  public var currency: String { product.currency }
}
