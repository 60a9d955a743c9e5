// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
@_exported public import ReceiptHTTP
public import Storefront
internal import Synchronization

/// The App Store's endpoints, for tests: the App Store Server API and `verifyReceipt`, for one app in one environment.
///
/// It has no sockets. `store-emulator` serves it over HTTP and TLS; a test can call it directly:
///
/// ```swift
/// let store = try EmulatedAppStore(signing: try EmulatorSigning())
/// let alice = store.purchases.session(account: "alice")
/// let request = PurchaseRequest(id: "1", payment: Payment(productIdentifier: "com.example.app.monthly"))
/// guard case .purchased(let sold) = try await alice.purchase(request) else { return }
/// let response = await store.respond(
///   to: EmulatorRequest("GET", target: "/inApps/v1/transactions/\(sold.transactionIdentifier)"))
/// ```
///
/// Purchases are kept in a `LocalStore`, and the endpoints answer from it. Signatures are genuine, and tokens are
/// verified.
public struct EmulatedAppStore: Sendable, ClockFollower {
  package let configuration: Configuration
  package let signing: EmulatorSigning
  /// Products, purchases, customers and notifications.
  public let purchases: LocalStore
  /// The state besides purchases: retention messages, groups and so on.
  package let state = Shared(EmulatorState())
  /// The clients' time. It determines whether tokens and certificates are valid, even if the store's time was
  /// advanced.
  package let clientClock: @Sendable () -> Timestamp
  /// The store's clock, if it can be advanced.
  public let clock: EmulatorClock?
  /// Sends notifications; `nil` if none are sent.
  private(set) var sender: NotificationSender?
  /// The fault script.
  public let faults = FaultScript()
  package let statistics = EmulatorStatistics()

  /// Creates a store.
  ///
  /// - Parameters:
  ///   - configuration: The app and the accepted credentials.
  ///   - signing: The signing identities.
  ///   - clock: The store's time. If it is given, the configuration's clock is the clients' time.
  ///   - catalog: The products to sell; by default those of the sample receipts.
  ///   - storage: The storage of the purchases.
  ///   - options: The options of the store. The app and the environment come from the configuration.
  /// - Throws: `LocalStoreError`.
  public init(
    _ configuration: Configuration = Configuration(), signing: EmulatorSigning, clock: EmulatorClock? = nil,
    catalog: ProductCatalog = .sample, storage: any RecordStorage = MemoryRecordStorage(),
    options: LocalStore.Options = LocalStore.Options(bundleIdentifier: "")
  ) throws(LocalStoreError) {
    clientClock = configuration.clock
    var configuration = configuration
    if let clock { configuration.clock = { clock.now } }
    var options = options
    options.engine.bundleIdentifier = configuration.bundleId
    options.engine.environment = configuration.environment
    options.appAppleId = configuration.appAppleId
    self.configuration = configuration
    self.signing = signing
    self.clock = clock
    purchases = try LocalStore(
      catalog: catalog, identity: signing.identity, storage: storage, options: options,
      clock: configuration.clock)
  }

  /// Sends notifications to the notification URL in the state, as the App Store's server does.
  ///
  /// - Parameters:
  ///   - url: The URL that receives the notifications.
  ///   - transport: Sends requests.
  ///   - timeout: The longest time an answer may take, in real time.
  ///   - retries: `true` to send a failed notification again.
  public mutating func sendNotifications(
    to url: String, over transport: any HTTPTransport, timeout: Duration = .seconds(10), retries: Bool = true
  ) async {
    let state = state
    state.withState { $0 = EmulatorState(notificationURL: url) }
    await purchases.setSendsNotifications(true)
    sender = NotificationSender(
      store: purchases, transport: transport, timeout: timeout, retries: retries, now: configuration.clock,
      url: { state.withState { $0.notificationURL } })
  }

  /// Performs everything that is due up to a time, and then sets the clock to that time. Each event, and each attempt
  /// to send a notification, takes place at its own date.
  ///
  /// - Throws: `LocalStoreError`.
  public func advance(to target: Timestamp) async throws {
    guard let clock else { return try await performDue() }
    try await clock.pass(until: target, for: self)
  }

