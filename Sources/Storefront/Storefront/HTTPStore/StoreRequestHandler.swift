// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptHTTP

/// The server side of <doc:StoreProtocol>, independent of any HTTP server. It turns the parts of a request into a
/// response. Mount it below any path, and pass the URL of that path to ``HTTPStore``.
///
/// ```swift
/// let handler = StoreRequestHandler { token in await sessions[token] }
/// let response = await handler.response(
///   method: "POST", path: "/v1/purchase", headers: headers, body: body)
/// ```
public struct StoreRequestHandler: Sendable {
  /// The greatest size of a body, in bytes. A server may stop reading there.
  package static let maximumRequestByteCount = StoreProtocolLimits.maximumRequestByteCount

  private let store: @Sendable (_ token: String?) async -> (any Store)?

  /// Creates a handler.
  ///
  /// - Parameter store: Returns the store for the customer with this token, or `nil` if there is no such customer. The
  ///   token is `nil` if the request has none. Look it up by its digest, so that the time of the look-up does not
  ///   reveal valid tokens.
  public init(store: @escaping @Sendable (_ token: String?) async -> (any Store)?) { self.store = store }

  /// Answers a request. Invalid requests are answered with a problem.
  ///
  /// - Parameters:
  ///   - method: The method, such as `POST`.
  ///   - path: The path below the mount point, such as `/v1/purchase`.
  ///   - headers: The headers.
  ///   - body: The whole body.
  /// - Returns: Status, headers and body. The server adds `Content-Length`.
  public func response(
    method: String, path: String, headers: [HTTPHeader], body: [UInt8]
  ) async -> RemoteResponse {
    let failure: StoreRequestFailure
    do {
      let call = try Self.call(method: method, path: path)
      guard let store = await store(try Self.token(headers)) else { throw Self.unauthorized() }
      try Self.check(headers, body)
      return Self.response(status: 200, try await store.answer(call, body))
    } catch let error as StoreRequestFailure {
      failure = error
    } catch let error as MalformedReceipt {
      failure = StoreRequestFailure(.malformedRequest, error.message, place: error.place.description)
    } catch {
      failure = StoreRequestFailure(unavailable: error)
    }
    return Self.response(status: failure.kind.status, failure.problem.encodedJSON(), failure.headers)
  }

  private static func call(method: String, path: String) throws(StoreRequestFailure) -> StoreCall {
    let call = StoreCall.allCases.first { "/" + $0.pathSegments.joined(separator: "/") == path }
    guard let call else {
      throw StoreRequestFailure(
        .notFound, "There is no such path. This store speaks version \(StoreCall.version) of the protocol.")
    }
    guard method == "POST" else {
      throw StoreRequestFailure(.methodNotAllowed, "Use POST.", headers: [HTTPHeader("Allow", "POST")])
    }
    return call
  }

  private static func token(_ headers: [HTTPHeader]) throws(StoreRequestFailure) -> String? {
    let values = headers.filter { $0.name.lowercased() == "authorization" }.map(\.value)
    guard let value = values.first else { return nil }
    let parts = value.split(separator: " ", maxSplits: 1)
    guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else { throw unauthorized() }
    return String(parts[1]).trimmingASCIISpace
  }

  private static func unauthorized() -> StoreRequestFailure {
    StoreRequestFailure(
      .unauthorized, "Send the customer's token: Authorization: Bearer TOKEN.",
      headers: [HTTPHeader("WWW-Authenticate", "Bearer")])
  }

  private static func check(_ headers: [HTTPHeader], _ body: [UInt8]) throws(StoreRequestFailure) {
    let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
    guard type.prefix(while: { $0 != ";" }).lowercased().trimmingASCIISpace == "application/json" else {
      throw StoreRequestFailure(.unsupportedMediaType, "Send application/json.")
    }
    guard body.count <= maximumRequestByteCount else {
      throw StoreRequestFailure(.requestTooLarge, "A request has at most \(maximumRequestByteCount) bytes.")
    }
  }

  private static func response(status: Int, _ body: [UInt8], _ headers: [HTTPHeader] = []) -> RemoteResponse {
    let common = [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Cache-Control", "no-store")]
    return RemoteResponse(status: status, headers: common + headers, body: body)
  }
}

/// A request that did not reach the store, or that the store did not answer.
struct StoreRequestFailure: Error {
  let kind: StoreProblem.Kind
  let problem: StoreProblem
  let headers: [HTTPHeader]

