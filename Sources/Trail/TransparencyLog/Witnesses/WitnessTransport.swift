// SPDX-License-Identifier: Apache-2.0

/// Sends the requests of a log to its witnesses: all that is needed of an HTTP client.
///
/// A witness may be slow, down or hostile. A transport ends by `timeout`, reads no more than it is told, follows no
/// redirect, and gives up when its task is cancelled. Its users do not rely on that: a call that does not end
/// is left behind, and the witness is not asked again before it has.
public protocol WitnessTransport: Sendable {
  /// Sends a request once and reads the whole response. It must not block its thread.
  ///
  /// - Parameters:
  ///   - body: What to send by `POST`.
  ///   - url: Where to.
  ///   - timeout: From the start until the last byte of the response.
  ///   - maximumByteCount: The longest body that is read; a longer one is a failure.
  /// - Returns: The response, whatever its status.
  /// - Throws: ``WitnessTransportError`` if it is missing.
  func post(
    _ body: [UInt8], to url: String, timeout: Duration, maximumByteCount: Int
  ) async throws(WitnessTransportError) -> WitnessResponse
}

/// The HTTP response of a witness.
public struct WitnessResponse: Sendable, Hashable {
  /// The status code (RFC 9110 section 15).
  public let status: Int
  /// The `Content-Type`; `nil` without one.
  public let contentType: String?
  /// The body; empty without one.
  public let body: [UInt8]

  /// Creates a response.
  public init(status: Int, contentType: String? = nil, body: [UInt8] = []) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }
}

/// Why there is no response.
public struct WitnessTransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// No connection, or one that ended before the response did.
    case unreachable
    /// The time was up.
    case timedOut = "timed-out"
    /// The response is longer than is read.
    case tooLarge = "too-large"
    /// The transport does not send to such a URL, or was shut down.
    case unusable
  }

  /// The kind of fault.
  public let code: Code
  /// In words, on one line. It quotes nothing that the witness sent.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Code and message.
  public var description: String { "\(code.rawValue): \(message)" }
}
