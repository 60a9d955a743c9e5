// SPDX-License-Identifier: Apache-2.0

/// A fault in an answer.
public enum EmulatorFault: Sendable, Hashable {
  // Faults of the connection.

  /// The correct answer, delayed.
  case delay(milliseconds: Int)
  /// No bytes are sent, and the connection stays open.
  case neverAnswer
  /// The connection is closed after this number of bytes of the response, including its head.
  case cut(afterBytes: Int)
  /// The connection is reset after this number of bytes.
  case reset(afterBytes: Int)
  /// `Content-Length` is wrong by this number of bytes.
  case contentLength(off: Int)
  /// A chunked body with malformed chunks.
  case brokenChunks
  /// Bytes that are not HTTP.
  case notHTTP
  /// A body that does not end.
  case endlessBody
  /// A head that does not end.
  case endlessHead

  // Faults of the response.

  /// This status, with a text body and an optional `Retry-After` in seconds from now.
  case status(Int, retryAfter: RetryAfterForm? = nil, seconds: Int = 1)
  /// Error JSON of the App Store. The status is the code divided by 10000.
  case error(code: Int64, retryAfter: RetryAfterForm? = nil, seconds: Int = 1)
  /// The correct answer to this number of requests in each period of seconds, then the App Store's error 4290000 with
  /// `Retry-After` as UNIX time in milliseconds.
  case rateLimit(requests: Int, seconds: Int)
  /// A redirect.
  case redirect(RedirectTarget)
  /// JSON with values of wrong types.
  case wrongJSON
  /// Truncated JSON in a complete response.
  case truncatedJSON
  /// The JSON of another endpoint.
  case otherEndpoint
  /// `verifyReceipt` answers with this status and nothing else.
  case receiptStatus(Int, isRetryable: Bool? = nil)

  // Faults of signed payloads.

  /// One bit of each signed payload is flipped.
  case flippedBit
  /// Signed payloads are signed by another identity.
  case untrustedSigner
  /// Signed payloads name another app.
  case otherApp
  /// Signed payloads name the other environment.
  case otherEnvironment

  /// The name without parameters.
  var name: String { String("\(self)".prefix { $0 != "(" }) }
}
