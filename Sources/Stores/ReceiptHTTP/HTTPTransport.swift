// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

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

extension RemoteRequest: CustomStringConvertible, CustomReflectable {
  /// The method and the URL, without headers and body, which hold secrets.
  public var description: String { "\(method.rawValue) \(url)" }

  /// The method and the URL only.
  public var customMirror: Mirror {
    Mirror(self, children: ["method": method.rawValue, "url": url.description])
  }
}

extension RemoteResponse {
  /// Returns the value of the first header with this name.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }
}

extension HTTPTransportError {
  /// `true` if the request certainly did not reach the server.
  package var wasNotSent: Bool { code == .cannotConnect || code == .insecure || code == .unusable }

  /// `true` if the same request may succeed later.
  public var isRetryable: Bool {
    switch code {
    case .cannotConnect, .connectionLost, .timedOut, .invalidResponse: true
    case .insecure, .tooLarge, .cancelled, .unusable: false
    }
  }
}

/// The `User-Agent` header of requests.
package enum UserAgent {
  package static let header = HTTPHeader("User-Agent", "ReceiptKit/\(ToolkitVersion.current)")
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
