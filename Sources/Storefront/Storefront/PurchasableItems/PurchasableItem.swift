// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptHTTP

/// Something that is sold as an in-app purchase (`CalStorePageItemPurchasable`): content, a page of content, a
/// subscription. ``PurchasableItems`` creates them.
///
/// ```swift
/// for await identifier in await items.orderStatusChanges where identifier == item.identifier {
///   try await showStatus(isPurchased: item.isPurchased, isBeingPurchased: item.isBeingPurchased)
/// }
/// ```
///
/// To sell one: observe it, call ``purchase()`` if it is neither purchased nor being purchased, and install it once it
/// is purchased.
public actor PurchasableItem {
  /// The identifier, which notifications state (`identifier`).
  public nonisolated let identifier: String
  /// The product identifier of its in-app purchase (`productIdentifier`), if any.
  public nonisolated let productIdentifier: String?
  /// The product identifiers of the same purchase in the vendor's sibling apps (`relatedProductIdentifiers`), if any: a
  /// purchase in one counts in all.
  public nonisolated let relatedProductIdentifiers: Set<String>?
  /// The items that a page shows; none for any other item.
  package nonisolated let linkedItems: [PurchasableItem]

  /// The price (`priceInfo`); `nil` until it was fetched.
  public private(set) var priceInformation: PriceInformation?

  private let items: PurchasableItems
  private nonisolated let content: DownloadableContent?
  private var fetch: PriceFetch?

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

  /// All product identifiers of the purchase.
  nonisolated var allProductIdentifiers: Set<String> {
    Set([productIdentifier].compactMap { $0 }).union(relatedProductIdentifiers ?? [])
  }

  // MARK: State

  /// Indicates whether it can be bought by itself (`canBePurchased`): it has a valid product identifier. A page has one
  /// only if all of its items share one purchase.
  public nonisolated var canBePurchased: Bool {
    guard let productIdentifier else { return false }
    return 1...255 ~= productIdentifier.utf8.count
      && productIdentifier.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
  }

  /// Indicates whether it is purchased (`isPurchased`), here or in a sibling app.
  ///
  /// - Throws: What keeps the record from knowing.
  public var isPurchased: Bool {
    get async throws {
      let products = allProductIdentifiers
      return products.isEmpty ? false : try await items.isOwned(products)
    }
  }

  /// Indicates whether it is being purchased (`isBeingPurchased`), also by a payment from an earlier launch.
  public var isBeingPurchased: Bool {
    get async { await items.isBeingPurchased(allProductIdentifiers) }
  }

  /// The request for the content (`calendarBundleRequest`); `nil` if the item cannot be purchased.
  public nonisolated var bundleRequest: BundleRequest? {
    canBePurchased ? BundleRequest(content, of: self, items: items) : nil
  }

  // MARK: Purchasing

  /// Buys it (`purchaseWithCompletionHandler:`). This cannot be cancelled: the payment is in the queue, and the call
  /// waits for its outcome even if the task is cancelled. Where approval is needed, that may take days.
  ///
  /// This finishes a failed transaction. The caller finishes a purchased one after installing the content.
  ///
  /// - Returns: The transaction, and whether the item is purchased now: the record may refuse the receipt.
  /// - Throws: ``PurchasableItemError`` with `not-purchasable`, `already-purchased` or `being-purchased`, if nothing
  ///   was bought, or with `not-sold`; ``PaymentQueueError``; errors of the record.
  @discardableResult
  public func purchase() async throws -> ItemPurchase {
    guard canBePurchased, let productIdentifier else {
      throw PurchasableItemError(.notPurchasable, at: identifier, "It is not for sale by itself.")
    }
    // An unstructured task does not inherit the caller's cancellation.
    return try await Task { try await items.purchase(productIdentifier, of: self) }.value
  }

  // MARK: Price

  private typealias PriceFetch = FirstResult<Result<PriceInformation, PurchasableItemError>>

  /// Indicates whether the price is being fetched (`isFetchingPriceInfo`).
  public var isFetchingPriceInformation: Bool { fetch != nil }

  /// Fetches the price from the store (`fetchPriceInfoWithCompletionHandler:`) and sets ``priceInformation``. Call it
  /// while that is `nil`. Cancelling the task cancels the fetch.
  ///
  /// - Returns: The price.
  /// - Throws: ``PurchasableItemError`` with `already-fetching`, which does not affect the fetch in progress;
  ///   `not-purchasable`, `unknown-product`, `not-fetched` or `cancelled`.
  @discardableResult
  public func fetchPriceInformation() async throws(PurchasableItemError) -> PriceInformation {
    guard fetch == nil else {
      throw PurchasableItemError(.alreadyFetching, at: identifier, "Wait for the fetch that goes on.")
    }
    guard canBePurchased, let productIdentifier else {
      throw PurchasableItemError(.notPurchasable, at: identifier, "It is not for sale by itself.")
    }
    let fetch = PriceFetch()
    self.fetch = fetch
    let task = Task {
      do throws(PurchasableItemError) {
        fetch.deliver(.success(try await items.price(of: productIdentifier, item: identifier)))
      } catch {
        fetch.deliver(.failure(error))
      }
    }
    let result = await fetch.value(ifCancelled: .failure(fetchCancelled))
    task.cancel()
    if self.fetch === fetch { self.fetch = nil }
    let price = try result.get()
    priceInformation = price
    return price
  }

  /// The same with a completion handler on the main actor, called on success and on failure.
  ///
  /// - Parameter completion: Called once, with the price or the error of ``fetchPriceInformation()``.
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

  /// Cancels the fetch in progress (`cancelFetchingPriceInfo`), which throws `cancelled`. Its late result is ignored.
  /// Without a fetch this has no effect.
  public func cancelFetchingPriceInformation() {
    fetch?.deliver(.failure(fetchCancelled))
    fetch = nil
  }

  private nonisolated var fetchCancelled: PurchasableItemError {
    PurchasableItemError(.cancelled, at: identifier, "Fetching the price was cancelled.")
  }
}

/// The result of an item's purchase.
public struct ItemPurchase: Sendable, Hashable {
  /// The transaction, purchased and not finished.
  public let transaction: PaymentTransaction
  /// Indicates whether the item is purchased now according to the record.
  public let isPurchased: Bool
}

/// The price of an item (`CalStorePriceInfo`), and the store's other information about its product.
public struct PriceInformation: Sendable, Hashable {
  /// The product.
  public let product: Product

  /// The price for one, in the currency of its product.
  public var price: Decimal { product.price }

  /// The locale that the price is formatted by: the storefront's, not the user's.
  public var priceLocale: Locale { product.priceLocale }
}
