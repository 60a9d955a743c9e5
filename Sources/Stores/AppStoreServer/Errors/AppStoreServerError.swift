// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptSigning
public import ReceiptVerification

/// Why a call of the App Store Server API failed.
///
/// Its texts hold neither key nor token nor a signed payload.
///
/// ```swift
/// do {
///   let transaction = try await client.send(.transaction("2000000001"))
///   grant(transaction.payload)
/// } catch let error as AppStoreServerError where error.code == .transactionIdNotFound {
///   refuse("The purchase is not of this environment.")
/// }
/// ```
public struct AppStoreServerError: Error, Sendable, Hashable {
  /// What went wrong.
  public indirect enum Cause: Sendable, Hashable {
    /// The App Store refuses the request and says why. The message is on one line, of bounded length.
    case response(AppStoreServerErrorCode, message: String)
    /// The token is not accepted (HTTP status 401): wrong key, key identifier, issuer or bundle, or a clock
    /// that is wrong.
    case unauthorized(message: String?)
    /// Too many requests (HTTP status 429), and when to come back, where the App Store says so.
    case rateLimited(retryAfter: Timestamp?)
    /// A status that is no success, without a reason that can be read.
    case unexpectedStatus(Int)
    /// A success whose body is not what the endpoint answers.
    case malformedResponse(MalformedReceipt)
    /// A signed part that is not genuine, or not of the app, environment or transaction of the request.
    case notVerified(UnverifiedPart)
    /// There is no response.
    case transport(HTTPTransportError)
    /// The deadline of the retry policy passed.
    case deadlineExceeded
    /// The task was cancelled.
    case cancelled
    /// The server redirects to another host, or once more after `followed` redirects; this one is not followed.
    case redirected(status: Int, location: String?, followed: Int = 0)
    /// The request breaks a limit that Apple documents; it was not sent.
    case invalidRequest(place: String, message: String)
    /// No token could be signed.
    case signing(SigningError)
  }

  /// A signed part of a response that could not be verified.
  public struct UnverifiedPart: Sendable, Hashable {
    /// The path of the part in the response, such as `$.signedTransactions[3]`.
    public let place: String
    /// Why.
    public let code: ReasonCode
    /// In words.
    public let message: String
    /// Whether it could not be checked now, and may be later.
    public let isRetryable: Bool
  }

  /// The call.
  public let endpoint: AppStoreServerEndpoint
  /// How many requests were sent; 0 where it was refused before.
  public let attempts: Int
  /// What went wrong.
  public let cause: Cause

  init(_ endpoint: AppStoreServerEndpoint, attempts: Int, _ cause: Cause) {
    self.endpoint = endpoint
    self.attempts = attempts
    self.cause = cause
  }

  /// The code by which the App Store refused the request, where it did.
  public var code: AppStoreServerErrorCode? {
    switch cause {
    case .response(let code, _): code
    case .rateLimited: .rateLimitExceeded
    case .unauthorized: .unauthorized
    default: nil
    }
  }

  /// Whether the same call may succeed later. For a call that is not idempotent that is no proof that
  /// this one did nothing.
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
  /// Endpoint, cause and number of requests in one line.
  public var description: String {
    "\(endpoint): \(cause) (\(RemoteCaller.requestCount(attempts)))"
  }

  /// The description alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension AppStoreServerError.Cause: CustomStringConvertible, CustomReflectable {
  /// The cause in one line of bounded length.
  public var description: String { ShownText.line(text) }

  /// The description alone: what lies below may quote the response.
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
  /// The HTTP status that goes with the code: its first three digits.
  public var httpStatus: Int { Int(clamping: rawValue / 10_000) }

  /// Whether Apple documents that the same request may succeed later.
  public var isRetryable: Bool {
    switch self {
    case .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
      .rateLimitExceeded, .generalInternalRetryable:
      true
    default: false
    }
  }
}
