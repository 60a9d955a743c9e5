// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptSigning
internal import ReceiptVerification

/// The reason why a call of the App Store Server API failed.
///
/// Its texts contain no key, no token and no signed payload.
///
/// ```swift
/// do {
///   let transaction = try await client.send(.transaction("2000000001"))
///   return transaction.receipt.activePurchases(at: SystemClock.now())
/// } catch let error as AppStoreServerError where error.code == .transactionIdNotFound {
///   refuse("The purchase is not of this environment.")
/// }
/// ```
public struct AppStoreServerError: Error, Sendable, Hashable {
  /// The cause of the failure.
  public indirect enum Cause: Error, Sendable, Hashable {
    /// The App Store refused the request with an error code.
    ///
    /// The message is one line of bounded length.
    case response(AppStoreServerErrorCode, message: String)
    /// The token was not accepted (HTTP status 401): the key, key identifier, issuer, bundle or clock is wrong.
    case unauthorized(message: String?)
    /// There were too many requests (HTTP status 429).
    ///
    /// `retryAfter` is the time for the next attempt, if the App Store states it.
    case rateLimited(retryAfter: Timestamp?)
    /// The response has an error status and no readable reason.
    case unexpectedStatus(Int)
    /// The response has a success status, but its body does not match the endpoint.
    case malformedResponse(MalformedReceipt)
    /// A signed part is not genuine, or belongs to another app, environment or transaction than the request.
    case notVerified(UnverifiedPart)
    /// There is no response.
    case transport(HTTPTransportError)
    /// The deadline of the retry policy passed.
    case deadlineExceeded
    /// The task was cancelled.
    case cancelled
    /// The server redirects, and the redirect was not followed: to another origin, of a request other than `GET`, or
    /// once more after `followed` redirects.
    case redirected(status: Int, location: String?, followed: Int = 0)
    /// The request breaks a limit that Apple documents; it was not sent.
    case invalidRequest(place: String, message: String)
    /// No token could be signed.
    case signing(SigningError)
  }

  /// The endpoint of the call.
  public let endpoint: AppStoreServerEndpoint
  /// The number of requests sent; 0 if the call failed before the first.
  package let attempts: Int
  /// The cause of the failure.
  public let cause: Cause

  init(_ endpoint: AppStoreServerEndpoint, attempts: Int, _ cause: Cause) {
    self.endpoint = endpoint
    self.attempts = attempts
    self.cause = cause
  }

  /// The error code of the App Store's refusal; `nil` if it did not refuse the request with one.
  public var code: AppStoreServerErrorCode? {
    switch cause {
    case .response(let code, _): code
    case .rateLimited: .rateLimitExceeded
    case .unauthorized: .unauthorized
    default: nil
    }
  }

  /// `true` if the same call may succeed later.
  ///
  /// For a call that is not idempotent, this is no proof that the failed call had no effect.
  public var isRetryable: Bool {
    switch cause {
    case .response(let code, _): code.isRetryable || (code.meaning == nil && code.httpStatus / 100 == 5)
    case .rateLimited, .deadlineExceeded: true
    case .unexpectedStatus(let status): RemoteResponse.isTemporaryFailure(status: status)
    case .transport(let error): error.isRetryable
    case .notVerified(let part): part.isRetryable
    case .unauthorized, .malformedResponse, .cancelled, .redirected, .invalidRequest, .signing: false
    }
  }
}

extension AppStoreServerError: CustomStringConvertible, CustomReflectable {
  /// The endpoint, the cause and the number of requests in one line.
  public var description: String {
    "\(endpoint): \(cause) (\(RemoteCaller.requestCount(attempts)))"
  }

  /// The description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension AppStoreServerError.Cause: CustomStringConvertible, CustomReflectable {
  /// The cause in one line of bounded length.
  public var description: String { ShownText.line(text) }

  /// The description only, because the values below may quote the response.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

  fileprivate var text: String {
    switch self {
    case .response(let code, let message):
      "\(code.rawValue)\(message.isEmpty ? "" : ": \(message)")"
    case .unauthorized(let message):
      "The token was not accepted (HTTP status 401)\(message.map { ": \($0)" } ?? ""). Check key, key "
        + "identifier, issuer, bundle and clock."
    case .rateLimited(let instant):
      "Too many requests\(instant.map { "; come back at \($0.iso8601)" } ?? "")."
    case .unexpectedStatus(let status): "HTTP status \(status) without a reason that can be read."
    case .malformedResponse(let error): "The response is not what this call answers: \(error)"
    case .notVerified(let part): "\(part.place) is not verified: \(part.code.rawValue): \(part.message)"
    case .transport(let error): error.description
    case .deadlineExceeded: "The deadline passed."
    case .cancelled: "The task was cancelled."
    case .redirected(let status, let location, let followed):
      RemoteCaller.Failure.redirect(status: status, to: location, followed: followed)
    case .invalidRequest(let place, let message): "\(message) (\(place))"
    case .signing(let error): "No token could be signed: \(error)"
    }
  }
}

extension AppStoreServerErrorCode {
  /// The HTTP status of the code, which is its first three digits.
  package var httpStatus: Int { Int(clamping: rawValue / 10_000) }

  /// `true` if Apple documents that the same request may succeed later.
  package var isRetryable: Bool {
    switch self {
    case .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
      .rateLimitExceeded, .generalInternalRetryable:
      true
    default: false
    }
  }
}
