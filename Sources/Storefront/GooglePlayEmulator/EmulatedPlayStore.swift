// SPDX-License-Identifier: Apache-2.0

public import AppStoreEmulator
internal import GooglePlay
internal import ReceiptBytes
public import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptHTTP
public import Storefront
internal import Synchronization

/// One app at an emulated Google Play. Its purchases are kept in a `LocalStore`, the same engine as the App Store's.
///
/// The engine performs renewals, billing failures, refunds and expiry. Google Play's own data is kept beside them in
/// the same storage: purchase tokens, orders, acknowledgement, consumption, links between purchases, notifications.
public final class EmulatedPlayStore: Sendable {
  /// The number of days in which a purchase must be acknowledged. After that it is refunded and revoked.
  package static let acknowledgementDays: Double = 3
  /// The number of days for which an expired subscription can be requested.
  package static let rememberedDays: Double = 60

  package let packageName: String
  /// `true` if purchases are those of licence testers by default.
  let isTest: Bool
  /// The two letters of the region in which it sells; `nil` if the storefront is unknown.
  let region: String?
  /// The engine, with its clock, its faults and its statistics.
  let host: EmulatedAppStore
  let ledger: PlayLedger
  let quotas = PlayQuotas()
  private let gate = Gate()
  /// The app's key, and the PEM that it was read from.
  private let key = Mutex<(pem: String, key: PrivateKey)?>(nil)
  let settings = Shared(Settings())
  /// The customers whose next payment stays pending.
  private let pending: Shared<Set<String>>
  private let sender = Mutex<PushSender?>(nil)

  struct Settings: Sendable {
    var push = PushSubscription()
    var permissions = Set(PlayRoute.Permission.allCases)
  }

  /// Creates a store.
  ///
  /// - Parameters:
  ///   - packageName: The app's package name.
  ///   - isTest: `true` if purchases are those of licence testers by default.
  ///   - signing: Signs the engine's own records, which no client of Google Play sees.
  ///   - clock: The time, which another store may share.
  ///   - clientClock: The clients' time, which determines whether tokens are valid.
  ///   - catalog: The products to sell.
  ///   - storage: The storage of the purchases.
  ///   - options: The options of the engine.
  /// - Throws: `LocalStoreError`.
  public init(
    packageName: String, isTest: Bool = true, signing: EmulatorSigning, clock: EmulatorClock,
    clientClock: @escaping @Sendable () -> Timestamp, catalog: ProductCatalog = .sample,
    storage: any RecordStorage = MemoryRecordStorage(),
    options: LocalStore.Options = LocalStore.Options(bundleIdentifier: "")
  ) throws(LocalStoreError) {
    let pending = Shared<Set<String>>([])
    let otherwise = options.authorization
    var options = options
    options.authorize = { _, account in
      pending.withState { $0.contains(account) } ? .ask : otherwise
    }
    var configuration = EmulatedAppStore.Configuration(bundleId: packageName)
    configuration.environment = isTest ? .sandbox : .production
    configuration.clock = clientClock
    self.packageName = packageName
    self.isTest = isTest
    region = StorefrontRegion(countryCode: options.engine.storefront)?.regionCode
    self.pending = pending
    host = try EmulatedAppStore(
      configuration, signing: signing, clock: clock, catalog: catalog, storage: storage, options: options)
    ledger = PlayLedger(store: host.purchases)
    clock.add(self)
  }

  /// Closes the store and its storage.
  package func close() async throws { try await ledger.store.close() }

  package func lastEventDate() async throws -> Timestamp { try await ledger.store.lastEventDate() }

  var now: Timestamp { host.configuration.clock() }

  /// Pushes messages from now on, if there is a push endpoint.
  func pushMessages(over transport: any HTTPTransport, timeout: Duration, keys: PushKeys) {
    let sender = PushSender(
      ledger: ledger, transport: transport, timeout: timeout, keys: keys, now: host.configuration.clock,
      clientClock: host.clientClock, subscription: { [self] in settings.withState { $0.push } })
    self.sender.withLock { $0 = sender }
  }

  var pushSender: PushSender? { sender.withLock { $0 } }

