// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptHTTP

/// A store on another machine, over the protocol of <doc:StoreProtocol>. The server side is ``StoreRequestHandler``.
///
/// A payment fails only if the store explicitly refuses it. Every other outcome, from a lost connection to an error
/// page, is ``StoreUnavailable``. The outcome at the store is then unknown, and the request can be repeated with the
/// same identifier. Receipts are returned as received, unverified.
public struct HTTPStore: Store {
  private let base: RemoteURL
  private let token: Secret?
  private let caller: RemoteCaller

  /// Creates a store. Nothing is sent yet.
  ///
  /// - Parameters:
  ///   - base: The base URL of the store; `v1/purchase` and so on are appended.
  ///   - transport: Sends the requests. The caller owns it and shuts it down.
  ///   - token: The customer's token, sent as `Authorization: Bearer …`.
  ///   - retry: The retry policy of each call.
  ///   - time: The clocks.
  public init(
    _ base: RemoteURL, transport: any HTTPTransport, token: Secret? = nil, retry: RetryPolicy = RetryPolicy(),
    time: RemoteTime = .system
  ) {
    self.base = base
    self.token = token
    self.caller = RemoteCaller(transport: transport, policy: retry, time: time)
  }

  /// Looks products up, in several requests if there are many.
  public func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse {
    let wanted = identifiers.sorted()
    let step = StoreProtocolLimits.maximumProductIdentifierCount
    var products: [Product] = []
    var invalid: [String] = []
    for start in stride(from: 0, to: wanted.count, by: step) {
      let message = ProductsMessage(
        productIdentifiers: Array(wanted[start..<min(start + step, wanted.count)]),
        preferredLocales: Array(preferredLocales.prefix(StoreProtocolLimits.maximumLocaleCount)))
      let asked = Set(message.productIdentifiers)
      let response = try await orUnknown(
        try await ask(.products, message) { (answer: ProductsAnswer) throws(MalformedReceipt) in
          try answer.value(askedFor: asked)
        })
      products += response.products
      invalid += response.invalidProductIdentifiers
    }
    return ProductsResponse(products: products, invalidProductIdentifiers: invalid)
  }

  /// Sends a payment.
  public func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
    try await ask(.purchase, request) { (answer: PurchaseAnswer) throws(MalformedReceipt) in
      try answer.value(to: request)
    }
  }

  /// Fetches unfinished sales, at most 100 at a time.
  public func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage {
    let message = UnfinishedMessage(after: position, limit: PageLimit(limit))
    return try await ask(.unfinished, message) { (page: StoreTransactionPage) throws(MalformedReceipt) in
      try checkPage(of: page.transactions.count, next: page.next, after: position, message.limit)
      return page
    }
  }

  /// Finishes a transaction.
  public func finish(transactionIdentifier: String) async throws(StoreUnavailable) {
    let message = FinishMessage(transactionIdentifier: transactionIdentifier)
    try await ask(.finish, message) { (answer: FinishMessage) throws(MalformedReceipt) in
      try checkAnswer(answer.transactionIdentifier, to: transactionIdentifier, at: "transactionIdentifier")
    }
  }

  /// Restores finished purchases, at most 100 at a time.
  public func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage {
    let message = RestoreMessage(
      requestIdentifier: request.id, applicationUsername: request.applicationUsername, after: position,
      limit: PageLimit(limit))
    return try await orUnknown(
      try await ask(.restore, message) { (answer: RestoreAnswer) throws(MalformedReceipt) in
        try answer.value(to: message)
      })
  }

  // MARK: Calling

  /// Sends a message, with retries, and decodes the answer. Every call is idempotent.
  private func ask<Answer: JSONObject, Value: Sendable>(
    _ call: StoreCall, _ message: some JSONObject, _ read: (Answer) throws(MalformedReceipt) -> Value
  ) async throws(StoreUnavailable) -> Value {
    var headers = [
      HTTPHeader("Content-Type", "application/json"), HTTPHeader("Accept", "application/json"),
      UserAgent.header,
    ]
    if let token { headers.append(HTTPHeader("Authorization", "Bearer \(token.text)")) }
    let request = RemoteRequest(
      .post, base.appending(pathSegments: call.pathSegments), headers: headers, body: message.encodedJSON(),
      maximumResponseByteCount: StoreProtocolLimits.maximumResponseByteCount)
    do {
      return try await caller.send(isIdempotent: true, { request }) { classify($0, read) }
    } catch let unavailable as StoreUnavailable {
      throw unavailable
    } catch RemoteCaller.Failure.redirected(let status, let location, let followed) {
      throw StoreUnavailable(
        RemoteCaller.Failure.redirect(status: status, to: location.map(ShownText.line), followed: followed)
          + " Use the address of the store itself.")
    } catch let failure as RemoteCaller.Failure {
      throw StoreUnavailable(failure.description)
    } catch {
      throw StoreUnavailable("The task was cancelled.")
    }
  }

  /// The store's value or refusal. If there is no answer, the error is `unknown`.
  private func orUnknown<Value>(
    _ call: @autoclosure () async throws(StoreUnavailable) -> Result<Value, StoreError>
  ) async throws(StoreError) -> Value {
    let result: Result<Value, StoreError>
    do { result = try await call() } catch { throw StoreError(.unknown, error.message) }
    return try result.get()
  }
}

// MARK: Answers

extension HTTPStore {
  private func classify<Answer: JSONObject, Value: Sendable>(
    _ response: RemoteResponse, _ read: (Answer) throws(MalformedReceipt) -> Value
  ) -> RemoteCaller.Outcome<Value> {
    guard response.status == 200 else { return refuse(response) }
    do throws(MalformedReceipt) {
      let limits = ReceiptLimits(
        maximumByteCount: StoreProtocolLimits.maximumResponseByteCount,
        maximumDepth: StoreProtocolLimits.maximumDepth)
      return .done(try read(try Answer(json: response.body, part: "store's answer", limits: limits)))
    } catch {
      return .failed(StoreUnavailable("The store's answer cannot be used: \(error)"))
    }
  }

  private func refuse<Value: Sendable>(_ response: RemoteResponse) -> RemoteCaller.Outcome<Value> {
    let limits = ReceiptLimits(maximumByteCount: 1 << 16, maximumDepth: StoreProtocolLimits.maximumDepth)
    let problem = try? StoreProblem(json: response.body, part: "problem", limits: limits)
    let words = problem.map { ", \(ShownText.line("\($0.code): \($0.message)"))" } ?? ""
    let place = problem?.place.map { " (\(ShownText.line($0)))" } ?? ""
    let instant = response.retryAfter(now: caller.time.now())
    let refusal = StoreUnavailable(
      "The server gave no answer of its store (HTTP status \(response.status)\(words)\(place)).",
      retryAfter: instant.map { caller.time.delay(until: $0) })
    return response.isTemporaryFailure
      ? .retry(refusal, notBefore: instant, isProcessed: true) : .failed(refusal)
  }
}
