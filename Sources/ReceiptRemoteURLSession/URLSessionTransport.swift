// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
public import ReceiptRemote
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Sends requests with Foundation's URLSession: nothing more to build or to link than Swift brings along.
///
/// On Linux it stands on libcurl, trusts the system's certificate authorities (`/etc/ssl/certs`) and no others,
/// and heeds the environment variables `https_proxy` and `no_proxy`. It keeps no cookies, caches or credentials.
/// Whoever makes one calls ``shutdown()``.
public final class URLSessionTransport: HTTPTransport {
  private let exchanges: Exchanges
  // The operation queue over it does not keep it.
  private let delegateQueue = DispatchQueue(label: "ReceiptRemoteURLSession", qos: .userInitiated)
  private let session: URLSession

  /// Creates a transport.
  ///
  /// - Parameter maximumConnectionsPerHost: Connections to one host that are open at a time; 16 by default.
  public init(maximumConnectionsPerHost: Int = 16) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = maximumConnectionsPerHost
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    let exchanges = Exchanges()
    self.exchanges = exchanges
    // A thread of its own: on a busy shared pool the delegate may come too late to stop a body without end, and
    // what it has not seen yet piles up in memory.
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    unsafe queue.underlyingQueue = delegateQueue
    session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: queue)
  }

  /// Ends all exchanges and closes the connections. What is sent afterwards fails.
  public func shutdown() {
    exchanges.close()
    session.invalidateAndCancel()
  }

  /// Sends a request once.
  public func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    guard !Task.isCancelled else { throw HTTPTransportError(.cancelled, "The task is cancelled.") }
    guard let url = URL(string: request.url.description) else {
      throw HTTPTransportError(.unusable, "Foundation does not take \(request.url) for a URL.")
    }
    var urlRequest = URLRequest(url: url)
    urlRequest.httpMethod = request.method.rawValue
    for header in request.headers { urlRequest.setValue(header.value, forHTTPHeaderField: header.name) }
    // A bound on the bytes that arrive is a bound on the body.
    urlRequest.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    if let body = request.body { urlRequest.httpBody = Data(body) }
    let limit = request.timeout
    urlRequest.timeoutInterval = max(1, Double(limit.components.seconds) + 1)

    let task = session.dataTask(with: urlRequest)
    let exchange = Exchange(maximumByteCount: request.maximumResponseByteCount)
    guard exchanges.begin(exchange, of: task) else {
      throw HTTPTransportError(.unusable, "The transport was shut down.")
    }
    let timer = Task {
      do { try await Task.sleep(for: limit, clock: .continuous) } catch { return }
      exchange.fail(.timedOut, "No complete response within \(limit).")
      task.cancel()
    }
    task.resume()
    let result = await withTaskCancellationHandler {
      await exchange.result.value
    } onCancel: {
      exchange.fail(.cancelled, "The task was cancelled.")
      task.cancel()
    }
    timer.cancel()
    if exchange.isOverdue { task.cancel() }
    exchanges.end(task)
    return try result.get()
  }
}

/// One request under way.
final class Exchange: Sendable {
  typealias Outcome = Result<RemoteResponse, HTTPTransportError>

  fileprivate struct Received {
    var response = RemoteResponse(status: 0)
    var failed = false
  }

  let result = FirstResult<Outcome>()
  private let maximumByteCount: Int
  fileprivate let received = Mutex(Received())

  init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

  /// Whether it ended before the transfer did.
  var isOverdue: Bool { received.withLock { $0.failed } }

  func fail(_ code: HTTPTransportError.Code, _ message: String) {
    received.withLock { $0.failed = true }
    result.deliver(.failure(HTTPTransportError(code, message)))
  }

  /// Whether the body may come.
  func begin(status: Int, headers: [HTTPHeader], expectedByteCount: Int64) -> Bool {
    guard expectedByteCount <= Int64(maximumByteCount) else {
      tooLarge()
      return false
    }
    received.withLock { received in
      received.response.status = status
      received.response.headers = headers
    }
    return true
  }

  /// Whether more may come.
  func append(_ data: Data) -> Bool {
    let fits = received.withLock { received in
      guard received.response.body.count + data.count <= maximumByteCount else { return false }
      for region in data.regions {
        unsafe region.withUnsafeBytes { unsafe received.response.body.append(contentsOf: $0) }
      }
      return true
    }
    if !fits { tooLarge() }
    return fits
  }

  private func tooLarge() {
    fail(.tooLarge, "The response has more than the \(maximumByteCount) bytes that are read.")
  }

