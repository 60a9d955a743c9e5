// SPDX-License-Identifier: Apache-2.0

public import AppStoreEmulator
public import AppStoreServer
public import ReceiptCodec
public import ReceiptCrypto
internal import ReceiptHTTP
internal import ReceiptSigning
public import ReceiptVerification
public import Storefront
internal import Synchronization

/// An App Store in this process, without sockets, that lives as long as one test: see ``StoreTrait``.
///
/// Its clock stands still until the test advances it. Then everything that is due happens at its own time: renewals,
/// billing retries, expiry, and the notifications about them. Each purchase, change and refund takes one second of the
/// clock, so that what follows another thing has a later date.
///
/// Each store signs with keys of its own, so that no verifier accepts the transactions of another test's store. App
/// receipts, which the endpoint `verifyReceipt` reads, are signed by `TestAuthority.rsa()`.
public final class TestAppStore: ScopedStore {
  @TaskLocal private static var scoped: TestAppStore?
  static var scope: TaskLocal<TestAppStore?> { $scoped }

  /// The time at which stores begin: 2025-01-01T00:00:00Z.
  public static let start = Timestamp(secondsSince1970: 1_735_689_600)

  /// The store of the test that runs.
  ///
  /// - Throws: ``TestStoreError`` if the test does not have the trait, or in a detached task, which does not inherit
  ///   its test's values: pass the store to it.
  public static var current: TestAppStore {
    get throws(TestStoreError) {
      guard let scoped else {
        throw TestStoreError(
          "There is no App Store here. Write @Test(.appStore()), or pass the store to the task.")
      }
      return scoped
    }
  }

  /// The app.
  public let bundleId: String
  /// The root certificate of everything that the store signs, for a backend that reads its trust anchors.
  public let root: Certificate
  /// Verifies what this store signs for the app in the sandbox, at the time of the store's clock.
  public let verifier: ReceiptVerifier
  /// The client of the App Store Server API, connected to this store with a key that it accepts.
  public let client: AppStoreServerClient
  /// The store's clock.
  public let clock: EmulatorClock

  private let store: Mutex<EmulatedAppStore>
  private let lastNotification = Mutex<Int64>(0)

  /// The endpoints, for requests by another client and for faults of the network (`emulator.faults`).
  public var emulator: EmulatedAppStore { store.withLock { $0 } }
  /// Products, purchases and customers, for changes that have no function here: `purchases.perform(_:)`.
  public var purchases: LocalStore { emulator.purchases }
  /// The time of the store's clock.
  public var now: Timestamp { clock.now }

