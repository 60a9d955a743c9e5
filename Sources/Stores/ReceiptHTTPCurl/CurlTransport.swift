// SPDX-License-Identifier: Apache-2.0

internal import CCurl
public import ReceiptHTTP

/// Sends requests with the system's libcurl, which is loaded when the first transport is created.
///
/// There is nothing to build, and nothing to link for a process that sends no request.
///
/// It trusts the system's certificate authorities, or those of a file, and follows the environment variables
/// `https_proxy` and `no_proxy`. It stores no cookies and caches nothing. The code that creates a transport calls
/// ``shutdown()``.
public final class CurlTransport: HTTPTransport {
  /// The version of the installed libcurl, such as `7.88.1`; `nil` if there is no usable one. Reading it loads libcurl.
  package static var libraryVersion: String? {
    // `libcurl/7.88.1 OpenSSL/3.0.19 zlib/1.2.13 …`
    unsafe CCurl_version().flatMap { unsafe String(cString: $0).split(separator: " ").first }
      .map { String($0.drop { $0 != "/" }.dropFirst()) }
  }

  private let loop: CurlLoop?
  private let certificateAuthorities: String?

  /// Creates a transport.
  ///
  /// - Parameters:
  ///   - certificateAuthorities: The path of a PEM file of trusted certificates that replace the system's.
  ///   - maximumConnectionsPerHost: The largest number of open connections to one host; 16 by default.
  public init(certificateAuthorities: String? = nil, maximumConnectionsPerHost: Int = 16) {
    self.certificateAuthorities = certificateAuthorities
    loop = CurlLoop(maximumConnectionsPerHost: maximumConnectionsPerHost)
  }

  deinit { loop?.shutdown() }

  /// Ends all requests under way and closes the connections; later requests fail.
  public func shutdown() { loop?.shutdown() }

  /// Sends a request once.
  public func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    guard let loop else {
      throw HTTPTransportError(
        .unusable, "libcurl.so.4 is not installed, or is older than 7.68 (Debian: apt-get install libcurl4).")
    }
    guard !Task.isCancelled else { throw HTTPTransportError(.cancelled, "The task is cancelled.") }
    guard let exchange = CurlExchange(request, certificateAuthorities: certificateAuthorities) else {
      throw HTTPTransportError(.unusable, "libcurl takes no such request.")
    }
    loop.start(exchange)
    let outcome = await withTaskCancellationHandler {
      await exchange.outcome.value
    } onCancel: {
      loop.cancel(exchange)
    }
    return try outcome.get()
  }
}
