// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptSigning

/// Calls the App Store Server API and returns what it answers, signed parts as they came: nobody has verified
/// them. ``AppStoreServerClient`` verifies.
///
/// One client may be used from any number of tasks at once; copies share their token. The transport is the
/// caller's, who shuts it down.
public struct RawAppStoreServerClient: Sendable {
  /// Which App Store is called.
  public let address: AppStoreServerAddress
  /// Signs the tokens.
  public let tokens: AppStoreServerTokens
  /// How often and how long a call is tried.
  public var retry: RetryPolicy

  let transport: any HTTPTransport
  let time: RemoteTime

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - signer: Signs the tokens, and names the app.
  ///   - address: Which App Store is called; production by default.
  ///   - retry: How often and how long a call is tried.
  ///   - time: Clocks and dice; the system's by default.
  public init(
    transport: any HTTPTransport, signer: DeveloperSigner, address: AppStoreServerAddress = .production,
    retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.init(
      transport: transport, tokens: AppStoreServerTokens(signer: signer, time: time), address: address,
      retry: retry, time: time)
  }

  /// Creates a client whose tokens others use, too.
  public init(
    transport: any HTTPTransport, tokens: AppStoreServerTokens, address: AppStoreServerAddress = .production,
    retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.transport = transport
    self.tokens = tokens
    self.address = address
    self.retry = retry
    self.time = time
  }

  /// The app, by its bundle identifier.
  public var bundleId: String { tokens.signer.bundleId }

  /// The same client for another App Store, with the same tokens.
  public func calling(_ address: AppStoreServerAddress) -> RawAppStoreServerClient {
    RawAppStoreServerClient(
      transport: transport, tokens: tokens, address: address, retry: retry, time: time)
  }

  /// A value, and how many requests it took.
  struct Answer<Value: Sendable>: Sendable {
    let endpoint: AppStoreServerEndpoint
    let value: Value
    let attempts: Int
  }

  /// Sends a call whose answer is a JSON object.
  func send<Value: JSONObject & Sendable>(
    _ call: AppStoreServerCall, as type: Value.Type
  ) async throws(AppStoreServerError) -> Answer<Value> {
    try await send(call) { (body: [UInt8]) throws(MalformedReceipt) in
      try Value(json: body, part: "response", limits: .standard)
    }
  }

  /// Sends a call whose answer has no content.
  func send(_ call: AppStoreServerCall) async throws(AppStoreServerError) {
    _ = try await send(call) { (_: [UInt8]) throws(MalformedReceipt) in () }
  }

  private func send<Value: Sendable>(
    _ call: AppStoreServerCall, decode: ([UInt8]) throws(MalformedReceipt) -> Value
  ) async throws(AppStoreServerError) -> Answer<Value> {
    let caller = RemoteCaller(transport: transport, policy: retry, time: time)
    let judge = ResponseJudge(now: time.now)
    var attempts = 0
    var token = ""
    do {
      let value = try await caller.send(isRepeatable: call.endpoint.route.isRepeatable) {
        token = try tokens.token()
        attempts += 1
        return request(call, token: token)
      } judge: { response in
        if response.status == 401 { tokens.forget(token) }
        return judge.judge(response, decode: decode)
      }
      return Answer(endpoint: call.endpoint, value: value, attempts: attempts)
    } catch {
      throw AppStoreServerError(call.endpoint, attempts: attempts, Self.cause(of: error))
    }
  }

  private func request(_ call: AppStoreServerCall, token: String) -> RemoteRequest {
    var headers = [
      HTTPHeader("Authorization", "Bearer \(token)"), HTTPHeader("Accept", "application/json"),
      UserAgent.header,
    ]
    if let body = call.body { headers.append(HTTPHeader("Content-Type", body.contentType)) }
    return RemoteRequest(
      call.endpoint.route.method,
      address.url.appending(pathSegments: call.path, queryItems: call.query),
      headers: headers, body: call.body?.bytes)
  }

  private static func cause(of error: any Error) -> AppStoreServerError.Cause {
    switch error {
    case let refusal as ResponseJudge.Refusal: refusal.cause
    case let error as SigningError: .signing(error)
    case RemoteCaller.Failure.transport(let error): .transport(error)
    case RemoteCaller.Failure.redirected(let status, let location):
      .redirected(status: status, location: location.map(ShownText.line))
    case RemoteCaller.Failure.deadlineExceeded: .deadlineExceeded
    // Nothing else is thrown but this and `CancellationError`.
    default: .cancelled
    }
  }
}

extension RawAppStoreServerClient: CustomStringConvertible, CustomReflectable {
  /// Address and identifiers; neither token nor key.
  public var description: String { "RawAppStoreServerClient(\(address.url), \(tokens.signer))" }

  /// Address and identifiers; neither token nor key.
  public var customMirror: Mirror {
    Mirror(self, children: ["url": address.url.description, "signer": tokens.signer.description])
  }
}
