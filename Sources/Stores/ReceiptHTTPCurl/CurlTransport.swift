// SPDX-License-Identifier: Apache-2.0

internal import CCurl
public import ReceiptHTTP

/// Sends requests with the system's libcurl, which is loaded when the first is sent: nothing to build, and
/// nothing to link for a process that sends no request.
///
/// It trusts the system's certificate authorities, or those of a file, and heeds the environment variables
/// `https_proxy` and `no_proxy`. It keeps no cookies and no caches. The code that makes one calls ``shutdown()``.
public final class CurlTransport: HTTPTransport {
  /// The version of the libcurl that is installed, such as `7.88.1`; `nil` without one that is usable. Loads it.
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
  ///   - certificateAuthorities: The path of a file of trusted certificates in PEM, in place of the system's.
  ///   - maximumConnectionsPerHost: Connections to one host that are open at a time; 16 by default.
  public init(certificateAuthorities: String? = nil, maximumConnectionsPerHost: Int = 16) {
    self.certificateAuthorities = certificateAuthorities
    loop = CurlLoop(maximumConnectionsPerHost: maximumConnectionsPerHost)
  }

  deinit { loop?.shutdown() }

  /// Ends all exchanges and closes the connections. What is sent afterwards fails.
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
