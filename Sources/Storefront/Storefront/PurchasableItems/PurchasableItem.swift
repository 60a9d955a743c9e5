// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptCrypto
internal import ReceiptHTTP

/// An item that is sold as an in-app purchase (`CalStorePageItemPurchasable`): content, a page of content, a
/// subscription. ``PurchasableItems`` creates items.
///
/// ```swift
/// for await identifier in await items.orderStatusChanges where identifier == item.identifier {
///   try await showStatus(isPurchased: item.isPurchased, isBeingPurchased: item.isBeingPurchased)
/// }
/// ```
///
/// To sell an item, observe it. Call ``purchase()`` if it is neither purchased nor being purchased, and install it
/// once it is purchased.
public actor PurchasableItem {
  /// The identifier, which notifications contain (`identifier`).
  public nonisolated let identifier: String
  /// The product identifier of its in-app purchase (`productIdentifier`), if any.
  public nonisolated let productIdentifier: String?
  /// The product identifiers of the same purchase in the vendor's sibling apps (`relatedProductIdentifiers`), if any.
  /// A purchase in one app counts in all.
  public nonisolated let relatedProductIdentifiers: Set<String>?
  /// The items that a page shows; empty for any other item.
  package nonisolated let linkedItems: [PurchasableItem]

  /// The price (`priceInfo`); `nil` until it is fetched.
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

  nonisolated var allProductIdentifiers: Set<String> {
    Set([productIdentifier].compactMap { $0 }).union(relatedProductIdentifiers ?? [])
  }

  // MARK: State

  /// `true` if it can be bought by itself (`canBePurchased`), which means that it has a valid product identifier. A
  /// page has one only if all of its items share one purchase.
  public nonisolated var canBePurchased: Bool {
    guard let productIdentifier else { return false }
    return 1...255 ~= productIdentifier.utf8.count
      && productIdentifier.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
  }

  /// `true` if it is purchased (`isPurchased`), in this app or in a sibling app.
  ///
  /// - Throws: The error of the record if it cannot answer.
  public var isPurchased: Bool {
    get async throws {
      let products = allProductIdentifiers
      return products.isEmpty ? false : try await items.isOwned(products)
    }
  }

  /// `true` if it is being purchased (`isBeingPurchased`), which includes a payment from an earlier launch.
  public var isBeingPurchased: Bool {
    get async { await items.isBeingPurchased(allProductIdentifiers) }
  }

  /// The request for the content (`calendarBundleRequest`); `nil` if the item cannot be purchased.
  public nonisolated var bundleRequest: BundleRequest? {
    canBePurchased ? BundleRequest(content, of: self, items: items) : nil
  }

  // MARK: Purchasing

  /// Buys it (`purchaseWithCompletionHandler:`).
  ///
  /// The purchase cannot be cancelled. The payment is in the queue, and the call waits for its outcome even if the
  /// task is cancelled. If the payment needs approval, that may take days.
  ///
  /// This finishes a failed transaction. The caller finishes a purchased one after installing the content.
  ///
  /// - Returns: The transaction, and a flag that indicates whether the item is purchased now. The record may refuse
  ///   the receipt.
  /// - Throws: ``PurchasableItemError`` with `not-purchasable`, `already-purchased` or `being-purchased` if nothing
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

  /// `true` while the price is being fetched (`isFetchingPriceInfo`).
  public var isFetchingPriceInformation: Bool { fetch != nil }

  /// Fetches the price from the store (`fetchPriceInfoWithCompletionHandler:`) and sets ``priceInformation``. Call it
  /// while that is `nil`. Cancelling the task cancels the fetch.
  ///
  /// - Returns: The price.
  /// - Throws: ``PurchasableItemError`` with `already-fetching`, which does not affect the fetch in progress;
  ///   `not-purchasable`, `unknown-product`, `not-fetched` or `cancelled`.
  @discardableResult
  public func fetchPriceInformation() async throws(PurchasableItemError) -> PriceInformation {
    try PurchasableItemError.require(
      fetch == nil, .alreadyFetching, at: identifier, "Wait for the fetch that goes on.")
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

  /// Fetches the price, and calls a completion handler on the main actor on success and on failure.
  ///
  /// - Parameter completion: Called once, with the price or the error of ``fetchPriceInformation()``.
  public nonisolated func fetchPriceInformation(
    completion: @escaping @MainActor @Sendable (Result<PriceInformation, PurchasableItemError>) -> Void
  ) {
    Task {
      do throws(PurchasableItemError) {
        let price = try await fetchPriceInformation()
        await completion(.success(price))
      } catch {
        await completion(.failure(error))
      }
    }
  }

  /// Cancels the fetch in progress (`cancelFetchingPriceInfo`), which throws `cancelled`. Its late result is ignored.
  /// If there is no fetch, this has no effect.
  public func cancelFetchingPriceInformation() {
    fetch?.deliver(.failure(fetchCancelled))
    fetch = nil
  }

  private nonisolated var fetchCancelled: PurchasableItemError {
    PurchasableItemError(.cancelled, at: identifier, "Fetching the price was cancelled.")
  }
}

extension PriceInformation {
  /// The price of one unit, in the currency of its product.
  public var price: Decimal { product.price }

  /// The locale that formats the price: the storefront's, not the user's.
  public var priceLocale: Locale { product.priceLocale }
}

extension BundleRequest {
  package static let maximumByteCount = 64 << 20
  private static let partByteCount = 4 << 20

  /// Fetches the bundle and verifies its digest. To cancel it, cancel the task.
  /// - Returns: The bundle.
  /// - Throws: ``DownloadError``, with `not-purchased` if the item has no content of its own and no unfinished
  ///   transaction in the queue has any.
  public func bundle() async throws(DownloadError) -> ContentBundle {
    var found = content
    if found == nil { found = await items.content(of: item.allProductIdentifiers) }
    guard let content = found else {
      throw DownloadError(
        .notPurchased, at: item.identifier,
        "It has no content of its own, and no transaction in the queue has: buy or restore it first.")
    }
    let source = try ContentSource(content)
    try DownloadError.require(
      source.length <= Int64(Self.maximumByteCount), .invalidContent, at: content.contentIdentifier,
      "A bundle has at most \(Self.maximumByteCount) bytes. Download it instead.")
    var bytes: [UInt8] = []
    while bytes.count < source.length {
      let piece = try await items.fetcher.piece(
        of: source, at: Int64(bytes.count), count: Self.partByteCount, validator: nil,
        maximumWholeByteCount: Self.maximumByteCount)
      switch piece {
      case .part(let more, _): bytes += more
      case .whole(let all, _): bytes = all
      case .unsatisfiable: throw source.lengthMismatch(Int64(bytes.count))
      }
    }
    guard Digest.hash(bytes, using: .sha256) == source.sha256 else {
      throw source.error(.checksumMismatch, "The content is not what the store says.")
    }
    return ContentBundle(identifier: content.contentIdentifier, version: content.contentVersion, bytes: bytes)
  }
}
