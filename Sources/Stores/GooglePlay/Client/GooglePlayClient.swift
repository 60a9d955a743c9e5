// SPDX-License-Identifier: Apache-2.0

// Callers need this module to create the transport and its URL.
@_exported public import ReceiptHTTP
internal import ReceiptCodec
internal import ReceiptBytes

extension GooglePlayAddress {
  /// `https://androidpublisher.googleapis.com`.
  public static let google = GooglePlayAddress.google(tokenURL: nil)

  /// Returns the address of Google's API, with access tokens from another server.
  package static func google(tokenURL: RemoteURL?) -> GooglePlayAddress {
    GooglePlayAddress(at: RemoteURL(secureHost: "androidpublisher.googleapis.com"), tokenURL: tokenURL)
  }
}

/// Calls version 3 of the Google Play Developer API about the purchases of one app.
///
/// ```swift
/// let client = GooglePlayClient(
///   transport: transport, account: try ServiceAccount(keyFile: contents), packageName: "com.example.app")
/// let purchase = try await client.send(.subscription(token))
/// ledger.apply(purchase, to: id, asOf: now)
/// if ledger[id]?.standing(at: now).grantsAccess == true { unlock() }
/// ```
///
/// The calls are the functions of ``GooglePlayCall``. Any number of tasks may use one client at once, and share its
/// access token. The caller shuts down the transport.
public struct GooglePlayClient: Sendable {
  /// The package name of the app.
  public private(set) var packageName: String
  package let time: RemoteTime

  private let address: GooglePlayAddress
  private let tokens: AccessTokens
  private let transport: any HTTPTransport
  private let retry: RetryPolicy

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - account: Signs the assertions for which access tokens are issued.
  ///   - packageName: The package name of the app.
  ///   - address: The server that is called; Google's by default.
  ///   - retry: The retry policy.
  ///   - time: The clocks and random numbers; the system's by default.
  public init(
    transport: any HTTPTransport, account: ServiceAccount, packageName: String,
    address: GooglePlayAddress = .google, retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system
  ) {
    self.packageName = packageName
    self.address = address
    self.transport = transport
    self.retry = retry
    self.time = time
    tokens = AccessTokens(
      account: account, url: address.tokenURL, transport: transport, retry: retry, time: time)
  }

  /// Returns this client for another app of the account, with the same access token.
  package func calling(for packageName: String) -> GooglePlayClient {
    var client = self
    client.packageName = packageName
    return client
  }

  /// Sends a call.
  ///
  /// If the access token is refused, it is renewed once.
  ///
  /// - Throws: ``GooglePlayError``.
  public func send<Response>(_ call: GooglePlayCall<Response>) async throws(GooglePlayError) -> Response {
    var attempts = 0
    do {
      return try await send(call, attempts: &attempts)
    } catch {
      throw GooglePlayError(call.endpoint, attempts: attempts, GooglePlayError.Cause(error))
    }
  }

  /// Sends a call whose response has no content.
  ///
  /// - Throws: ``GooglePlayError``.
  public func send(_ call: GooglePlayCall<NoContent>) async throws(GooglePlayError) {
    let _: NoContent = try await send(call)
  }

  /// Returns the purchases that were refunded, charged back or revoked, page after page as they are needed.
  ///
  /// ```swift
  /// for try await voided in client.voidedPurchases(VoidedPurchasesQuery()) {
  ///   revoke(voided.purchaseToken)
  /// }
  /// ```
  ///
  /// - Parameter query: The query; its ``VoidedPurchasesQuery/token`` is that of the page to begin with.
  /// - Returns: The purchases; iterating throws ``GooglePlayError``.
  public func voidedPurchases(_ query: VoidedPurchasesQuery = VoidedPurchasesQuery()) -> VoidedPurchases {
    pages(of: .voidedPurchases, "$.tokenPagination.nextPageToken") { (token) throws(GooglePlayError) in
      var query = query
      if let token { query.token = token }
      let page = try await send(.voidedPurchases(query: query))
      return (page.voidedPurchases ?? [], page.tokenPagination?.nextPageToken)
    }
  }

