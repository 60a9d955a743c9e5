// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  public import AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOSSL
  public import ReceiptHTTP

  /// Sends requests with AsyncHTTPClient, over SwiftNIO.
  ///
  /// ```swift
  /// let transport = try AsyncHTTPClientTransport()
  /// // …
  /// try await transport.shutdown()
  /// ```
  ///
  /// It uses HTTP/1.1, and TLS 1.2 or later.
  public struct AsyncHTTPClientTransport: HTTPTransport {
    private let client: HTTPClient
    private let ownsClient: Bool

    /// Creates a transport with its own client, which ``shutdown()`` closes.
    ///
    /// - Throws: `HTTPTransportError` with `unusable` if a trust root is not a certificate in PEM.
    public init(_ configuration: Configuration = Configuration()) throws(HTTPTransportError) {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.minimumTLSVersion = .tlsv12
      do {
        tls.additionalTrustRoots = try configuration.additionalTrustRoots.map {
          .certificates(try NIOSSLCertificate.fromPEMBytes(Array($0.utf8)))
        }
      } catch {
        throw HTTPTransportError(.unusable, "A trust root is no certificate in PEM.")
      }
      var settings = HTTPClient.Configuration(
        tlsConfiguration: tls, redirectConfiguration: .disallow,
        timeout: .init(connect: TimeAmount(configuration.connectTimeout)), decompression: .disabled)
      settings.httpVersion = .http1Only
      settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(
        1, configuration.connectionsPerHost)
      // The caller decides on retries, and must be informed of a refused connection at once.
      settings.connectionPool.retryConnectionEstablishment = false
      settings.refuseImpossibleHeads()
      self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
      self.ownsClient = true
    }

    /// Creates a transport with the caller's client, which the caller shuts down.
    ///
    /// Configure the client to follow no redirect (`.disallow`), to decompress nothing, and not to retry connections. A
    /// client of AsyncHTTPClient 1.37 ends the process if a server answers with a status below 100; the client that a
    /// transport creates itself is protected against this.
    public init(wrapping client: HTTPClient) {
      self.client = client
      self.ownsClient = false
    }

    /// Closes the connections, unless the client is the caller's.
    ///
    /// Requests under way fail; later ones fail with `unusable`.
    public func shutdown() async throws {
      if ownsClient { try await client.shutdown() }
    }

    /// Sends a request once and reads the whole response, as the protocol requires.
    ///
    /// - Throws: `HTTPTransportError`.
    public func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
      // AsyncHTTPClient's deadline covers only the head of the response; this one covers the body too.
      let result = await withTaskGroup(of: Result<RemoteResponse, HTTPTransportError>.self) { group in
        group.addTask { await exchange(request) }
        group.addTask {
          do {
            try await Task.sleep(for: request.timeout, clock: .continuous)
            return .failure(HTTPTransportError(.timedOut, "No complete response within \(request.timeout)."))
          } catch {
            return .failure(HTTPTransportError(.cancelled, "The task was cancelled."))
          }
        }
        let first = await group.next()
        group.cancelAll()
        return first
      }
      guard let result else { throw HTTPTransportError(.cancelled, "The task was cancelled.") }
      return try result.get()
    }

    private func exchange(_ request: RemoteRequest) async -> Result<RemoteResponse, HTTPTransportError> {
      do {
        return .success(try await responseInFull(to: request))
      } catch let error as HTTPTransportError {
        return .failure(error)
      } catch {
        return .failure(Task.isCancelled ? .init(.cancelled, "The task was cancelled.") : .init(error))
      }
    }

    private func responseInFull(to request: RemoteRequest) async throws -> RemoteResponse {
      var outgoing = HTTPClientRequest(url: request.url.description)
      outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
      for header in request.headers {
        guard header.isSendable else {
          throw HTTPTransportError(.unusable, "A header has a name or value that HTTP does not allow.")
        }
        outgoing.headers.add(name: header.name, value: header.value)
      }
      if let body = request.body { outgoing.body = .bytes(body, length: .known(Int64(body.count))) }
      let incoming = try await client.execute(outgoing, timeout: TimeAmount(request.timeout))
      guard incoming.history.count <= 1 else {
        throw HTTPTransportError(
          .invalidResponse, "The HTTPClient followed a redirect; configure it with .disallow.")
      }
      let limit = request.maximumResponseByteCount
      if let announced = incoming.headers.first(name: "content-length").flatMap({ Int($0) }),
        announced > limit
      {
        throw Self.tooLarge(limit)
      }
      var body: [UInt8] = []
      for try await part in incoming.body {
        guard part.readableBytes <= limit - body.count else { throw Self.tooLarge(limit) }
        body.append(contentsOf: part.readableBytesView)
      }
      return RemoteResponse(
        status: Int(incoming.status.code), headers: incoming.headers.map { HTTPHeader($0.name, $0.value) },
        body: body)
    }

    private static func tooLarge(_ limit: Int) -> HTTPTransportError {
      HTTPTransportError(.tooLarge, "The response has more than \(limit) bytes.")
    }
  }

  extension HTTPHeader {
    /// `true` if the name is a token and the value is one line (RFC 9110 section 5).
    fileprivate var isSendable: Bool {
      !name.isEmpty
        && name.utf8.allSatisfy { 0x21..<0x7F ~= $0 && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
        && value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }
  }

  extension TimeAmount {
    /// Converts a duration, rounded up to a nanosecond and limited to about 34 years.
    fileprivate init(_ duration: Duration) {
      let (seconds, attoseconds) = duration.components
      self = .seconds(min(max(seconds, 0), 1 << 30)) + .nanoseconds(attoseconds / 1_000_000_000 + 1)
    }
  }
#endif
