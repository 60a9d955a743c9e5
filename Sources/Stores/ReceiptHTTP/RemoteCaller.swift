// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec

/// Sends requests with retries, an overall deadline, and redirects within the same origin.
package struct RemoteCaller: Sendable {
  package let transport: any HTTPTransport
  package let policy: RetryPolicy
  package let time: RemoteTime

  package init(transport: any HTTPTransport, policy: RetryPolicy, time: RemoteTime) {
    self.transport = transport
    self.policy = policy
    self.time = time
  }

  /// The meaning of a response for the caller.
  package enum Outcome<Value: Sendable>: Sendable {
    case done(Value)
    /// A terminal failure.
    case failed(any Error & Sendable)
    /// A temporary failure. `isProcessed` is `false` if the server states that the request had no effect; then even a
    /// request that is not idempotent may be sent again.
    case retry(any Error & Sendable, notBefore: Timestamp?, isProcessed: Bool)

    /// The outcome of a response: its decoded body if the status is a success, otherwise what `refuse` returns.
    package static func decoding(
      _ response: RemoteResponse, _ decode: ([UInt8]) throws(MalformedReceipt) -> Value,
      malformed: (MalformedReceipt) -> any Error & Sendable, refuse: () -> Outcome
    ) -> Outcome {
      guard response.status / 100 == 2 else { return refuse() }
      do throws(MalformedReceipt) {
        return .done(try decode(response.body))
      } catch {
        return .failed(malformed(error))
      }
    }

    /// The outcome of a response that refuses a request without any effect.
    package static func refused(
      _ response: RemoteResponse, _ error: any Error & Sendable, now: Timestamp
    ) -> Outcome {
      response.isTemporaryFailure
        ? .retry(error, notBefore: response.retryAfter(now: now), isProcessed: false) : .failed(error)
    }
  }

  /// The reason why a call failed without a response to classify.
  package enum Failure: Error, CustomStringConvertible {
    case transport(HTTPTransportError)
    case deadlineExceeded
    case cancelled
    /// A redirect that was not followed: to another origin or without a location, of a request other than `GET`, or one
    /// too many. `followed` redirects came before it.
    case redirected(status: Int, location: String?, followed: Int)

    /// Returns the end of a message about a redirect: empty, or the number of redirects that were followed before it.
    package static func afterRedirects(_ followed: Int) -> String {
      followed == 0
        ? "" : "; \(followed) redirect\(followed == 1 ? " before it was" : "s before it were") followed"
    }

    /// Returns the message about a redirect that was not followed.
    package static func redirect(status: Int, to location: String?, followed: Int) -> String {
      "The server redirects (HTTP status \(status)) to \(location ?? "nowhere"), which is not followed"
        + "\(afterRedirects(followed))."
    }

    /// A sentence that describes the failure.
    package var description: String {
      switch self {
      case .transport(let error): "The request failed (\(error))."
      case .deadlineExceeded: "The server did not answer in time."
      case .cancelled: "The task was cancelled."
      case .redirected(let status, let location, let followed):
        Self.redirect(status: status, to: location.map(ShownText.line), followed: followed)
      }
    }
  }

  /// Returns the number of requests that were sent, in words.
  package static func requestCount(_ attempts: Int) -> String {
    switch attempts {
    case 0: "nothing was sent"
    case 1: "1 request"
    default: "\(attempts) requests"
    }
  }

  private static let maximumRedirects = 3

  /// Sends a request, again if necessary, until a response is final.
  ///
  /// - Throws: ``Failure``, or an error of `classify` or `request`.
  package func send<Value: Sendable>(
    isIdempotent: Bool, _ request: () async throws -> RemoteRequest,
    classify: (RemoteResponse) -> Outcome<Value>
  ) async throws -> Value {
    // A year exceeds every deadline; the limit keeps the largest durations out of the arithmetic.
    let end = time.elapsed() + min(policy.deadline, .seconds(31_536_000))
    var attempts = 0
    while true {
      if Task.isCancelled { throw Failure.cancelled }
      attempts += 1
      let error: any Error & Sendable
      var notBefore: Timestamp?
      var mayRepeat: Bool
      do {
        let response = try await exchange(try await request(), until: end)
        switch classify(response) {
        case .done(let value): return value
        case .failed(let final): throw Final(error: final)
        case .retry(let refusal, let instant, let isProcessed):
          error = refusal
          notBefore = instant
          mayRepeat = isIdempotent || !isProcessed
        }
      } catch let final as Final {
        throw final.error
      } catch let failure as HTTPTransportError {
        if failure.code == .cancelled || Task.isCancelled { throw Failure.cancelled }
        error = Failure.transport(failure)
        mayRepeat = failure.isRetryable && (isIdempotent || failure.wasNotSent)
        if failure.code == .timedOut, time.elapsed() >= end { throw Failure.deadlineExceeded }
      }
      guard mayRepeat, attempts < policy.maximumAttempts else { throw error }
      try await wait(afterAttempts: attempts, notBefore: notBefore, until: end, last: error)
    }
  }

  private struct Final: Error { let error: any Error & Sendable }

  private func wait(
    afterAttempts attempts: Int, notBefore: Timestamp?, until end: Duration, last: any Error & Sendable
  ) async throws {
    var delay = policy.greatestDelay(afterAttempts: attempts) * time.random()
    if let notBefore {
      // The delay is at most a day, which exceeds every deadline.
      delay = max(delay, time.delay(until: notBefore))
    }
    // Fails now and not at the deadline; the error states the time for another attempt.
    guard time.elapsed() + delay < end else { throw last }
    do {
      try await time.sleep(delay)
    } catch {
      throw Failure.cancelled
    }
    if Task.isCancelled { throw Failure.cancelled }
  }

  /// Sends one request, and returns its response after redirects within the same origin.
  private func exchange(_ request: RemoteRequest, until end: Duration) async throws -> RemoteResponse {
    var request = request
    var redirects = 0
    while true {
      let remaining = end - time.elapsed()
      guard remaining > .zero else { throw Failure.deadlineExceeded }
      request.timeout = min(policy.attemptTimeout, remaining)
      let response = try await transport.send(request)
      guard response.body.count <= request.maximumResponseByteCount else {
        throw HTTPTransportError(
          .tooLarge, "The response has more than \(request.maximumResponseByteCount) bytes.")
      }
      guard [301, 302, 303, 307, 308].contains(response.status) else { return response }
      let location = response.header("Location")
      guard redirects < Self.maximumRedirects, request.method == .get, let location,
        let target = try? request.url.resolving(location: location),
        target.hasSameOrigin(as: request.url)
      else { throw Failure.redirected(status: response.status, location: location, followed: redirects) }
      request.url = target
      redirects += 1
    }
  }
}