  func complete() {
    let response = received.withLock { $0.response }
    guard response.status > 0 else {
      result.deliver(.failure(HTTPTransportError(.invalidResponse, "The server did not answer with HTTP.")))
      return
    }
    if let length = response.header("Content-Length").flatMap({ Int($0) }), response.body.count < length,
      response.header("Content-Encoding") == nil
    {
      fail(.connectionLost, "\(response.body.count) of \(length) bytes arrived.")
      return
    }
    result.deliver(.success(response))
  }
}

/// The requests under way, by task, and what URLSession says about them.
private final class Exchanges: NSObject, URLSessionDataDelegate {
  private struct State {
    var exchanges: [Int: Exchange] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())

  func begin(_ exchange: Exchange, of task: URLSessionTask) -> Bool {
    let identifier = task.taskIdentifier
    return state.withLock { state in
      guard !state.isClosed else { return false }
      state.exchanges[identifier] = exchange
      return true
    }
  }

  func end(_ task: URLSessionTask) {
    let identifier = task.taskIdentifier
    state.withLock { _ = $0.exchanges.removeValue(forKey: identifier) }
  }

  func close() {
    let open = state.withLock { state in
      state.isClosed = true
      return Array(state.exchanges.values)
    }
    for exchange in open { exchange.fail(.unusable, "The transport was shut down.") }
  }

  private func exchange(of task: URLSessionTask) -> Exchange? {
    let identifier = task.taskIdentifier
    return state.withLock { $0.exchanges[identifier] }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    // Who asked decides what to make of a redirect.
    if let exchange = exchange(of: task) {
      _ = exchange.begin(
        status: response.statusCode, headers: Self.headers(of: response), expectedByteCount: 0)
      exchange.complete(redirect: true)
    }
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    guard let exchange = exchange(of: dataTask), let response = response as? HTTPURLResponse,
      exchange.begin(
        status: response.statusCode, headers: Self.headers(of: response),
        expectedByteCount: response.expectedContentLength)
    else { return completionHandler(.cancel) }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let exchange = exchange(of: dataTask) else { return }
    if !exchange.append(data) { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    // A 401 is for whoever asked. Every other answer to the challenge has libcurl's task wait for ever, or crash.
    if let exchange = exchange(of: task), let response = challenge.failureResponse as? HTTPURLResponse {
      _ = exchange.begin(
        status: response.statusCode, headers: Self.headers(of: response), expectedByteCount: 0)
      exchange.complete(redirect: true)
    }
    completionHandler(.cancelAuthenticationChallenge, nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let exchange = exchange(of: task) else { return }
    guard let error else { return exchange.complete() }
    let failure = Self.failure(error)
    exchange.fail(failure.code, failure.message)
  }

  private static func headers(of response: HTTPURLResponse) -> [HTTPHeader] {
    response.allHeaderFields.compactMap { name, value in
      guard let name = name as? String, let value = value as? String else { return nil }
      return HTTPHeader(name, value)
    }
  }

  /// Foundation's message names the URL at most; its other details stay here.
  private static func failure(_ error: any Error) -> HTTPTransportError {
    guard let error = error as? URLError else {
      return HTTPTransportError(.connectionLost, "The request failed (\(type(of: error))).")
    }
    switch error.code {
    case .timedOut: return HTTPTransportError(.timedOut, "The server did not answer in time.")
    case .cannotFindHost, .dnsLookupFailed:
      return HTTPTransportError(.cannotConnect, "The host's name is not known.")
    case .cannotConnectToHost, .notConnectedToInternet:
      return HTTPTransportError(.cannotConnect, "No connection to the host.")
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRequired,
      .clientCertificateRejected, .appTransportSecurityRequiresSecureConnection:
      return HTTPTransportError(
        .insecure, "TLS failed: the server's certificate is not trusted, or not for this host.")
    case .cancelled: return HTTPTransportError(.cancelled, "The request was cancelled.")
    // libcurl takes what is not HTTP/1.1 for another protocol; the scheme of our URLs is always one it has.
    case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
      .unsupportedURL:
      return HTTPTransportError(.invalidResponse, "What the server sent is not HTTP.")
    case .badURL: return HTTPTransportError(.unusable, "libcurl does not take the URL.")
    default:
      return HTTPTransportError(.connectionLost, "The connection failed (URLError \(error.code.rawValue)).")
    }
  }
}

extension Exchange {
  /// A redirect's body is of no interest.
  fileprivate func complete(redirect: Bool) {
    let response = received.withLock { $0.response }
    result.deliver(.success(response))
  }
}
