// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptHTTP
import ReceiptServiceClient
import Synchronization

/// A transport that answers one after the other, the last for ever, and keeps the requests. Time passes at once.
final class ScriptedTransport: HTTPTransport {
  static let key = "rk_secret-of-this-test"

  private struct State {
    var answers: [Result<RemoteResponse, HTTPTransportError>]
    var requests: [RemoteRequest] = []
    var elapsed: Duration = .zero
    var sleeps: [Duration] = []
  }
  private let state: Mutex<State>

  init(_ answers: [RemoteResponse]) { state = Mutex(State(answers: answers.map { .success($0) })) }
  init(results: [Result<RemoteResponse, HTTPTransportError>]) { state = Mutex(State(answers: results)) }

  var requests: [RemoteRequest] { state.withLock { $0.requests } }
  var sleeps: [Duration] { state.withLock { $0.sleeps } }

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    let answer = state.withLock { state in
      state.requests.append(request)
      return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
    }
    return try answer.get()
  }

  func client(app: String? = nil, maximumAnswerByteCount: Int = 1 << 20) -> ReceiptServerClient {
    let time = RemoteTime(
      now: { Timestamp(secondsSince1970: 1_800_000_000) }, elapsed: { self.state.withLock { $0.elapsed } },
      sleep: { duration in
        try Task.checkCancellation()
        self.state.withLock {
          $0.sleeps.append(duration)
          $0.elapsed += duration
        }
      },
      random: { 0.5 })
    // Of a test: the URL is valid.
    guard let base = try? RemoteURL("https://receipts.example.com/base/") else { preconditionFailure() }
    return ReceiptServerClient(
      at: base, key: Secret(Self.key), app: app, transport: self, retry: RetryPolicy(maximumAttempts: 3),
      maximumAnswerByteCount: maximumAnswerByteCount, time: time)
  }
}

extension RemoteResponse {
  static func json(_ body: String, status: Int = 200, headers: [HTTPHeader] = []) -> RemoteResponse {
    RemoteResponse(
      status: status, headers: [HTTPHeader("Content-Type", "application/json")] + headers,
      body: Array(body.utf8))
  }
}
