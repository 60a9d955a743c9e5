// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptHTTP
public import ReceiptVerification

/// The App Store's endpoints, for tests: the App Store Server API and `verifyReceipt`, for one app in one environment.
///
/// It has no sockets. `app-store-emulator` serves it over HTTP and TLS; a test can call it directly:
///
/// ```swift
/// let store = EmulatedAppStore(signing: try EmulatorSigning())
/// store.state.withState { $0.add(transaction: SampleReceipts.transaction) }
/// let response = await store.respond(to: EmulatorRequest("GET", target: "/inApps/v1/transactions/2000000001"))
/// ```
///
/// Signatures are genuine, and tokens are verified.
public struct EmulatedAppStore: Sendable {
  /// The app, and the accepted credentials.
  public struct Configuration: Sendable {
    /// `production` or `sandbox`.
    public var environment: ReceiptEnvironment
    /// The app's bundle identifier.
    public var bundleId: String
    /// The app's identifier in the App Store.
    public var appAppleId: Int64
    /// The key whose tokens are accepted; `nil` accepts any request.
    public var developerKeys: [DeveloperKey]?
    /// The `password` that `verifyReceipt` requires for subscriptions; `nil` for none.
    public var sharedSecret: String?
    /// The time of day.
    public var clock: @Sendable () -> Timestamp

    /// Creates a configuration. The default is the app of the sample receipts, in the sandbox, without credentials.
    public init(
      environment: ReceiptEnvironment = .sandbox, bundleId: String = "com.example.app",
      appAppleId: Int64 = 1_234_567_890, developerKeys: [DeveloperKey]? = nil, sharedSecret: String? = nil,
      clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() }
    ) {
      self.environment = environment
      self.bundleId = bundleId
      self.appAppleId = appAppleId
      self.developerKeys = developerKeys
      self.sharedSecret = sharedSecret
      self.clock = clock
    }
  }

  /// The app and the accepted credentials.
  public let configuration: Configuration
  /// The signing identities.
  public let signing: EmulatorSigning
  /// The state: purchases, notifications and so on.
  public let state: any EmulatorStore
  /// The fault script.
  public let faults: FaultScript
  /// The counts of requests.
  public let statistics: EmulatorStatistics

  /// Creates a store.
  public init(
    _ configuration: Configuration = Configuration(), signing: EmulatorSigning,
    state: any EmulatorStore = MemoryEmulatorStore(), faults: FaultScript = FaultScript(),
    statistics: EmulatorStatistics = EmulatorStatistics()
  ) {
    self.configuration = configuration
    self.signing = signing
    self.state = state
    self.faults = faults
    self.statistics = statistics
  }

  /// Answers a request without faults.
  public func respond(to request: EmulatorRequest) async -> EmulatorResponse {
    guard let match = Route.match(request) else {
      statistics.count("unknown", authorization: request.header("Authorization"))
      return .text("There is no such resource.\n", status: 404)
    }
    statistics.count(match.route.name, authorization: request.header("Authorization"))
    guard match.route.method == request.method else {
      return .text("The method is \(match.route.method).\n", status: 405)
    }
    let now = configuration.clock()
    if match.route.needsToken, let keys = configuration.developerKeys {
      let checks = BearerTokenChecks(keys: keys, bundleId: configuration.bundleId, now: now)
      guard checks.accepts(authorization: request.header("Authorization")) else {
        return .text("Unauthenticated\n", status: 401)
      }
    }
    let call = EndpointCall(store: self, request: request, parameters: match.parameters, now: now)
    do throws(EmulatorError) {
      return try match.route.answer(call)
    } catch {
      return error.response
    }
  }

  /// Answers a request, with the next fault of the script.
  public func deliver(_ request: EmulatorRequest) async -> EmulatorDelivery {
    let (response, fault) = await faultyResponse(to: request)
    return EmulatorDelivery(response, fault)
  }

  /// The answer with the faults of its delivery.
  func faultyResponse(to request: EmulatorRequest) async -> (EmulatorResponse, EmulatorFault?) {
    let now = configuration.clock()
    guard let fault = faults.next(for: request, at: now) else { return (await respond(to: request), nil) }
    if let response = fault.replacement(for: request, now: now) {
      statistics.count("fault", authorization: request.header("Authorization"))
      return (response, fault)
    }
    var response = await respond(to: request)
    switch fault {
    case .truncatedJSON: response.body = Array(response.body.prefix(response.body.count / 2))
    case .flippedBit, .untrustedSigner, .otherApp, .otherEnvironment:
      response.body = SignedPayloadFaults(signing: signing).apply(fault, to: response.body)
    default: break
    }
    return (response, fault)
  }
}
