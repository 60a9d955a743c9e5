// SPDX-License-Identifier: Apache-2.0

/// One way in which an answer goes wrong.
public enum EmulatorFault: Sendable, Hashable {
  /// How `Retry-After` is spelled.
  public enum RetryAfterForm: String, Sendable, Hashable, CaseIterable {
    /// UNIX time in milliseconds, as the App Store writes it.
    case milliseconds
    /// Seconds to wait (RFC 9110 section 10.2.3).
    case seconds
    /// A date (RFC 9110 section 5.6.7).
    case date
  }

  /// Where a redirect leads.
  public enum RedirectTarget: String, Sendable, Hashable, CaseIterable {
    /// To a host that does not exist.
    case otherHost = "other-host"
    /// To the same request without the fault.
    case sameHost = "same-host"
    /// To itself, for ever.
    case loop
  }

  // What the connection does.

  /// The answer is right and late.
  case delay(milliseconds: Int)
  /// No byte comes, and the connection stays open.
  case neverAnswer
  /// The connection ends after so many bytes of the response, head included.
  case cut(afterBytes: Int)
  /// The connection is reset after so many bytes.
  case reset(afterBytes: Int)
  /// `Content-Length` is off by so much: more than the body has, or less.
  case contentLength(off: Int)
  /// A chunked body whose chunks are none.
  case brokenChunks
  /// Bytes that are no HTTP.
  case notHTTP
  /// A body that does not end.
  case endlessBody
  /// A head that does not end.
  case endlessHead

  // What the response says.

  /// A status of the caller's, with `Retry-After` so many seconds from now where it is given. The body is text.
  case status(Int, retryAfter: RetryAfterForm? = nil, seconds: Int = 1)
  /// Error JSON of the App Store; the status is the code divided by 10000.
  case error(code: Int64, retryAfter: RetryAfterForm? = nil, seconds: Int = 1)
  /// A redirect.
  case redirect(RedirectTarget)
  /// JSON with wrong types in it.
  case wrongJSON
  /// JSON that ends in its middle, though the response is whole.
  case truncatedJSON
  /// The JSON of another endpoint.
  case otherEndpoint
  /// `verifyReceipt` answers with this status and nothing else.
  case receiptStatus(Int, isRetryable: Bool? = nil)

  // What is signed.

  /// A bit of each signed payload is flipped.
  case flippedBit
  /// Signed payloads are signed by somebody else.
  case untrustedSigner
  /// Signed payloads are about another app.
  case otherApp
  /// Signed payloads are of the other environment.
  case otherEnvironment
}
