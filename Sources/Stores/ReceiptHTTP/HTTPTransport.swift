// SPDX-License-Identifier: Apache-2.0

/// Sends HTTP requests; the only part of an HTTP client that the clients and checkers need.
///
/// `ReceiptHTTPCurl` implements it with the system's libcurl, `ReceiptHTTPAsyncHTTPClient` with AsyncHTTPClient. The
/// code that creates a transport shuts it down.
public protocol HTTPTransport: Sendable {
  /// Sends a request once and reads the whole response.
  ///
  /// It follows no redirect and repeats no request. It reads at most ``RemoteRequest/maximumResponseByteCount`` bytes
  /// of the body, and ends within ``RemoteRequest/timeout``. It checks the server's certificate. If the task is
  /// cancelled, it closes the connection at once.
  ///
  /// - Throws: ``HTTPTransportError``.
  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse
}

/// A header field of a request or response.
public struct HTTPHeader: Sendable, Hashable {
  /// The name; names are compared case-insensitively.
  public var name: String
  /// The value.
  public var value: String

  /// Creates a header.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A complete request.
public struct RemoteRequest: Sendable {
  /// The method (RFC 9110 section 9).
  public enum Method: String, Sendable, Hashable, CaseIterable {
    /// Reads the resource.
    case get = "GET"
    /// Lets the resource process the body.
    case post = "POST"
    /// Creates or replaces the resource.
    case put = "PUT"
    /// Removes the resource.
    case delete = "DELETE"
  }

  /// The method.
  public var method: Method
  /// The URL.
  public var url: RemoteURL
  /// The headers, without `Host` and `Content-Length`, which the transport adds.
  public var headers: [HTTPHeader]
  /// The body; `nil` for none.
  public var body: [UInt8]?
  /// The time limit from the start to the last byte of the response.
  public var timeout: Duration
  /// The largest number of bytes that the response's body may have; a longer body is a failure.
  public var maximumResponseByteCount: Int

  /// Creates a request.
  public init(
    _ method: Method, _ url: RemoteURL, headers: [HTTPHeader] = [], body: [UInt8]? = nil,
    timeout: Duration = .seconds(30), maximumResponseByteCount: Int = 8 << 20
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.maximumResponseByteCount = maximumResponseByteCount
  }
}

extension RemoteRequest: CustomStringConvertible, CustomReflectable {
  /// The method and the URL, without headers and body, which hold secrets.
  public var description: String { "\(method.rawValue) \(url)" }

  /// The method and the URL only.
  public var customMirror: Mirror {
    Mirror(self, children: ["method": method.rawValue, "url": url.description])
  }
}

/// A complete response.
public struct RemoteResponse: Sendable, Hashable {
  /// The status code (RFC 9110 section 15).
  public var status: Int
  /// The headers, in order.
  public var headers: [HTTPHeader]
  /// The body; empty if the response has no body.
  public var body: [UInt8]

  /// Creates a response.
  public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the value of the first header with this name.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }
}

/// The reason why there is no response.
public struct HTTPTransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The connection could not be made: the name is unknown, or the connection was refused. Nothing was sent.
    case cannotConnect = "cannot-connect"
    /// The server's certificate is not trusted, or the TLS handshake failed. Nothing was sent.
    case insecure
    /// The connection ended before the response was complete.
    case connectionLost = "connection-lost"
    /// The time limit passed.
    case timedOut = "timed-out"
    /// The response is longer than allowed.
    case tooLarge = "too-large"
    /// The response is not valid HTTP.
    case invalidResponse = "invalid-response"
    /// The task was cancelled.
    case cancelled
    /// The transport was shut down, or cannot send such a request.
    case unusable
  }

  /// The kind of failure.
  public let code: Code
  /// A sentence that describes the failure; it quotes no header and no body.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// `true` if the request certainly did not reach the server.
  package var wasNotSent: Bool { code == .cannotConnect || code == .insecure || code == .unusable }

  /// `true` if the same request may succeed later.
  public var isRetryable: Bool {
    switch code {
    case .cannotConnect, .connectionLost, .timedOut, .invalidResponse: true
    case .insecure, .tooLarge, .cancelled, .unusable: false
    }
  }

  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}

/// The `User-Agent` header of requests.
package enum UserAgent {
  /// The version of this package.
  package static let version = "0.1.0"
  package static let header = HTTPHeader("User-Agent", "ReceiptKit/\(version)")
}

/// A secret text that is replaced by asterisks whenever it is printed, dumped or logged.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The text itself, for sending.
  package let text: String

  /// Wraps a text.
  public init(_ text: String) { self.text = text }

  /// Asterisks.
  public var description: String { "***" }
  /// Asterisks.
  public var debugDescription: String { "***" }
  /// An empty mirror, without the text.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
