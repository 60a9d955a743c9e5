// SPDX-License-Identifier: Apache-2.0

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
/// Every call that throws ``LocalStoreError`` may throw `storage`, `corrupt` for a damaged record, and `signing`.
///
/// The rules of subscriptions are in <doc:Subscriptions>.
public actor LocalStore {
  /// Its options.
  public nonisolated let options: Options
  /// Its catalogue.
  public nonisolated let catalog: ProductCatalog
  let products: [String: CatalogProduct]
  let stored: StoredRecords
  let clock: @Sendable () -> Timestamp
  let signer: StoreEventSigner
  let receiptSigner: TransactionReceiptSigner?
  var faults: [Fault]
  /// `nil` after a failed commit: the next call reads the storage again.
  var state: State?
  /// The dictionary of the storage's packed texts; `nil` if it must be read again.
  var texts: SharedTexts?
  var sleeper: Task<Void, Never>?
  var isDelivering = false
  /// Indicates whether new notifications are to be sent to the developer's server.
  package var sendsNotifications = false
  /// The queues that wait for changes, by account.
  package var listeners: [String: [UInt64: AsyncStream<Void>.Continuation]] = [:]
  var listenerCount: UInt64 = 0
  /// Indicates whether the changes of the present operation may share a sync with others.
  var isGrouping = false
  /// Indicates whether something was stored that may not be on disk.
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
    self.products = catalog.productsByIdentifier
    self.stored = StoredRecords(storage: storage)
    self.clock = clock
    self.faults = options.faults
    let isNew: Bool
    (state, texts, isNew) = try Self.read(catalog: catalog, options: options, stored)
    // The seed must be stored before the first identifier is derived from it.
    if isNew, let state { try stored.commit([Self.header(of: state)]) }
  }

  /// The store as one signed-in customer sees it, as a queue takes it. The account is any name that is not empty.
  public nonisolated func session(account: String) -> Session { Session(store: self, account: account) }

  /// Closes the store and its storage: later calls fail, and ``run()`` ends. Closing again has no effect.
  ///
  /// - Throws: ``LocalStoreError`` if the storage cannot be closed.
  public func close() throws(LocalStoreError) {
    state = nil
    sleeper?.cancel()
    for listener in listeners.values.flatMap(\.values) { listener.finish() }
    listeners = [:]
    try stored.close()
  }

  /// Adds a fault, which applies after those added before.
  public func add(_ fault: Fault) { faults.append(fault) }
}