  /// Returns the subscriptions that the app sells, page after page as they are needed.
  ///
  /// - Returns: The subscriptions; iterating throws ``GooglePlayError``.
  public func catalogSubscriptions() -> RemotePages<PlayCatalogSubscription, GooglePlayError> {
    pages(of: .catalogSubscriptions) { (token) throws(GooglePlayError) in
      let page = try await send(.catalogSubscriptions(query: PlayCatalogQuery(page: token)))
      return (page.subscriptions ?? [], page.nextPageToken)
    }
  }

  /// Returns the offers of subscriptions, page after page as they are needed.
  ///
  /// - Parameters:
  ///   - productId: The subscription; `-` for all, with `-` for the base plan.
  ///   - basePlanId: The base plan; `-` for all.
  /// - Returns: The offers; iterating throws ``GooglePlayError``.
  public func catalogOffers(
    of productId: String = "-", basePlanId: String = "-"
  ) -> RemotePages<PlayCatalogOffer, GooglePlayError> {
    pages(of: .catalogOffers) { (token) throws(GooglePlayError) in
      let page = try await send(
        .catalogOffers(of: productId, basePlanId: basePlanId, query: PlayCatalogQuery(page: token)))
      return (page.subscriptionOffers ?? [], page.nextPageToken)
    }
  }

  /// Returns the one-time products that the app sells, page after page as they are needed.
  ///
  /// - Returns: The products; iterating throws ``GooglePlayError``.
  public func catalogProducts() -> RemotePages<PlayCatalogProduct, GooglePlayError> {
    pages(of: .catalogProducts) { (token) throws(GooglePlayError) in
      let page = try await send(.catalogProducts(query: PlayCatalogQuery(page: token)))
      return (page.oneTimeProducts ?? [], page.nextPageToken)
    }
  }

  private func pages<Element>(
    of endpoint: GooglePlayEndpoint, _ place: String = "$.nextPageToken",
    _ load: @escaping @Sendable (_ token: String?) async throws(GooglePlayError) -> ([Element], next: String?)
  ) -> RemotePages<Element, GooglePlayError> {
    RemotePages { (token) throws(GooglePlayError) in
      let page = try await load(token)
      return RemotePage(
        page.0, next: page.next?.isEmpty == true ? nil : page.next,
        repeated: GooglePlayError(
          endpoint, attempts: 1,
          .malformedResponse(
            MalformedReceipt(
              .duplicate, at: .jsonPath(place), "The server names a page that it answered already."))))
    }
  }

  private func send<Response>(_ call: GooglePlayCall<Response>, attempts: inout Int) async throws -> Response
  {
    let url = try self.url(of: call)
    let end = time.elapsed() + min(retry.deadline, .seconds(31_536_000))
    var mayRenew = true
    while true {
      let token = try await tokens.token()
      var policy = retry
      policy.deadline = end - time.elapsed()
      let caller = RemoteCaller(transport: transport, policy: policy, time: time)
      do {
        return try await caller.send(isIdempotent: call.endpoint.isIdempotent) {
          attempts += 1
          return call.request.request(
            call.endpoint.method, url, headers: [HTTPHeader("Authorization", "Bearer \(token.text)")]
          ).shorteningURL()
        } classify: { response in
          .decoding(
            response, call.decode, malformed: GooglePlayError.Cause.malformedResponse,
            refuse: { refuse(response) })
        }
      } catch let refusal as GooglePlayError.Refusal where refusal.code == .unauthorized {
        tokens.forget(token)
        guard mayRenew else { throw refusal }
        mayRenew = false
      }
    }
  }

  private func url<Response>(of call: GooglePlayCall<Response>) throws -> RemoteURL {
    guard Self.isPackageName(packageName) else {
      throw GooglePlayError.Cause.invalidRequest(
        place: "packageName", message: "It must be a package name such as com.example.app.")
    }
    let base = address.url.appending(pathSegments: ["androidpublisher", "v3", "applications", packageName])
    do throws(RequestLimits.Violation) {
      return try call.request.url(of: call.endpoint, at: base)
    } catch {
      throw GooglePlayError.Cause.invalidRequest(place: error.place, message: error.message)
    }
  }

  /// Returns `true` for letters, digits and underscores, with dots between them.
  static func isPackageName(_ text: String) -> Bool {
    1...256 ~= text.utf8.count
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
      }
  }
}

