// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
internal import ReceiptCrypto

/// The reason why a call of the Google Play Developer API failed.
///
/// Its texts contain no key and no token of any kind.
///
/// ```swift
/// do {
///   let purchase = try await client.send(.subscription(token))
/// } catch let error as GooglePlayError where error.code == .tokenNoLongerValid {
///   revoke()
/// }
/// ```
public struct GooglePlayError: Error, Sendable, Hashable {
  /// The cause of the failure.
  public enum Cause: Error, Sendable, Hashable {
    /// Google refused the request.
    case refused(Refusal)
    /// No access token was issued: the key was deleted, the account disabled or the clock is wrong.
    case tokenRefused(httpStatus: Int, error: String?, message: String?)
    /// The response has a success status, but its body does not match the endpoint.
    case malformedResponse(MalformedReceipt)
    /// There is no response.
    case transport(HTTPTransportError)
    /// The deadline of the retry policy passed.
    case deadlineExceeded
    /// The task was cancelled.
    case cancelled
    /// The server redirects, and the redirect was not followed: to another origin, of a request other than `GET`, or
    /// once more after `followed` redirects.
    case redirected(status: Int, location: String?, followed: Int)
    /// Google would not accept the request; it was not sent.
    case invalidRequest(place: String, message: String)
    /// No assertion could be signed.
    case signing(String)
  }

  /// The endpoint of the call.
  public let endpoint: GooglePlayEndpoint
  /// The number of requests sent, without those for the access token; 0 if the call failed before the first.
  package let attempts: Int
  /// The cause of the failure.
  public let cause: Cause

  init(_ endpoint: GooglePlayEndpoint, attempts: Int, _ cause: Cause) {
    self.endpoint = endpoint
    self.attempts = attempts
    self.cause = cause
  }

  /// The meaning of the refusal; `nil` if Google did not refuse the request.
  public var code: Code? {
    if case .refused(let refusal) = cause { refusal.code } else { nil }
  }

  /// `true` if the same call may succeed later.
  ///
  /// For a call that is not idempotent, this is no proof that the failed call had no effect.
  public var isRetryable: Bool {
    switch cause {
    case .refused(let refusal):
      [.quotaExceeded, .conflict].contains(refusal.code)
        || RemoteResponse.isTemporaryFailure(status: refusal.httpStatus)
    case .tokenRefused(let status, _, _): RemoteResponse.isTemporaryFailure(status: status)
    case .deadlineExceeded: true
    case .transport(let error): error.isRetryable
    case .malformedResponse, .cancelled, .redirected, .invalidRequest, .signing: false
    }
  }
}

extension GooglePlayError.Cause {
  init(_ error: any Error) {
    switch error {
    case let cause as GooglePlayError.Cause: self = cause
    case let refusal as GooglePlayError.Refusal: self = .refused(refusal)
    case let refusal as AccessTokenRefusal:
      self = .tokenRefused(httpStatus: refusal.httpStatus, error: refusal.error, message: refusal.message)
    case let error as CryptoError: self = .signing(error.message)
    case RemoteCaller.Failure.transport(let error): self = .transport(error)
    case RemoteCaller.Failure.redirected(let status, let location, let followed):
      self = .redirected(status: status, location: location.map(ShownText.line), followed: followed)
    case RemoteCaller.Failure.deadlineExceeded: self = .deadlineExceeded
    // No other error is thrown except this one and `CancellationError`.
    default: self = .cancelled
    }
  }

  fileprivate var text: String {
    switch self {
    case .refused(let refusal): refusal.description
    case .tokenRefused(let status, let error, let message):
      "No access token was issued (HTTP status \(status))"
        + [error, message].compactMap(\.self).map { ": \($0)" }.joined()
        + ". Check the key of the service account and the clock."
    case .malformedResponse(let error): "The response is not what this call answers: \(error)"
    case .transport(let error): error.description
    case .deadlineExceeded: "The deadline passed."
    case .cancelled: "The task was cancelled."
    case .redirected(let status, let location, let followed):
      RemoteCaller.Failure.redirect(status: status, to: location, followed: followed)
    case .invalidRequest(let place, let message): "\(message) (\(place))"
    case .signing(let message): "No assertion could be signed: \(message)"
    }
  }
}

extension GooglePlayError.Refusal: CustomStringConvertible {
  /// The code, the status and the message in one line.
  public var description: String {
    "\(code.rawValue) (\(([String(httpStatus)] + [status, reason].compactMap(\.self)).joined(separator: ", ")))"
      + (message.map { ": \($0)" } ?? "") + (retryAfter.map { "; come back at \($0.iso8601)" } ?? "")
  }
}

extension GooglePlayError.Cause: CustomStringConvertible, CustomReflectable {
  /// The cause in one line of bounded length.
  public var description: String { ShownText.line(text) }

  /// The description only, because the values below may quote the response.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension GooglePlayError: CustomStringConvertible, CustomReflectable {
  /// The endpoint, the cause and the number of requests in one line.
  public var description: String {
    "\(endpoint): \(cause) (\(RemoteCaller.requestCount(attempts)))"
  }

  /// The description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
