// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec
public import ReceiptSigning

/// A complete store in this process: it authorises payments, sells, signs receipts, renews subscriptions, and sends
/// notifications.
///
/// ```swift
/// let store = try LocalStore(
///   catalog: catalog, identity: identity, storage: storage, options: .init(bundleIdentifier: "com.example.app"),
///   clock: { SystemClock.now() })
/// let alice = store.session(account: "alice")
/// let outcome = try await alice.purchase(PurchaseRequest(id: "1", payment: Payment(productIdentifier: "coins")))
/// ```
///
/// Sale, receipt, notification and subscription are on disk, in one commit, before the answer is sent. Requests are
/// idempotent: the same identifiers get the same answer, across crashes and relaunches. A storage serves one store.
///
/// The rules of subscriptions are in <doc:Subscriptions>.
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
  /// `nil` after a failed commit: the next call reads the storage again.
  var state: State?
  var sleeper: Task<Void, Never>?
  var isDelivering = false
  /// Whether new notifications are to be sent to the developer's server.
  package var sendsNotifications = false
  /// The queues that wait for changes, by account.
  package var listeners: [String: [UInt64: AsyncStream<Void>.Continuation]] = [:]
  var listenerCount: UInt64 = 0
  /// Whether the changes of the present operation may share a sync with others.
  var isGrouping = false
  /// Whether something was stored that may not be on disk.
  var isUnsynchronized = false

  /// Opens a store, or creates one in an empty storage.
  ///
  /// - Parameters:
  ///   - catalog: What it sells.
  ///   - identity: The signing identity: on P-256, with the chain leaf, intermediate, root. Verifiers of its receipts
  ///     trust its root.
  ///   - storage: Where the store is kept.
  ///   - options: The options. A stored seed and stored prices take precedence over those given.
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
      // The seed must be stored before the first identifier is derived from it.
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

  /// Closes the store and its storage: later calls fail, and ``run()`` ends. Closing again has no effect.
  ///
  /// - Throws: ``LocalStoreError`` if the storage cannot be closed.
  public func close() throws(LocalStoreError) {
    state = nil
    sleeper?.cancel()
    for listener in listeners.values.flatMap(\.values) { listener.finish() }
    listeners = [:]
    do throws(RecordStorageError) { try storage.close() } catch { throw LocalStoreError(error) }
  }

  /// Adds a fault, which applies after those added before.
  public func add(_ fault: Fault) { faults.append(fault) }

  /// The next fault of a call, if any.
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

    private static let cancelled = "Nobody waited for the answer."

    /// Looks products up. Those that are not for sale are among the invalid identifiers.
    public func products(
      for identifiers: Set<String>, preferredLocales: [Locale]
    ) async throws(StoreError) -> ProductsResponse {
      guard await store.delay(.products) else { throw StoreError(.unknown, Self.cancelled) }
      return try await store.products(for: identifiers, preferredLocales: preferredLocales)
    }

    /// Processes a payment.
    public func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
      guard await store.delay(.purchase) else { throw StoreUnavailable(Self.cancelled) }
      return try await store.purchase(request, account: account)
    }

    /// The unfinished sales of this customer, oldest first.
    public func unfinishedTransactions(
      after position: StorePosition?, limit: Int
    ) async throws(StoreUnavailable) -> StoreTransactionPage {
      guard await store.delay(.unfinished) else { throw StoreUnavailable(Self.cancelled) }
      return try await store.unfinishedTransactions(of: account, after: position, limit: limit)
    }

    /// Finishes a transaction. That of another customer is left unchanged.
    public func finish(transactionIdentifier: String) async throws(StoreUnavailable) {
      guard await store.delay(.finish) else { throw StoreUnavailable(Self.cancelled) }
      try await store.finish(transactionIdentifier, of: account)
    }

    /// Restores finished purchases of restorable products.
    public func restore(
      _ request: RestoreRequest, after position: StorePosition?, limit: Int
    ) async throws(StoreError) -> RestoredTransactionPage {
      guard await store.delay(.restore) else { throw StoreError(.unknown, Self.cancelled) }
      if let refusal = store.options.signInRefusal(of: account) { throw refusal }
      return try await store.restore(request, account: account, after: position, limit: limit)
    }

    /// Whether the account is not restricted.
    public var canMakePayments: Bool { !store.options.restrictedAccounts.contains(account) }

    /// Whether the product is in the catalogue, for sale or not.
    public func isRegistered(_ productIdentifier: String) -> Bool {
      store.products[productIdentifier] != nil
    }

    /// A signal for each decision about a pending payment, and for each sale that no payment of the customer caused.
    public func changes() async -> AsyncStream<Void>? { await store.changes(of: account) }
  }
}
