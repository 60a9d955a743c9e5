// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec

/// Sends requests with retries, a deadline for the whole, and redirects that stay on the host.
package struct RemoteCaller: Sendable {
  package let transport: any HTTPTransport
  package let policy: RetryPolicy
  package let time: RemoteTime

  package init(transport: any HTTPTransport, policy: RetryPolicy, time: RemoteTime) {
    self.transport = transport
    self.policy = policy
    self.time = time
  }

  /// What one response means to the caller.
  package enum Outcome<Value: Sendable>: Sendable {
    case done(Value)
    /// Refused for good.
    case failed(any Error & Sendable)
    /// Refused for now. `isProcessed` is false where the server states that the request had no effect: then even one
    /// that is not idempotent may be sent again.
    case retry(any Error & Sendable, notBefore: Timestamp?, isProcessed: Bool)
  }

  /// Why a call failed without a response to classify.
  package enum Failure: Error, CustomStringConvertible {
    case transport(HTTPTransportError)
    case deadlineExceeded
    case cancelled
    /// A redirect to another host or nowhere, or one too many; `followed` others came before it.
    case redirected(status: Int, location: String?, followed: Int)

    /// What a message about a redirect ends with: nothing, or that others were followed before it.
    package static func afterRedirects(_ followed: Int) -> String {
      followed == 0
        ? "" : "; \(followed) redirect\(followed == 1 ? " before it was" : "s before it were") followed"
    }

    /// The message about a redirect that was not followed.
    package static func redirect(status: Int, to location: String?, followed: Int) -> String {
      "The server redirects (HTTP status \(status)) to \(location ?? "nowhere"), which is not followed"
        + "\(afterRedirects(followed))."
    }

    /// What happened, in a sentence.
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

  /// How many requests were sent, in words.
  package static func requestCount(_ attempts: Int) -> String {
    switch attempts {
    case 0: "nothing was sent"
    case 1: "1 request"
    default: "\(attempts) requests"
    }
  }

  private static let maximumRedirects = 3

  /// Sends a request until a response is final.
  ///
  /// - Parameters:
  ///   - isIdempotent: Whether sending the request twice has the effect of sending it once.
  ///   - request: Creates the request for each attempt: tokens may expire.
  ///   - classify: Decides what a response means. Its errors come out of this call as they are.
  /// - Returns: The value.
  /// - Throws: ``Failure``, or what `classify` or `request` throws.
  package func send<Value: Sendable>(
    isIdempotent: Bool, _ request: () throws -> RemoteRequest, classify: (RemoteResponse) -> Outcome<Value>
  ) async throws -> Value {
    // A year is past every deadline, and keeps the largest durations out of the arithmetic.
    let end = time.elapsed() + min(policy.deadline, .seconds(31_536_000))
    var attempts = 0
    while true {
      if Task.isCancelled { throw Failure.cancelled }
      attempts += 1
      let error: any Error & Sendable
      var notBefore: Timestamp?
      var mayRepeat: Bool
      do {
        let response = try await exchange(try request(), until: end)
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
      // A day is past every deadline.
      delay = max(delay, time.delay(until: notBefore))
    }
    // Fails now rather than at the deadline: the error states when to come back.
    guard time.elapsed() + delay < end else { throw last }
    do {
      try await time.sleep(delay)
    } catch {
      throw Failure.cancelled
    }
    if Task.isCancelled { throw Failure.cancelled }
  }

  /// One request and its response, after redirects on the same host.
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
      else {
        throw Failure.redirected(status: response.status, location: location, followed: redirects)
      }
      request.url = target
      redirects += 1
    }
  }
}
