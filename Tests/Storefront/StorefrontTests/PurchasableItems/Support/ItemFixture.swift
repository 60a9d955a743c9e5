// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptHTTP
import ReceiptTesting
import ReceiptVerification
import Storefront

/// A record with manually added purchases.
actor Notebook: PurchaseRecord {
  struct Unreadable: Error {}

  private var purchases: [OwnedPurchase] = []
  private var isUnreadable = false

  func add(_ purchase: OwnedPurchase) { purchases.append(purchase) }

  func replace(_ purchases: [OwnedPurchase]) { self.purchases = purchases }

  func setUnreadable(_ isUnreadable: Bool) { self.isUnreadable = isUnreadable }

  func purchases(of productIdentifiers: Set<String>) async throws -> [OwnedPurchase] {
    if isUnreadable { throw Unreadable() }
    return purchases
  }
}

/// A store whose answers wait until they are released, and whose receipts are genuine.
actor GatedStore: Store {
  enum Answer: Sendable {
    case sold
    /// Sold, with an untrusted receipt.
    case forged
    case declined
    case pending
  }

  private var answer: Answer
  private var isShut = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private(set) var purchases: [PurchaseRequest] = []
  private(set) var productRequestCount = 0
  private var productError: StoreError?
  private var sequence = 0
  private var downloads: [DownloadableContent] = []

  init(_ answer: Answer = .sold) { self.answer = answer }

  func setAnswer(_ answer: Answer) { self.answer = answer }
  func setProductError(_ error: StoreError?) { productError = error }
  func host(_ contents: [DownloadableContent]) { downloads = contents }
  func shut() { isShut = true }

  func open() {
    isShut = false
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  private func pass() async {
    if isShut { await withCheckedContinuation { waiting.append($0) } }
  }

  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse {
    productRequestCount += 1
    await pass()
    if let productError { throw productError }
    let known = identifiers.filter { !$0.hasPrefix("unknown") }.sorted()
    return ProductsResponse(
      products: known.map {
        Product(
          productIdentifier: $0, localizedTitle: $0, localizedDescription: "", price: Decimal(499) / 100,
          priceLocale: Locale(identifier: "de_DE"), currency: "EUR", type: .nonConsumable)
      }, invalidProductIdentifiers: identifiers.subtracting(known).sorted())
  }

  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
    if !purchases.contains(request) { purchases.append(request) }
    await pass()
    switch answer {
    case .pending: return .pending
    case .declined: return .failed(StoreError(.paymentCancelled, "The customer cancelled."))
    case .sold, .forged:
      sequence += 1
      let identifier = "\(2_000_000_000 + sequence)"
      let product = request.payment.productIdentifier
      guard
        var receipt = try? TestReceipts().signedTransaction({
          $0.transactionId = identifier
          $0.originalTransactionId = identifier
          $0.productId = product
          $0.type = .nonConsumable
          $0.expiresDate = nil
        })
      else { throw StoreUnavailable("no receipt") }
      if case .forged = answer { receipt = String(receipt.dropLast(4)) + "AAAA" }
      return .purchased(
        StoreTransaction(
          transactionIdentifier: identifier, originalTransactionIdentifier: identifier,
          transactionDate: StoreOverHTTP.now, payment: request.payment, requestIdentifier: request.id,
          receipt: Array(receipt.utf8), downloads: downloads))
    }
  }

  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage {
    StoreTransactionPage(transactions: [], next: nil)
  }

  func finish(transactionIdentifier: String) async throws(StoreUnavailable) {}

  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage {
    RestoredTransactionPage(transactions: [], next: nil)
  }
}

/// An app's items, with a queue, a store and a record.
struct ItemFixture {
  static let now = SampleReceipts.signedAt.addingSeconds(10)

  let store: GatedStore
  let queue: PaymentQueue
  let notebook = Notebook()
  let record: QueuePurchaseRecord
  let items: PurchasableItems

  init(
    _ answer: GatedStore.Answer = .sold, storage: any RecordStorage = MemoryRecordStorage(),
    transport: any HTTPTransport = ContentServer([])
  ) throws {
    store = GatedStore(answer)
    queue = try PaymentQueue(store: store, storage: storage)
    let authority = try TestAuthority.es256()
    let verifier = ReceiptVerifier(
      trust: authority.trustAnchors,
      policy: VerificationPolicy(bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox]),
      clock: { Self.now })
    record = QueuePurchaseRecord(queue, remembering: notebook) { transaction in
      guard let sale = transaction.storeTransaction else { return nil }
      guard case .valid(let receipt) = verifier.verify(sale.receipt) else { return nil }
      return receipt.transactions.first.flatMap { OwnedPurchase(verified: $0) }
    }
    let time = RemoteTime(
      now: { Self.now }, elapsed: { .zero }, sleep: { _ in try Task.checkCancellation() }, random: { 0 })
    items = PurchasableItems(
      queue: queue, store: store, record: record, transport: transport,
      retry: RetryPolicy(maximumAttempts: 1), time: time)
  }

  /// An owned purchase of a product.
  static func owned(_ product: String, until end: Double? = nil) -> OwnedPurchase {
    OwnedPurchase(
      productIdentifier: product, transactionIdentifier: "1", expiresAt: end.map { now.addingSeconds($0) })
  }
}

/// Waits until a condition holds.
func eventually(_ condition: () async throws -> Bool) async throws {
  for _ in 0..<2000 {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(2))
  }
  throw NeverHappened()
}

struct NeverHappened: Error {}
