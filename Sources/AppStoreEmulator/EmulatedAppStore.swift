// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptHTTP
public import ReceiptVerification

/// The App Store's endpoints, for tests: the App Store Server API and `verifyReceipt`, of one app in one
/// environment.
///
/// It has no sockets. `app-store-emulator` serves it over HTTP and TLS; a test can ask it as it is:
///
/// ```swift
/// let store = EmulatedAppStore(signing: try EmulatorSigning())
/// store.state.withState { $0.add(transaction: SampleReceipts.transaction) }
/// let response = await store.respond(to: EmulatorRequest("GET", target: "/inApps/v1/transactions/2000000001"))
/// ```
///
/// What it signs is really signed, and tokens are really checked.
public struct EmulatedAppStore: Sendable {
  /// Which app this is, and who may ask.
  public struct Configuration: Sendable {
    /// `production` or `sandbox`.
    public var environment: ReceiptEnvironment
    /// The app's bundle identifier.
    public var bundleId: String
    /// The app's identifier in the App Store.
    public var appAppleId: Int64
    /// Whose tokens are accepted; `nil` checks none.
    public var developerKeys: [DeveloperKey]?
    /// What `verifyReceipt` requires as `password` for subscriptions; `nil` requires none.
    public var sharedSecret: String?
    /// The time of day.
    public var clock: @Sendable () -> Timestamp

    /// Creates a configuration: by default of the app of the sample receipts, in the sandbox, for any developer.
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

  /// Which app this is.
  public let configuration: Configuration
  /// Who signs.
  public let signing: EmulatorSigning
  /// What it knows.
  public let state: any EmulatorStore
  /// What goes wrong.
  public let faults: FaultScript
  /// What was asked.
  public let statistics: EmulatorStatistics

  /// Creates one.
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

  /// Answers a request as if nothing could go wrong.
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

  /// Answers a request, with the fault whose turn it is.
  public func deliver(_ request: EmulatorRequest) async -> EmulatorDelivery {
    let (response, fault) = await faultyResponse(to: request)
    return fault?.delivery(of: response) ?? EmulatorDelivery(response)
  }

  /// The answer, with the faults of its delivery.
  func faultyResponse(to request: EmulatorRequest) async -> (EmulatorResponse, EmulatorFault?) {
    guard let fault = faults.next(for: request) else { return (await respond(to: request), nil) }
    if let response = fault.replacement(for: request, now: configuration.clock()) {
      statistics.count("fault", authorization: request.header("Authorization"))
      return (response, nil)
    }
    var response = await respond(to: request)
    switch fault {
    case .truncatedJSON: response.body = Array(response.body.prefix(response.body.count / 2))
    case .flippedBit, .untrustedSigner, .otherApp, .otherEnvironment:
      response.body = SignedPayloadFaults(signing: signing).apply(fault, to: response.body)
    default: return (response, fault)
    }
    return (response, nil)
  }
}
