// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec
public import ReceiptSigning

/// A whole store in this process: it authorises payments, sells, signs the receipts, keeps subscriptions going, and
/// notifies.
///
/// ```swift
/// let store = try LocalStore(
///   catalog: catalog, identity: identity, storage: storage, options: .init(bundleIdentifier: "com.example.app"),
///   clock: { SystemClock.now() })
/// let alice = store.session(account: "alice")
/// let outcome = try await alice.purchase(PurchaseRequest(id: "1", payment: Payment(productIdentifier: "coins")))
/// ```
///
/// Everything is on disk before it is answered, in one commit: sale, receipt, notification, subscription. Requests
/// are idempotent: the same identifiers get the same answer, across crashes and relaunches. A storage serves one store.
///
/// What subscriptions do is in <doc:Subscriptions>.
public actor LocalStore {
  /// How it does its business.
  public nonisolated let options: Options
  /// What it sells.
  public nonisolated let catalog: ProductCatalog
  let products: [String: CatalogProduct]
  let storage: any RecordStorage
  let clock: @Sendable () -> Timestamp
  let signer: StoreEventSigner
  let receiptSigner: TransactionReceiptSigner?
  var faults: [Fault]
  /// `nil` after a commit failed: what is stored is then read again.
  var state: State?
  var sleeper: Task<Void, Never>?
  var isDelivering = false

  struct State {
    var engine: SubscriptionEngine
    var seed: UInt64
  }

  /// Opens a store, or creates one in an empty storage.
  ///
  /// - Parameters:
  ///   - catalog: What it sells.
  ///   - identity: Who signs: a P-256 identity whose chain is leaf, intermediate, root. Verifiers of its
  ///     receipts trust its root.
  ///   - storage: Where it is kept.
  ///   - options: How it does its business. Seed and prices that are stored count, not those given.
  ///   - clock: The current time.
  /// - Throws: ``LocalStoreError`` with `signing` for an identity that does not suit, `storage`, `corrupt` or
  ///   `invalid-option`.
  public init(
    catalog: ProductCatalog, identity: SigningIdentity, storage: any RecordStorage, options: Options,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(LocalStoreError) {
    guard options.maximumQuantity > 0 else {
      throw LocalStoreError(.invalidOption, at: "maximumQuantity", "It must be at least 1.")
    }
    do throws(SigningError) {
      signer = try StoreEventSigner(identity: identity, appAppleId: options.appAppleId)
      switch options.receipts {
      case .signedTransaction: receiptSigner = nil
      case .transactionReceipt(let identity): receiptSigner = try TransactionReceiptSigner(identity: identity)
      }
    } catch {
      throw LocalStoreError(error)
    }
    self.options = options
    self.catalog = catalog
    self.products = Dictionary(
      catalog.products.map { ($0.productIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
    self.storage = storage
    self.clock = clock
    self.faults = options.faults
    let isNew: Bool
    (state, isNew) = try Self.read(catalog: catalog, options: options, storage: storage)
    if isNew, let state {
      // At once, so that identifiers come of the same seed whenever the first sale is.
      do throws(RecordStorageError) {
        try storage.commit([Self.header(of: state)])
      } catch {
        throw LocalStoreError(error)
      }
    }
  }

  /// The store as one signed-in customer sees it.
  ///
  /// - Parameter account: The customer, by any name that is not empty.
  /// - Returns: The store as a queue takes it.
  public nonisolated func session(account: String) -> Session { Session(store: self, account: account) }

  /// Has calls go wrong, after those that are to go wrong already.
  public func add(_ fault: Fault) { faults.append(fault) }

  /// The fault of a call, if it is to go wrong.
  func nextFault(of call: Fault.Call) -> Fault.Failure? {
    guard let index = faults.firstIndex(where: { $0.call == call && $0.count > 0 }) else { return nil }
    faults[index].count -= 1
    let failure = faults[index].failure
    if faults[index].count == 0 { faults.remove(at: index) }
    return failure
  }
}

extension LocalStore {
  /// The store as one signed-in customer sees it.
  public struct Session: Store {
    let store: LocalStore
    /// The customer.
    public let account: String

    /// Looks products up. Those that are not for sale are among the invalid identifiers.
    public func products(
      for identifiers: Set<String>, preferredLocales: [Locale]
    ) async throws(StoreError) -> ProductsResponse {
      try await store.products(for: identifiers, preferredLocales: preferredLocales)
    }

    /// Processes a payment.
    public func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
      try await store.purchase(request, account: account)
    }

    /// Sales of this customer that were not finished, oldest first.
    public func unfinishedTransactions(
      after position: StorePosition?, limit: Int
    ) async throws(StoreUnavailable) -> StoreTransactionPage {
      try await store.unfinishedTransactions(of: account, after: position, limit: limit)
    }

    /// Says that the customer has what was sold. A transaction of somebody else is left alone.
    public func finish(transactionIdentifier: String) async throws(StoreUnavailable) {
      try await store.finish(transactionIdentifier, account: account)
    }

    /// Gives finished purchases of restorable products again.
    public func restore(
      _ request: RestoreRequest, after position: StorePosition?, limit: Int
    ) async throws(StoreError) -> RestoredTransactionPage {
      try await store.restore(request, account: account, after: position, limit: limit)
    }
  }
}