  init(
    catalog: ProductCatalog, bundleId: String, clock: EmulatorClock?, start: Timestamp, seed: UInt64,
    configure: (inout SubscriptionEngine.Options) -> Void
  ) throws {
    let identity = try SigningIdentity.create(
      CertificateAuthority.Options(
        organization: "Store of one test", start: Timestamp(secondsSince1970: 1_577_836_800), days: 10_957))
    let signing = try EmulatorSigning(jws: identity)
    let developerKey = try PrivateKey.generateP256()
    let (keyId, issuerId) = ("ABC123DEFG", "57246542-96fe-1a63-e053-0824d011072a")
    let clock = clock ?? EmulatorClock(at: start, rate: 0)
    var options = LocalStore.Options(bundleIdentifier: bundleId)
    options.engine.seed = seed
    configure(&options.engine)
    let emulator = try EmulatedAppStore(
      EmulatedAppStore.Configuration(
        bundleId: bundleId,
        developerKeys: [DeveloperKey(keyId: keyId, issuerId: issuerId, publicKey: developerKey.publicKey)]),
      signing: signing, clock: clock, catalog: catalog, options: options)
    clock.add(emulator)
    self.bundleId = bundleId
    self.clock = clock
    root = signing.root
    verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [signing.root]),
      policy: VerificationPolicy(bundleIds: .oneOf([bundleId]), environments: [.sandbox]),
      clock: { clock.now })
    client = AppStoreServerClient(
      transport: EmulatorTransport(sandbox: emulator),
      signer: try DeveloperSigner(
        privateKey: developerKey, keyId: keyId, issuerId: issuerId, bundleId: bundleId),
      address: .sandbox, verifier: verifier)
    store = Mutex(emulator)
  }

  func end() async { try? await purchases.close() }

  // MARK: Customers

  /// A customer buys a product.
  ///
  /// - Parameters:
  ///   - productId: The product.
  ///   - customer: The customer's account with the store, any name.
  ///   - quantity: The quantity, for a consumable.
  ///   - appAccountToken: The customer's UUID at the backend, which the signed transaction repeats.
  ///   - offer: The offer to redeem.
  /// - Returns: The transaction, whose `receipt` is the signed transaction (JWS).
  /// - Throws: ``TestStoreError`` if the store does not sell it, or the payment waits for approval.
  @discardableResult
  public func buy(
    _ productId: String, by customer: String, quantity: Int = 1, appAccountToken: String? = nil,
    offer: PaymentOffer? = nil
  ) async throws -> StoreTransaction {
    let payment = Payment(
      productIdentifier: productId, quantity: quantity, applicationUsername: appAccountToken, offer: offer)
    let request = PurchaseRequest(id: DeveloperSigner.randomNonce().rawValue, payment: payment)
    let outcome = try await purchases.session(account: customer).purchase(request)
    try await passOneSecond()
    switch outcome {
    case .purchased(let transaction): return transaction
    case .pending: throw TestStoreError("The payment for \(productId) waits for approval: purchases.approve.")
    case .failed(let error): throw TestStoreError("\(customer) could not buy \(productId): \(error)")
    }
  }

  /// A customer, or the vendor, changes a subscription, a price or a billing state.
  ///
  /// - Throws: `LocalStoreError`.
  public func perform(_ change: SubscriptionChange) async throws {
    try await purchases.perform(change)
    try await passOneSecond()
  }

  /// Switches renewal off, as a customer does who cancels.
  ///
  /// - Parameter subscription: The original transaction.
  /// - Throws: `LocalStoreError`.
  public func cancel(_ subscription: String) async throws {
    try await perform(.setAutoRenew(false, of: subscription))
  }

  /// The store refunds a purchase.
  ///
  /// - Parameter transaction: A transaction; of a subscription, its period is refunded.
  /// - Throws: `LocalStoreError`.
  public func refund(_ transaction: String) async throws {
    try await purchases.refund(transaction)
    try await passOneSecond()
  }

  private func passOneSecond() async throws { try await advance(to: now.addingSeconds(1)) }

  // MARK: Time

  /// Advances the clock by a period, such as `P1M` or `P3D`. Everything due happens at its own time.
  ///
  /// - Throws: ``TestStoreError`` if the text is no period; `LocalStoreError`.
  public func advance(by period: String) async throws {
    try await advance(to: TestStoreError.end(of: period, from: now))
  }

  /// Advances the clock to a time. Everything due until then happens at its own time. An earlier time has no effect.
  ///
  /// - Throws: `LocalStoreError`.
  public func advance(to time: Timestamp) async throws { try await emulator.advance(to: time) }

  // MARK: Notifications

  /// The notifications since the last call of this function, oldest first. `signedPayload` is what the store sends.
  ///
  /// - Throws: `LocalStoreError`.
  public func notifications() async throws -> [SignedNotification] {
    var found: [SignedNotification] = []
    while true {
      let last = found.last?.number ?? lastNotification.withLock { $0 }
      let page = try await purchases.notifications(after: last)
      guard let newest = page.last else { return found }
      found += page
      lastNotification.withLock { $0 = newest.number }
    }
  }

  /// Sends notifications from now on to a backend, as the App Store does: a status other than 200 to 206 makes the store
  /// send again after 1, 12, 24, 48 and 72 hours of its clock.
  ///
  /// - Parameter receive: The backend. It gets the body of the request, and returns the status of its response.
  public func sendNotifications(to receive: @escaping @Sendable ([UInt8]) async -> Int) async {
    var emulator = emulator
    await emulator.sendNotifications(
      to: "https://backend.test/", over: Backend { await receive($0.body ?? []) })
    let sending = emulator
    store.withLock { $0 = sending }
    clock.add(sending)
  }
}

/// A backend in the same process.
struct Backend: HTTPTransport {
  let respond: @Sendable (RemoteRequest) async -> Int

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    RemoteResponse(status: await respond(request))
  }
}

/// An error that indicates that a test's store is missing, or did not do what the test asked for.
public struct TestStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason, with what to do about it.
  public let description: String

  init(_ description: String) { self.description = description }

  static func end(of period: String, from start: Timestamp) throws(TestStoreError) -> Timestamp {
    guard let period = SubscriptionPeriod(period) else {
      throw TestStoreError("\"\(period)\" is not a period such as P3D, P1W, P1M or P1Y.")
    }
    return SubscriptionCalendar().end(of: period, from: start)
  }
}
