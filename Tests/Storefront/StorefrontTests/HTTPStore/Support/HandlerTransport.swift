// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptHTTP
import Storefront

/// Connects both sides of the protocol in one process, and can lose or replace answers.
actor HandlerTransport: HTTPTransport {
  /// The fault of a request, by its number, from 0.
  enum Fate: Sendable {
    case arrives
    /// The request is lost.
    case requestLost
    /// The answer is lost.
    case answerLost
    /// The answer is replaced.
    case replaced(RemoteResponse)
  }

  private let handler: StoreRequestHandler
  private let fate: @Sendable (Int) -> Fate
  private(set) var requests: [RemoteRequest] = []

  init(_ store: any Store, token: String? = nil, fate: @escaping @Sendable (Int) -> Fate = { _ in .arrives })
  {
    handler = StoreRequestHandler { $0 == token ? store : nil }
    self.fate = fate
  }

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    let fate = fate(requests.count)
    requests.append(request)
    switch fate {
    case .requestLost: throw HTTPTransportError(.connectionLost, "the request was lost")
    case .replaced(let response): return response
    case .arrives, .answerLost: break
    }
    let path = request.url.path.dropFirst("/shop".count)
    let response = await handler.response(
      method: request.method.rawValue, path: String(path), headers: request.headers,
      body: request.body ?? [])
    if case .answerLost = fate { throw HTTPTransportError(.connectionLost, "the answer was lost") }
    return response
  }
}

/// Stores over this transport, without delays.
enum StoreOverHTTP {
  static let now = Timestamp(secondsSince1970: 1_760_000_000)

  static func store(
    _ transport: any HTTPTransport, attempts: Int = 1, token: Secret? = nil
  ) throws -> HTTPStore {
    let time = RemoteTime(
      now: { now }, elapsed: { .zero }, sleep: { _ in try Task.checkCancellation() }, random: { 0 })
    return HTTPStore(
      try RemoteURL("https://store.example/shop"), transport: transport, token: token,
      retry: RetryPolicy(maximumAttempts: attempts), time: time)
  }

  /// A store whose server always answers so.
  static func answering(_ response: RemoteResponse) throws -> HTTPStore {
    try store(HandlerTransport(ClosureStore()) { _ in .replaced(response) })
  }

  static func answering(_ json: String, status: Int = 200, _ headers: [HTTPHeader] = []) throws -> HTTPStore {
    try answering(RemoteResponse(status: status, headers: headers, body: Array(json.utf8)))
  }
}
