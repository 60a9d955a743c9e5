// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront
import Testing

/// The rules of CalStore, one by one.
@Suite(.timeLimit(.minutes(2))) struct PurchasableItemTests {
  @Test("CalStorePageItemPurchasable: Scope")
  func theSharedHandlerKnowsTheSubscription() async throws {
    let fixture = try ItemFixture()
    let handler = await SubscriptionHandler(
      fixture.items, identifier: "subscription", productIdentifier: "monthly",
      relatedProductIdentifiers: ["monthly.ipad"])
    #expect(SubscriptionHandler.shared == nil)
    SubscriptionHandler.configureShared(handler)
    defer { SubscriptionHandler.configureShared(nil) }
    let subscription = try #require(SubscriptionHandler.shared?.subscription)
    #expect(subscription.item.identifier == "subscription")
    #expect(subscription.item.canBePurchased)
    #expect(try await subscription.status == .notPurchased)
    await fixture.notebook.add(ItemFixture.owned("monthly.ipad", until: 60))
    #expect(try await subscription.status == .active(until: ItemFixture.now.addingSeconds(60)))
    #expect(try await subscription.item.isPurchased)
    await fixture.notebook.replace([ItemFixture.owned("monthly", until: -60)])
    #expect(try await subscription.status == .expired(at: ItemFixture.now.addingSeconds(-60)))
    #expect(try await !subscription.item.isPurchased)
  }

  @Test("CalStorePageItemPurchasable: productIdentifier")
  func anItemBelongsToAnInAppPurchase() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    #expect(item.identifier == "calendar")
    #expect(item.productIdentifier == "holidays")
    try await item.purchase()
    #expect(await fixture.store.purchases.map(\.payment) == [Payment(productIdentifier: "holidays")])
  }

  @Test("CalStorePageItemPurchasable: relatedProductIdentifiers (NSSet)")
  func onePurchaseUnlocksSiblingApps() async throws {
    let fixture = try ItemFixture()
    let phone = await fixture.items.item(
      "calendar", productIdentifier: "holidays.iphone", relatedProductIdentifiers: ["holidays.ipad"])
    let alone = await fixture.items.item("other", productIdentifier: "other")
    #expect(phone.relatedProductIdentifiers == ["holidays.ipad"])
    #expect(alone.relatedProductIdentifiers == nil)
    #expect(try await !phone.isPurchased)
    await fixture.notebook.add(ItemFixture.owned("holidays.ipad"))
    #expect(try await phone.isPurchased)
    #expect(try await !alone.isPurchased)
    let error = await #expect(throws: PurchasableItemError.self) { try await phone.purchase() }
    #expect(error?.code == .alreadyPurchased)
    #expect(await fixture.store.purchases.isEmpty)
  }

  @Test("CalStorePageItemPurchasable: canBePurchased")
  func onlyItemsWithOnePurchaseCanBePurchased() async throws {
    let fixture = try ItemFixture()
    let items = fixture.items
    for invalid in [nil, "", " ", "a b", "a\n", String(repeating: "a", count: 256)] {
      let item = await items.item("x", productIdentifier: invalid)
      #expect(!item.canBePurchased)
      let error = await #expect(throws: PurchasableItemError.self) { try await item.purchase() }
      #expect(error?.code == .notPurchasable)
      #expect(try await !item.isPurchased)
    }
    let first = await items.item("1", productIdentifier: "holidays")
    let second = await items.item(
      "2", productIdentifier: "holidays", relatedProductIdentifiers: ["holidays.ipad"])
    let third = await items.item("3", productIdentifier: "sports")
    let free = await items.item("4", productIdentifier: nil)
    let shared = await items.page("page", linking: [first, second])
    #expect(shared.canBePurchased)
    #expect(shared.productIdentifier == "holidays")
    #expect(shared.relatedProductIdentifiers == ["holidays.ipad"])
    #expect(await !items.page("page", linking: [first, third]).canBePurchased)
    #expect(await !items.page("page", linking: [first, free]).canBePurchased)
    #expect(await !items.page("page", linking: [free, free]).canBePurchased)
    #expect(await !items.page("page", linking: []).canBePurchased)
    #expect(await fixture.store.purchases.isEmpty)
  }

  @Test("CalStorePageItemPurchasable: purchased (isPurchased)")
  func onlyVerifiedReceiptsMakeAnItemPurchased() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    let page = await fixture.items.page("page", linking: [item])
    #expect(try await !item.isPurchased)
    let purchase = try await item.purchase()
    #expect(purchase.isPurchased)
    #expect(try await item.isPurchased)
    #expect(try await page.isPurchased)
    // The queue forgets finished transactions; the record does not.
    try await fixture.queue.finish(purchase.transaction)
    #expect(try await item.isPurchased)
    #expect(await fixture.queue.transactions == [])
    let another = await fixture.items.item("concerts", productIdentifier: "concerts")
    #expect(try await !another.isPurchased)
    await fixture.notebook.add(ItemFixture.owned("concerts"))
    #expect(try await another.isPurchased)

    let forged = try ItemFixture(.forged)
    let other = await forged.items.item("calendar", productIdentifier: "holidays")
    #expect(try await !other.purchase().isPurchased)
    #expect(try await !other.isPurchased)
  }

  @Test("CalStorePageItemPurchasable: beingPurchased (isBeingPurchased)")
  func itIsBeingPurchasedWhileThePaymentIsInTheQueue() async throws {
    let storage = MemoryRecordStorage()
    let fixture = try ItemFixture(storage: storage)
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    let sibling = await fixture.items.item("other", productIdentifier: "holidays")
    #expect(await !item.isBeingPurchased)
    await fixture.store.shut()
    let task = Task { try await item.purchase() }
    try await eventually { await fixture.store.purchases.count == 1 }
    #expect(await item.isBeingPurchased)
    #expect(await sibling.isBeingPurchased)

    // It still is after a relaunch: the payment is in the queue.
    let relaunched = try ItemFixture(.pending, storage: storage.reopened())
    let again = await relaunched.items.item("calendar", productIdentifier: "holidays")
    #expect(await again.isBeingPurchased)
    let error = await #expect(throws: PurchasableItemError.self) { try await again.purchase() }
    #expect(error?.code == .beingPurchased)

    await fixture.store.open()
    _ = try await task.value
    #expect(await !item.isBeingPurchased)
    #expect(await !sibling.isBeingPurchased)
  }

  @Test("CalStorePageItemPurchasable: purchaseWithCompletionHandler: (CalStoreOrderCompletionHandler)")
  func aPurchaseCannotBeCancelledAndItsErrorsAreThrown() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    await fixture.store.shut()
    let task = Task { try await item.purchase() }
    try await eventually { await fixture.store.purchases.count == 1 }
    task.cancel()
    #expect(await item.isBeingPurchased)
    await fixture.store.open()
    #expect(try await task.value.isPurchased)

    let declined = try ItemFixture(.declined)
    let other = await declined.items.item("calendar", productIdentifier: "holidays")
    let error = await #expect(throws: PurchasableItemError.self) { try await other.purchase() }
    #expect(error?.code == .notSold)
    #expect(error?.storeError?.code == .paymentCancelled)
    #expect(await !other.isBeingPurchased)
    #expect(await declined.queue.transactions == [])
  }

  @Test("CalStorePageItemPurchasable: Purchase order")
  func itIsOnlyStartedWhenItIsNeitherPurchasedNorBeingPurchased() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    let page = await fixture.items.page("page", linking: [item])
    await fixture.store.shut()
    let tasks = (0..<20).map { number in
      Task { number.isMultiple(of: 2) ? try await item.purchase() : try await page.purchase() }
    }
    try await eventually { await fixture.store.purchases.count == 1 }
    try await Task.sleep(for: .milliseconds(20))
    await fixture.store.open()
    var sold = 0
    for task in tasks {
      do {
        #expect(try await task.value.isPurchased)
        sold += 1
      } catch let error as PurchasableItemError {
        #expect(error.code == .beingPurchased || error.code == .alreadyPurchased)
      }
    }
    #expect(sold == 1)
    #expect(await fixture.store.purchases.count == 1)
    // It is purchased now, so it cannot be purchased again.
    #expect(try await item.isPurchased)
    let error = await #expect(throws: PurchasableItemError.self) { try await item.purchase() }
    #expect(error?.code == .alreadyPurchased)
  }

  @Test("CalStorePageItemPurchasable: kCalStoreOrderStatusChangedNotification")
  func changesAreReportedByTheItemsIdentifier() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item(
      "calendar", productIdentifier: "holidays", relatedProductIdentifiers: ["holidays.ipad"])
    let sibling = await fixture.items.item("tablet", productIdentifier: "holidays.ipad")
    let other = await fixture.items.item("other", productIdentifier: "sports")
    let changes = await fixture.items.orderStatusChanges
    let heard = Task {
      var heard: [String] = []
      for await identifier in changes {
        heard.append(identifier)
        if identifier == other.identifier { break }
      }
      return heard
    }
    try await item.purchase()
    try await other.purchase()
    let identifiers = await heard.value
    #expect(Set(identifiers) == [item.identifier, sibling.identifier, other.identifier])

    // Changes in the queue without the item are also reported.
    let concert = await fixture.items.item("concert", productIdentifier: "concerts")
    var more = await fixture.items.orderStatusChanges.makeAsyncIterator()
    try await fixture.queue.add(Payment(productIdentifier: "concerts"))
    while let identifier = await more.next(), identifier != concert.identifier {}
  }

  @Test("CalStorePageItemPurchasable: calendarBundleRequest")
  func aBundleRequestFetchesTheContent() async throws {
    let server = ContentServer(DownloadFixture.bytes)
    let fixture = try ItemFixture(transport: server)
    let content = DownloadFixture.content()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays", content: content)
    let bundle = try await #require(item.bundleRequest).bundle()
    #expect(bundle.identifier == "level-2")
    #expect(bundle.version == "1.0")
    #expect(bundle.bytes == DownloadFixture.bytes)
    #expect(await fixture.items.item("x", productIdentifier: nil, content: content).bundleRequest == nil)
    // Without content of its own the item has what comes with its transaction.
    let request = try #require(await fixture.items.item("w", productIdentifier: "holidays").bundleRequest)
    #expect(request.content == nil)
    let missing = await #expect(throws: DownloadError.self) { try await request.bundle() }
    #expect(missing?.code == .notPurchased)
    await fixture.store.host([content])
    try await item.purchase()
    #expect(try await request.bundle().bytes == DownloadFixture.bytes)

    let wrong = DownloadFixture.content(sha256: [UInt8](repeating: 0, count: 32))
    let damaged = await fixture.items.item("y", productIdentifier: "holidays", content: wrong)
    let error = await #expect(throws: DownloadError.self) {
      try await #require(damaged.bundleRequest).bundle()
    }
    #expect(error?.code == .checksumMismatch)
    let short = await fixture.items.item(
      "z", productIdentifier: "holidays", content: DownloadFixture.content(length: 4501))
    let mismatch = await #expect(throws: DownloadError.self) {
      try await #require(short.bundleRequest).bundle()
    }
    #expect(mismatch?.code == .lengthMismatch)
    let large = await fixture.items.item(
      "l", productIdentifier: "holidays",
      content: DownloadFixture.content(length: BundleRequest.maximumByteCount + 1))
    let tooLarge = await #expect(throws: DownloadError.self) {
      try await #require(large.bundleRequest).bundle()
    }
    #expect(tooLarge?.code == .invalidContent)
  }

  @Test("CalStorePageItemPurchasable: priceInfo (CalStorePriceInfo)")
  func thereIsNoPriceUntilItWasFetched() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    #expect(await item.priceInformation == nil)
    await fixture.store.setProductError(StoreError(.unknown, "down"))
    let error = await #expect(throws: PurchasableItemError.self) { try await item.fetchPriceInformation() }
    #expect(error?.code == .notFetched)
    #expect(error?.storeError?.code == .unknown)
    #expect(await item.priceInformation == nil)
    await fixture.store.setProductError(nil)
    try await item.fetchPriceInformation()
    let price = try #require(await item.priceInformation)
    #expect(price.price == Decimal(string: "4.99"))
    #expect(price.priceLocale == Locale(identifier: "de_DE"))
    #expect(price.product.currency == "EUR")

    let unknown = await fixture.items.item("x", productIdentifier: "unknown.product")
    let refused = await #expect(throws: PurchasableItemError.self) {
      try await unknown.fetchPriceInformation()
    }
    #expect(refused?.code == .unknownProduct)
    let free = await fixture.items.item("y", productIdentifier: nil)
    let unsold = await #expect(throws: PurchasableItemError.self) { try await free.fetchPriceInformation() }
    #expect(unsold?.code == .notPurchasable)
  }

  @Test("CalStorePageItemPurchasable: fetchingPriceInfo (isFetchingPriceInfo)")
  func itIsFetchingWhileTheStoreIsAsked() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    #expect(await !item.isFetchingPriceInformation)
    await fixture.store.shut()
    let task = Task { try await item.fetchPriceInformation() }
    try await eventually { await item.isFetchingPriceInformation }
    await fixture.store.open()
    _ = try await task.value
    #expect(await !item.isFetchingPriceInformation)
    await fixture.store.setProductError(StoreError(.unknown, "down"))
    _ = try? await item.fetchPriceInformation()
    #expect(await !item.isFetchingPriceInformation)
  }

  @Test(
    "CalStorePageItemPurchasable: fetchPriceInfoWithCompletionHandler: (CalStorePriceInfoCompletionHandler)")
  func aSecondFetchIsRefusedAndTheCompletionIsAlwaysCalledOnTheMainActor() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    await fixture.store.shut()
    let task = Task { try await item.fetchPriceInformation() }
    try await eventually { await item.isFetchingPriceInformation }
    let error = await #expect(throws: PurchasableItemError.self) { try await item.fetchPriceInformation() }
    #expect(error?.code == .alreadyFetching)
    #expect(await completion(of: item) == .failure(try #require(error)))
    await fixture.store.open()
    let price = try await task.value
    #expect(await item.priceInformation == price)
    #expect(await fixture.store.productRequestCount == 1)

    #expect(await completion(of: item) == .success(price))
    await fixture.store.setProductError(StoreError(.clientInvalid, "no"))
    guard case .failure(let failure) = await completion(of: item) else {
      Issue.record("the completion heard of no failure")
      return
    }
    #expect(failure.storeError?.code == .clientInvalid)
    // The fetched price is kept.
    #expect(await item.priceInformation == price)
  }

  private func completion(of item: PurchasableItem) async -> Result<PriceInformation, PurchasableItemError> {
    await withCheckedContinuation { continuation in
      item.fetchPriceInformation { result in
        MainActor.assertIsolated()
        continuation.resume(returning: result)
      }
    }
  }

  @Test("CalStorePageItemPurchasable: cancelFetchingPriceInfo")
  func cancellingEndsTheFetchAndDropsWhatItBrings() async throws {
    let fixture = try ItemFixture()
    let item = await fixture.items.item("calendar", productIdentifier: "holidays")
    await item.cancelFetchingPriceInformation()
    await fixture.store.shut()
    let task = Task { try await item.fetchPriceInformation() }
    try await eventually { await fixture.store.productRequestCount == 1 }
    await item.cancelFetchingPriceInformation()
    let error = await #expect(throws: PurchasableItemError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(await !item.isFetchingPriceInformation)
    await fixture.store.open()
    try await Task.sleep(for: .milliseconds(20))
    #expect(await item.priceInformation == nil)
    #expect(try await item.fetchPriceInformation().product.currency == "EUR")

    // Cancelling the task does the same, also before it begins.
    await fixture.store.shut()
    let other = Task { try await item.fetchPriceInformation() }
    other.cancel()
    let cancelled = await #expect(throws: PurchasableItemError.self) { try await other.value }
    #expect(cancelled?.code == .cancelled)
    #expect(await !item.isFetchingPriceInformation)
    await fixture.store.open()
  }
}