  /// The date of the next event, or of the next attempt to send a notification if that is earlier.
  package func nextDueDate() async throws -> Timestamp? {
    let event = try await purchases.nextDueDate()
    let attempt = try await sender?.nextAttempt()
    return [event, attempt].compactMap(\.self).min()
  }

  package func performDue() async throws {
    try await purchases.advance(to: configuration.clock())
    try await sender?.sendDue()
  }

  /// Performs everything as it becomes due, until the task is cancelled.
  ///
  /// - Parameter report: Receives the error if the storage fails. A repeated error is reported once, until the storage
  ///   works again. Failed work is retried all the time, because a full disk may have space later.
  public func run(report: @Sendable (any Error) -> Void) async { await performWhenDue(report) }

  /// Answers a request without applying faults.
  package func respond(to request: EmulatorRequest) async -> RemoteResponse {
    if request.path.first == "store" { return await customerResponse(to: request) }
    let authorization = request.header("Authorization")
    guard let (route, parameters) = Route.match(request) else {
      statistics.count("unknown", authorization: authorization)
      return .text("There is no such resource.\n", status: 404)
    }
    statistics.count(route.pattern.name, authorization: authorization)
    guard route.pattern.method == request.method else {
      return .text("The method is \(route.pattern.method).\n", status: 405)
    }
    if route.needsToken, let keys = configuration.developerKeys {
      let checks = BearerTokenChecks(keys: keys, bundleId: configuration.bundleId, now: clientClock())
      guard checks.accepts(request.bearerToken) else { return .text("Unauthenticated\n", status: 401) }
    }
    let call = EndpointCall(
      store: self, request: request, parameters: parameters, now: configuration.clock())
    do {
      return try await route.answer(call)
    } catch {
      return .failure(error)
    }
  }

  /// Answers a request of the store's own protocol, which `HTTPStore` uses. The customer's token is the account.
  private func customerResponse(to request: EmulatorRequest) async -> RemoteResponse {
    let purchases = purchases
    let handler = StoreRequestHandler { account in account.map { purchases.session(account: $0) } }
    let path = "/" + request.path.dropFirst().joined(separator: "/")
    statistics.count("\(request.method) /store\(path)", authorization: nil)
    return await handler.response(
      method: request.method, path: path, headers: request.headers, body: request.body)
  }

  /// Answers a request by the store or another handler, applying the next fault of the script.
  package func deliver(
    _ request: EmulatorRequest, _ answer: ((EmulatorRequest) async -> RemoteResponse)? = nil
  ) async -> EmulatorDelivery {
    let (response, fault) = await faultyResponse(to: request, answer ?? respond(to:))
    return EmulatorDelivery(response, fault)
  }

  /// Returns an answer whose content has the next fault applied, and the fault if there is one.
  func faultyResponse(
    to request: EmulatorRequest, _ answer: (EmulatorRequest) async -> RemoteResponse
  ) async -> (RemoteResponse, EmulatorFault?) {
    let now = clientClock()
    guard let fault = faults.next(for: request, at: now) else { return (await answer(request), nil) }
    if let response = fault.replacement(for: request, now: now) {
      statistics.count("fault", authorization: request.header("Authorization"))
      return (response, fault)
    }
    var response = await answer(request)
    switch fault {
    case .truncatedJSON: response.body = Array(response.body.prefix(response.body.count / 2))
    case .flippedBit, .untrustedSigner, .otherApp, .otherEnvironment:
      response.body = signing.applying(fault, to: response.body)
    default: break
    }
    return (response, fault)
  }
}

extension EmulatorState {
  /// Creates an empty state with a notification URL.
  package init(notificationURL: String? = nil) {
    self.init(notificationURL: notificationURL, defaultNotificationURL: notificationURL)
  }
}

/// A value that several tasks read and change. Changes are atomic and do not overlap.
package final class Shared<State: Sendable>: Sendable {
  private let state: Mutex<State>

  package init(_ state: State) { self.state = Mutex(state) }

  /// Reads or changes the state. If the closure throws, its earlier changes are kept.
  package func withState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try state.withLock { state in try body(&state) }
  }
}
