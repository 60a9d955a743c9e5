// SPDX-License-Identifier: Apache-2.0

import ReceiptHTTP
import Synchronization

/// A transport without a network: a closure answers, and the requests are kept.
final class FakeTransport: HTTPTransport {
  typealias Handler = @Sendable (RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse

  private let handler: Handler
  private let recorded = Mutex<[RemoteRequest]>([])

  init(_ handler: @escaping Handler) { self.handler = handler }

  /// Always answers the same.
  convenience init(_ response: RemoteResponse) {
    self.init { (_: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse in response }
  }

  /// Answers one after the other, the last for ever.
  convenience init(_ answers: [Result<RemoteResponse, HTTPTransportError>]) {
    let next = Mutex(0)
    self.init { (_: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse in
      let index = next.withLock { index in
        defer { index += 1 }
        return min(index, answers.count - 1)
      }
      guard answers.indices.contains(index) else { throw HTTPTransportError(.unusable, "no answer is left") }
      return try answers[index].get()
    }
  }

  /// The requests sent so far, in order.
  var requests: [RemoteRequest] { recorded.withLock { $0 } }

  func forgetRequests() { recorded.withLock { $0.removeAll() } }

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    recorded.withLock { $0.append(request) }
    return try await handler(request)
  }
}

extension RemoteResponse {
  /// A JSON response.
  static func json(
    _ body: String, status: Int = 200, contentType: String = "application/json",
    headers: [HTTPHeader] = []
  ) -> RemoteResponse {
    RemoteResponse(
      status: status, headers: [HTTPHeader("Content-Type", contentType)] + headers, body: Array(body.utf8))
  }
}