extension RemoteRequest {
  /// The same request with a short URL. Google's servers take the query of a `GET` in the body, as Google's own clients
  /// send it when a URL has more than 2048 characters.
  fileprivate func shorteningURL() -> RemoteRequest {
    guard method == .get, let query = url.query, url.target.utf8.count > 2048 else { return self }
    var request = self
    (request.method, request.url.query, request.body) = (.post, nil, Array(query.utf8))
    request.headers += [
      HTTPHeader("X-HTTP-Method-Override", "GET"),
      HTTPHeader("Content-Type", "application/x-www-form-urlencoded"),
    ]
    return request
  }
}

extension GooglePlayClient: CustomStringConvertible, CustomReflectable {
  /// The address, the app and the account, without token and key.
  public var description: String { "GooglePlayClient(\(address.url), \(packageName), \(tokens.account))" }

  /// The address, the app and the account, without token and key.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "url": address.url.description, "packageName": packageName, "account": tokens.account.description,
      ])
  }
}

extension PlayCatalogQuery {
  /// The longest page, since a catalogue is read as a whole.
  fileprivate init(page token: String?) {
    self.init()
    pageSize = 1000
    pageToken = token
  }
}

/// The voided purchases of an app; an iteration begins at the query's page and fails with ``GooglePlayError``.
public typealias VoidedPurchases = RemotePages<VoidedPurchase, GooglePlayError>

/// A call of the Google Play Developer API: an endpoint with its parameters.
///
/// The calls are generated from the endpoint rows in `WireTypes/`.
///
/// ```swift
/// let purchase = try await client.send(.subscription(token))
/// ```
public struct GooglePlayCall<Response: Sendable & Hashable>: Sendable {
  package let endpoint: GooglePlayEndpoint
  let request: EndpointRequest
  let decode: @Sendable ([UInt8]) throws(MalformedReceipt) -> Response
}

extension GooglePlayCall where Response: JSONObject {
  init(_ endpoint: GooglePlayEndpoint, _ request: EndpointRequest = EndpointRequest()) {
    self.init(endpoint: endpoint, request: request) { (body) throws(MalformedReceipt) in
      try Response(json: body, part: "response", limits: .standard)
    }
  }
}

extension GooglePlayCall where Response == NoContent {
  init(_ endpoint: GooglePlayEndpoint, _ request: EndpointRequest = EndpointRequest()) {
    self.init(endpoint: endpoint, request: request) { (_) throws(MalformedReceipt) in NoContent() }
  }
}

extension GooglePlayClient {
  /// Classifies a response without a success status: a terminal error, or one after which the request may be sent again.
  private func refuse<Value: Sendable>(_ response: RemoteResponse) -> RemoteCaller.Outcome<Value> {
    let error = try? PlayErrorBody(json: response.body, part: "error", limits: .standard).error
    let reason = error?.errors?.lazy.compactMap(\.reason).first
    let refusal = GooglePlayError.Refusal(
      code: Self.code(response.status, status: error?.status, reason: reason), httpStatus: response.status,
      status: error?.status.map(ShownText.line), reason: reason.map(ShownText.line),
      message: error?.message.map(ShownText.line), retryAfter: response.retryAfter(now: time.now()))
    switch refusal.code {
    case .quotaExceeded, .conflict:
      return .retry(refusal, notBefore: refusal.retryAfter, isProcessed: false)
    case _ where response.isTemporaryFailure:
      return .retry(refusal, notBefore: refusal.retryAfter, isProcessed: true)
    default: return .failed(refusal)
    }
  }

  private static let quotaReasons = [
    "quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded",
  ]

  private static func code(_ httpStatus: Int, status: String?, reason: String?) -> GooglePlayError.Code {
    switch httpStatus {
    case 400: .invalidRequest
    case 401: .unauthorized
    case 403:
      status == "RESOURCE_EXHAUSTED" || quotaReasons.contains(reason ?? "")
        ? .quotaExceeded : .permissionDenied
    case 404: .notFound
    // google.rpc.Code maps both ABORTED and ALREADY_EXISTS to 409; only the former passes.
    case 409: status == "ALREADY_EXISTS" ? .alreadyExists : .conflict
    case 410: .tokenNoLongerValid
    case 429: .quotaExceeded
    case 500...599: .unavailable
    default: .other
    }
  }
}
