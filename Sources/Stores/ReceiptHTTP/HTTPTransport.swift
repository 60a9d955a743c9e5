// SPDX-License-Identifier: Apache-2.0

/// Sends HTTP requests: all that the clients and checkers need of an HTTP client.
///
/// `ReceiptHTTPCurl` puts the system's libcurl behind it, `ReceiptHTTPAsyncHTTPClient` AsyncHTTPClient. The code
/// that makes a transport shuts it down.
public protocol HTTPTransport: Sendable {
  /// Sends a request once and reads the whole response.
  ///
  /// It follows no redirect, repeats nothing, reads no more than ``RemoteRequest/maximumResponseByteCount`` of a
  /// body, and is done by ``RemoteRequest/timeout``. It checks the server's certificate. When the task is
  /// cancelled it gives up the connection at once.
  ///
  /// - Throws: ``HTTPTransportError``.
  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse
}

/// One name and value of a request or response.
public struct HTTPHeader: Sendable, Hashable {
  /// The name; names are compared without regard to case.
  public var name: String
  /// The value.
  public var value: String

  /// Creates a header.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A request, complete.
public struct RemoteRequest: Sendable {
  /// The method (RFC 9110 section 9).
  public enum Method: String, Sendable, Hashable, CaseIterable {
    /// Reads.
    case get = "GET"
    /// Does what the resource does.
    case post = "POST"
    /// Sets.
    case put = "PUT"
    /// Removes.
    case delete = "DELETE"
  }

  /// The method.
  public var method: Method
  /// Where it goes.
  public var url: RemoteURL
  /// Headers, without `Host` and `Content-Length`, which the transport adds.
  public var headers: [HTTPHeader]
  /// The body; `nil` for none.
  public var body: [UInt8]?
  /// From the start until the last byte of the response.
  public var timeout: Duration
  /// The longest body that is read; a longer one is a failure.
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
  /// Method and URL; neither headers nor body, which hold secrets.
  public var description: String { "\(method.rawValue) \(url)" }

  /// Method and URL alone.
  public var customMirror: Mirror {
    Mirror(self, children: ["method": method.rawValue, "url": url.description])
  }
}

/// A response, complete.
public struct RemoteResponse: Sendable, Hashable {
  /// The status code (RFC 9110 section 15).
  public var status: Int
  /// Headers, in order.
  public var headers: [HTTPHeader]
  /// The body; empty if there is none.
  public var body: [UInt8]

  /// Creates a response.
  public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value of the first header of this name.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }
}

/// Why there is no response.
public struct HTTPTransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// No connection: the name is unknown, or the connection was refused. Nothing was sent.
    case cannotConnect = "cannot-connect"
    /// The server's certificate is not trusted, or TLS could not be agreed on. Nothing was sent.
    case insecure
    /// The connection ended before the response did.
    case connectionLost = "connection-lost"
    /// The time was up.
    case timedOut = "timed-out"
    /// The response is longer than allowed.
    case tooLarge = "too-large"
    /// What came is not HTTP.
    case invalidResponse = "invalid-response"
    /// The task was cancelled.
    case cancelled
    /// The transport was shut down, or cannot send such a request.
    case unusable
  }

  /// What went wrong.
  public let code: Code
  /// In words. It quotes no header and no body.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Whether the request certainly did not reach the server.
  public var wasNotSent: Bool { code == .cannotConnect || code == .insecure || code == .unusable }

  /// Whether the same request may succeed later.
  public var isRetryable: Bool {
    switch code {
    case .cannotConnect, .connectionLost, .timedOut, .invalidResponse: true
    case .insecure, .tooLarge, .cancelled, .unusable: false
    }
  }

  /// Code and message.
  public var description: String { "\(code.rawValue): \(message)" }
}

/// What requests say that they come from.
package enum UserAgent {
  /// The version of this package.
  package static let version = "0.1.0"
  package static let header = HTTPHeader("User-Agent", "ReceiptKit/\(version)")
}

/// A text that must not be seen: whatever prints it, dumps it or logs it gets asterisks.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The text, for where it is sent.
  package let text: String

  /// Wraps a text.
  public init(_ text: String) { self.text = text }

  /// Asterisks.
  public var description: String { "***" }
  /// Asterisks.
  public var debugDescription: String { "***" }
  /// Nothing of the text.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
