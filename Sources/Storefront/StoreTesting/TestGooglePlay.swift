// SPDX-License-Identifier: Apache-2.0

public import AppStoreEmulator
public import GooglePlay
public import GooglePlayEmulator
internal import ReceiptBytes
public import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptHTTP
public import ReceiptVerification
internal import Storefront
internal import Synchronization

/// A Google Play in this process, without sockets, that lives as long as one test: see ``StoreTrait``.
///
/// Its clock stands still until the test advances it; each purchase, change and refund takes one second of it. The app's
/// key, which signs purchases, is the test's own.
public final class TestGooglePlay: ScopedStore {
  @TaskLocal private static var scoped: TestGooglePlay?
  static var scope: TaskLocal<TestGooglePlay?> { $scoped }

  /// The store of the test that runs.
  ///
  /// - Throws: ``TestStoreError`` if the test does not have the trait, or in a detached task, which does not inherit
  ///   its test's values: pass the store to it.
  public static var current: TestGooglePlay {
    get throws(TestStoreError) {
      guard let scoped else {
        throw TestStoreError(
          "There is no Google Play here. Write @Test(.googlePlay()), or pass the store to the task.")
      }
      return scoped
    }
  }

  /// The app.
  public let packageName: String
  /// The client of the Play Developer API, connected to this store with an account that it accepts.
  public let client: GooglePlayClient
  /// The store's clock.
  public let clock: EmulatorClock
  /// Sends requests of other clients to this store, whatever their host.
  public let transport: EmulatedPlayTransport

  private let play: EmulatedPlay
  private let store: EmulatedPlayStore

  /// The time of the store's clock.
  public var now: Timestamp { clock.now }

  init(
    catalog: ProductCatalog, packageName: String, clock: EmulatorClock?, start: Timestamp,
    configure: (inout SubscriptionEngine.Options) -> Void
  ) throws {
    let clock = clock ?? EmulatorClock(at: start, rate: 0)
    var options = LocalStore.Options(bundleIdentifier: packageName)
    configure(&options.engine)
    let now: @Sendable () -> Timestamp = { SystemClock.now() }
    store = try EmulatedPlayStore(
      packageName: packageName, signing: EmulatorSigning(), clock: clock, clientClock: now, catalog: catalog,
      options: options)
    let (account, keyFile) = try PlayServiceAccount.make(tokenURI: "https://oauth2.googleapis.com/token")
    play = EmulatedPlay([store], accounts: [account], clock: now)
    transport = EmulatedPlayTransport(play)
    client = GooglePlayClient(
      transport: transport, account: try ServiceAccount(keyFile: keyFile), packageName: packageName)
    self.packageName = packageName
    self.clock = clock
  }

  func end() async { try? await store.close() }

  // MARK: Customers

  /// A purchase as the app receives it.
  public struct Purchase: Sendable, Hashable {
    /// The token by which the Play Developer API knows the purchase.
    public let purchaseToken: String
    /// The order, such as `GPA.3374-…`.
    public let orderId: String
    /// The signed data: `INAPP_PURCHASE_DATA`.
    public let purchaseData: String
    /// The signature of the data, in base64: `INAPP_DATA_SIGNATURE`.
    public let signature: String

    /// The purchase as a verifier reads it: a JSON object of data and signature.
    public var receipt: [UInt8] {
      let object: JSONMembers = ["data": purchaseData, "signature": signature]
      return object.encoded()
    }
  }

  /// A customer buys a product. A purchase that is not acknowledged within three days of the store's clock is refunded.
  ///
  /// - Parameters:
  ///   - productId: The product.
  ///   - customer: The customer's account with the store, any name.
  ///   - obfuscatedAccountId: The customer at the backend, which the purchase repeats.
  /// - Returns: The purchase, as the app receives it.
  /// - Throws: ``TestStoreError`` if the store does not sell it.
  @discardableResult
  public func buy(
    _ productId: String, by customer: String, obfuscatedAccountId: String? = nil
  ) async throws -> Purchase {
    let answer = try await control(
      "buy", ["account": customer, "productId": productId, "obfuscatedAccountId": obfuscatedAccountId])
    func text(_ name: String) throws(TestStoreError) -> String {
      guard let text = answer[name]?.string else {
        throw TestStoreError("The store did not sell \(productId).")
      }
      return text
    }
    return Purchase(
      purchaseToken: try text("purchaseToken"), orderId: try text("orderId"),
      purchaseData: try text("purchaseData"), signature: try text("signature"))
  }

  /// Switches renewal off, as a customer does who cancels.
  ///
  /// - Throws: ``TestStoreError`` if there is no such subscription.
  public func cancel(_ purchaseToken: String) async throws {
    try await control("cancel", ["purchaseToken": purchaseToken])
  }

  /// The store refunds an order, and takes the purchase back.
  ///
  /// - Throws: ``TestStoreError`` if there is no such order, or it was refunded before.
  public func refund(_ orderId: String) async throws { try await control("refund", ["orderId": orderId]) }

  /// Verifies purchases that this store signs for the app, at the time of the store's clock.
  ///
  /// - Returns: The verifier, which trusts the app's key.
  /// - Throws: `CryptoError` if the app's key cannot be made.
  public func verifier() async throws -> ReceiptVerifier {
    var policy = VerificationPolicy(bundleIds: .oneOf([packageName]), environments: [.sandbox])
    let key = try PublicKey(inFile: Array(try await store.publicKey().utf8))
    policy.appKeys = AppKeys([AppKey(.googlePlay, package: packageName, publicKey: key)])
    policy.unstatedEnvironment = .accept
    return ReceiptVerifier(
      trust: TrustAnchors(certificates: []), policy: policy, clock: { [clock] in clock.now })
  }

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
  public func advance(to time: Timestamp) async throws { try await clock.pass(until: time, for: store) }

  // MARK: Notifications

  /// Pushes Real-time Developer Notifications from now on to a backend, as Cloud Pub/Sub does: a status that does not
  /// accept a message makes it come again.
  ///
  /// - Parameters:
  ///   - audience: The audience of the tokens, by which the backend knows that a push is for it.
  ///   - receive: The backend. It gets the value of the header `Authorization` and the body of the request, and returns
  ///     the status of its response. ``transport`` answers requests for the keys of the tokens.
  public func sendNotifications(
    audience: String = "https://backend.test/",
    to receive: @escaping @Sendable (_ authorization: String?, _ body: [UInt8]) async -> Int
  ) {
    play.pushNotifications(
      to: "https://backend.test/", audience: audience,
      over: Backend { request in
        let header = request.headers.first { $0.name.lowercased() == "authorization" }
        return await receive(header?.value, request.body ?? [])
      })
  }

  /// Lets something happen by one of the controls that the documentation of `GooglePlayEmulator` lists, such as `pause`
  /// with the member `purchaseToken`.
  ///
  /// - Throws: ``TestStoreError`` with the store's message.
  public func control(_ name: String, _ members: [String: String]) async throws {
    try await control(
      name,
      JSONMembers(
        members.sorted { $0.key < $1.key }.map { JSONMember(name: $0.key, value: .string($0.value)) }))
  }

  @discardableResult
  private func control(_ name: String, _ members: JSONMembers) async throws -> JSONValue {
    let response = await play.respond(
      to: EmulatorRequest("POST", target: "/_emulator/play/\(name)", body: members.encoded()))
    let answer = try JSONValue(parsing: response.body)
    guard response.status == 200 else {
      throw TestStoreError(answer["error"]?.string ?? "The store answered with \(response.status).")
    }
    try await advance(to: now.addingSeconds(1))
    return answer
  }
}