  init(_ kind: StoreProblem.Kind, _ message: String, place: String? = nil, headers: [HTTPHeader] = []) {
    self.kind = kind
    problem = StoreProblem(code: kind.code, message: message, place: place)
    self.headers = headers
  }

  /// Converts an error of an answer. Any error other than ``StoreUnavailable`` also means that the store is
  /// unavailable.
  init(unavailable error: any Error) {
    let unavailable = error as? StoreUnavailable ?? StoreUnavailable("The store failed: \(error)")
    var headers: [HTTPHeader] = []
    if let wait = unavailable.retryAfter {
      // Whole seconds, rounded up, and at most one day, because clients wait no longer.
      let seconds = min(max((wait / .seconds(1)).rounded(.up), 0), 86_400)
      headers = [HTTPHeader("Retry-After", String(Int(seconds)))]
    }
    self.init(.unavailable, unavailable.message, headers: headers)
  }
}

/// The answers of a store to requests of the protocol. Each function throws a ``StoreRequestFailure``,
/// ``ReceiptCodec/MalformedReceipt`` or ``StoreUnavailable``.
extension Store {
  fileprivate func answer(_ call: StoreCall, _ body: [UInt8]) async throws -> [UInt8] {
    switch call {
    case .products: return try await products(try Self.read(body)).encodedJSON()
    case .purchase:
      let request: PurchaseRequest = try Self.read(body)
      return PurchaseAnswer(try await purchase(request), to: request.id).encodedJSON()
    case .unfinished:
      let message: UnfinishedMessage = try Self.read(body)
      return try await encoded(withinLimit: message.limit) { limit in
        try await unfinishedTransactions(after: message.after, limit: limit)
      }
    case .finish:
      let message: FinishMessage = try Self.read(body)
      try await finish(transactionIdentifier: message.transactionIdentifier)
      return message.encodedJSON()
    case .restore:
      let message: RestoreMessage = try Self.read(body)
      return try await encoded(withinLimit: message.limit) { limit in await restore(message, limit) }
    }
  }

  private static func read<Message: JSONObject>(_ body: [UInt8]) throws -> Message {
    let limits = ReceiptLimits(
      maximumByteCount: StoreProtocolLimits.maximumRequestByteCount,
      maximumDepth: StoreProtocolLimits.maximumDepth)
    return try Message(json: body, part: "request", limits: limits)
  }

  private func products(_ message: ProductsMessage) async throws -> ProductsAnswer {
    let most = StoreProtocolLimits.maximumProductIdentifierCount
    guard message.productIdentifiers.count <= most else {
      throw StoreRequestFailure(
        .malformedRequest, "Ask for at most \(most) products at a time.", place: "$.productIdentifiers")
    }
    let locales = message.preferredLocales.prefix(StoreProtocolLimits.maximumLocaleCount)
    do throws(StoreError) {
      let response = try await products(
        for: Set(message.productIdentifiers), preferredLocales: Array(locales))
      return ProductsAnswer(
        products: response.products.map(\.withoutCodes),
        invalidProductIdentifiers: response.invalidProductIdentifiers)
    } catch {
      return ProductsAnswer(error: error)
    }
  }

  private func restore(_ message: RestoreMessage, _ limit: Int) async -> RestoreAnswer {
    let request = RestoreRequest(
      id: message.requestIdentifier, applicationUsername: message.applicationUsername)
    do throws(StoreError) {
      let page = try await restore(request, after: message.after, limit: limit)
      return RestoreAnswer(requestIdentifier: request.id, transactions: page.transactions, next: page.next)
    } catch {
      return RestoreAnswer(requestIdentifier: request.id, error: error)
    }
  }

  /// Encodes a page within the size that clients accept. If large receipts exceed that size, the page is requested
  /// again with half the limit. This is safe, because the same position gives the same transactions.
  private func encoded(
    withinLimit limit: PageLimit, _ page: (Int) async throws -> some JSONObject
  ) async throws -> [UInt8] {
    var count = limit.count
    while true {
      let body = try await page(count).encodedJSON()
      if body.count <= StoreProtocolLimits.maximumResponseByteCount { return body }
      guard count > 1 else {
        throw StoreRequestFailure(
          .unavailable, "A single transaction is longer than an answer of this protocol may be.")
      }
      count /= 2
    }
  }
}
