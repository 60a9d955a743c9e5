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
/// idempotent: the same identifiers get the same answer, even across crashes and relaunches. A storage serves one
/// store.
///
/// Every call that throws ``LocalStoreError`` may throw `storage`, `signing`, and `corrupt` for a damaged record.
///
/// The rules of subscriptions are in <doc:Subscriptions>.
public actor LocalStore {
  package nonisolated let options: Options
  package nonisolated let catalog: ProductCatalog
  let products: [String: CatalogProduct]
  let stored: StoredRecords
  let clock: @Sendable () -> Timestamp
  let signer: StoreEventSigner
  let receiptSigner: TransactionReceiptSigner?
  var faults: [Fault]
  /// `nil` after a failed commit; the next call reads the storage again.
  var state: State?
  /// The texts that are shared by packed texts in the storage; `nil` if they must be read again.
  var texts: SharedTexts?
  var sleeper: Task<Void, Never>?
  var isDelivering = false
  /// `true` if new notifications are sent to the developer's server.
  package var sendsNotifications = false
  /// The queues that wait for changes, by account.
  package var listeners: [String: [UInt64: AsyncStream<Void>.Continuation]] = [:]
  var listenerCount: UInt64 = 0
  /// `true` while the changes of the present operation may share a sync with others.
  var isGrouping = false
  /// `true` if stored changes may not be on disk yet.
  var isUnsynchronized = false

  /// Opens a store, or creates one in an empty storage.
  ///
  /// - Parameters:
  ///   - catalog: The products to sell.
  ///   - identity: The signing identity: on P-256, with the chain leaf, intermediate, root. Verifiers of the store's
  ///     receipts trust its root.
  ///   - storage: The storage of the store.
  ///   - options: The options. A stored seed and stored prices take precedence over those given.
  ///   - clock: Returns the current time.
  /// - Throws: ``LocalStoreError`` with `signing` if the identity is unsuitable, `storage`, `corrupt` or
  ///   `invalid-option`.
  public init(
    catalog: ProductCatalog, identity: SigningIdentity, storage: any RecordStorage, options: Options,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(LocalStoreError) {
    try LocalStoreError.require(
      options.maximumQuantity > 0, .invalidOption, at: "maximumQuantity", "It must be at least 1.")
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
    if isNew, let state { try LocalStoreError.wrapping(try storage.commit([Self.header(of: state)])) }
  }

  /// The store as one signed-in customer sees it, for a payment queue. The account is any name that is not empty.
  public nonisolated func session(account: String) -> Session { Session(store: self, account: account) }

  /// Closes the store and its storage: later calls fail, and ``run()`` ends. Closing again has no effect.
  ///
  /// - Throws: ``LocalStoreError`` if the storage cannot be closed.
  public func close() throws(LocalStoreError) {
    state = nil
    sleeper?.cancel()
    for listener in listeners.values.flatMap(\.values) { listener.finish() }
    listeners = [:]
    try LocalStoreError.wrapping(try stored.storage.close())
  }

  /// Adds a fault. It applies after those that were added before.
  public func add(_ fault: Fault) { faults.append(fault) }
}

extension LocalStore.Options {
  /// Creates options for an app, with the defaults for everything else.
  public init(bundleIdentifier: String) {
    self.init(engine: SubscriptionEngine.Options(bundleIdentifier: bundleIdentifier))
  }

  /// The reason that an account cannot be used at this store; `nil` if it can.
  func signInRefusal(of account: String) -> StoreError? {
    if account.isEmpty { return StoreError(.clientInvalid, "Nobody is signed in to the store.") }
    guard engine.environment.category == .production, testAccounts.contains(account) else { return nil }
    return StoreError(.clientInvalid, "\"\(account)\" is a test account: sign in with another in production.")
  }

  /// The reason that an account cannot pay; `nil` if it can.
  func refusal(of account: String) -> StoreError? {
    if let refusal = signInRefusal(of: account) { return refusal }
    guard restrictedAccounts.contains(account) else { return nil }
    return StoreError(.paymentNotAllowed, "\"\(account)\" may not authorise payments.")
  }
}

extension PurchasePrompt {
  /// A notice such as `[Environment: Sandbox]`; `nil` in production.
  package var environmentNotice: String? {
    switch environment.category {
    case .production: nil
    case .sandbox: "[Environment: \(ReceiptEnvironment.sandbox.rawValue)]"
    default: "[Environment: \(environment.rawValue)]"
    }
  }

  /// The question. Outside production, a line with the environment follows.
  public var description: String {
    let count = quantity == 1 ? "one \(product.localizedTitle)" : "\(quantity) × \(product.localizedTitle)"
    let question = "Do you want to buy \(count) for \(product.localizedPrice)\(quantity == 1 ? "" : " each")?"
    return [question, environmentNotice].compactMap { $0 }.joined(separator: "\n")
  }
}