  /// Runs operations one after the other. They must not wait for the developer's server, which may send requests
  /// meanwhile.
  func exclusively<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await gate.run(body)
  }

  func follower(_ requested: [String: PlayPurchase] = [:]) -> PlayFollower {
    PlayFollower(
      ledger: ledger, packageName: packageName, isTest: isTest,
      pushes: settings.withState { $0.push.url } != nil, now: now, requested: requested)
  }

  /// Processes the engine's new events.
  func follow(requesting requested: [String: PlayPurchase] = [:]) async throws {
    var follower = follower(requested)
    try await follower.follow()
  }

  /// Refunds and revokes the purchase that a transaction charged for.
  func refund(
    _ transaction: String, of purchase: PlayPurchase, source: Int64, reason: Int64, amount: RefundAmount
  ) async throws {
    var purchase = purchase
    guard let index = purchase.orders.firstIndex(where: { $0.transactionId == transaction }) else { return }
    // Stored first, so that the voided purchase has its source and reason even after a crash.
    purchase.orders[index].voidedSource = source
    purchase.orders[index].voidedReason = reason
    try await ledger.put(purchase)
    do throws(LocalStoreError) {
      try await ledger.store.refund(transaction, amount: amount)
    } catch {
      purchase.orders[index].voidedSource = nil
      purchase.orders[index].voidedReason = nil
      try await ledger.put(purchase)
      throw error.code == .refused ? PlayError.alreadyRefunded : PlayError(error)
    }
    try await follow()
  }

  /// Answers a request of the Play Developer API; `path` is the part after the package name.
  func respond(to request: EmulatorRequest, path: [String], _ tokens: TokenEndpoint?) async
    -> RemoteResponse
  {
    let request = request.withQueryOfBody()
    let authorization = request.header("Authorization")
    guard let (route, parameters) = PlayRoute.match(request.method, path) else {
      host.statistics.count("unknown", authorization: authorization)
      return PlayError.notFound.response
    }
    host.statistics.count(route.pattern.name, authorization: authorization)
    do {
      try tokens?.check(request)
      guard
        settings.withState({ $0.permissions.contains(route.permission) && $0.permissions.contains(.viewApp) })
      else { throw PlayError.permissionDenied }
      try quotas.count(route.bucket, at: host.clientClock())
      return try await exclusively { [self] in
        try await follow()
        let call = PlayCall(play: self, request: request, parameters: parameters, now: now)
        let response = try await route.answer(call)
        if request.method != "GET" { try await follow() }
        return response
      }
    } catch let error as LocalStoreError {
      return PlayError(error).response
    } catch {
      return (error as? PlayError ?? .internal("\(error)")).response
    }
  }

  func setPending(_ isPending: Bool, _ account: String) {
    pending.withState { accounts in
      if isPending { accounts.insert(account) } else { accounts.remove(account) }
    }
  }

  /// A purchase as the app receives it: `INAPP_PURCHASE_DATA`, its signature, RSA PKCS#1 v1.5 with SHA-1, and the app's
  /// public key.
  func signedPurchase(_ view: PlayView) async throws -> JSONMembers {
    let data = view.purchaseData(packageName: packageName).encoded()
    let signature = try await appKey().signature(for: data, using: .rsaPKCS1v15(.sha1))
    return [
      "purchaseData": String(decoding: data, as: UTF8.self), "signature": Base64.encodeToString(signature),
      "publicKey": try await publicKey(),
    ]
  }

  /// The app's public key in base64, as the console shows it.
  package func publicKey() async throws -> String {
    Base64.encodeToString(try await appKey().publicKey.subjectPublicKeyInfo)
  }

  /// The app's key, which is generated at first use.
  private func appKey() async throws -> PrivateKey {
    var header = try await ledger.header()
    if let known = key.withLock({ $0 }), known.pem == header.appKey { return known.key }
    let appKey = try header.appKey.map { try PrivateKey(pem: $0) } ?? .generateRSA(bits: 2048)
    let pem = try header.appKey ?? appKey.pkcs8PEM()
    if header.appKey == nil {
      header.appKey = pem
      try await ledger.commit(PlayLedger.Change(header))
    }
    key.withLock { $0 = (pem, appKey) }
    return appKey
  }
}

extension EmulatorRequest {
  /// The `GET` that a client meant whose query is too long for a URL, and in the body of a `POST`.
  fileprivate func withQueryOfBody() -> EmulatorRequest {
    guard method == "POST", header("X-HTTP-Method-Override") == "GET" else { return self }
    let form = EmulatorRequest("GET", target: "/?" + String(decoding: body, as: UTF8.self))
    var request = self
    (request.method, request.query, request.body) = ("GET", query + form.query, [])
    return request
  }
}

extension EmulatedPlayStore: ClockFollower {
  /// The date of the next event, the next deadline, or the next push, whichever is first.
  package func nextDueDate() async throws -> Timestamp? {
    let event = try await ledger.store.nextDueDate()
    let deadline = try await ledger.deadlines(limit: 1).first?.date
    let push =
      settings.withState({ $0.push.url }) != nil && pushSender != nil
      ? try await ledger.nextMessage()?.date : nil
    return [event, deadline, push].compactMap(\.self).min()
  }

  /// Performs everything that is due now, deadlines included, and pushes messages.
  package func performDue() async throws {
    try await exclusively { [self] in
      try await follow()
      while let next = try await ledger.deadlines(limit: 1).first, next.date <= now {
        try await performDeadline(of: next.token)
      }
    }
    try await pushSender?.sendDue()
  }

  /// Refunds a purchase that was not acknowledged in time, or begins a planned pause of a subscription.
  private func performDeadline(of token: String) async throws {
    guard var purchase = try await ledger.purchase(token: token) else { return }
    if let pause = purchase.pauseDate, !purchase.isPaused, purchase.deadline == pause {
      purchase.hasPaused = true
      guard try await PlayView(purchase, in: ledger.store).subscriptionState == "PAUSED" else {
        purchase.endPause()
        return try await ledger.put(purchase)
      }
      return try await post(10, of: purchase)
    }
    purchase.acknowledgementDeadline = nil
    try await ledger.put(purchase)
    let view = try await PlayView(purchase, in: ledger.store)
    guard view.isOwned, let transaction = view.transaction?.transactionId,
      let charged = try await ledger.purchase(.transaction(transaction))
    else { return }
    try await refund(transaction, of: charged, source: 2, reason: 8, amount: .full)
  }

  /// Performs everything as it becomes due, until the task is cancelled.
  public func run() async {
    // If the storage fails now, it may work later. Requests report the failure.
    await performWhenDue()
  }
}
